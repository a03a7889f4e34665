import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { watchForProxy } from './untrusted-proxy.ts';

function watched() {
  const told: unknown[] = [];
  const watch = watchForProxy({ warn: (...words: unknown[]) => void told.push(words) } as never);
  const asks = (remoteAddress: string | undefined, forwarded: string | null = '203.0.113.7', times = 1) => {
    const request = { headers: forwarded === null ? {} : { 'x-forwarded-for': forwarded }, socket: { remoteAddress } };
    for (let i = 0; i < times; i += 1) watch(request as unknown as IncomingMessage);
  };
  return { told, asks };
}

test('who sends X-Forwarded-For twenty times is named, once, and nobody else after that', () => {
  const { told, asks } = watched();
  asks('10.0.0.5', null, 19);
  asks('10.0.0.5', 'x', 19);
  asks('10.0.0.6', 'x', 19);
  expect(told).toEqual([]);
  asks('10.0.0.5');
  asks('10.0.0.5', 'x', 50);
  asks('10.0.0.6', 'x', 50);
  expect(told).toEqual([[{ address: '10.0.0.5' }, expect.stringContaining('set CERTO_TRUSTED_PROXIES=10.0.0.5 and')]]);
});

test('an address is told as the variable takes it, and nothing of what the header says', () => {
  for (const [peer, address] of [
    ['::ffff:10.0.0.5', '10.0.0.5'],
    ['2001:db8::1', '2001:db8::1'],
  ] as const) {
    const { told, asks } = watched();
    asks(peer, '\u001b[31m, evil', 20);
    expect(told).toEqual([[{ address }, expect.stringContaining(`CERTO_TRUSTED_PROXIES=${address} `)]]);
    expect(JSON.stringify(told)).not.toMatch(/evil|u001b/);
  }
  const { told, asks } = watched();
  // A connection that is gone, or a socket without one.
  asks(undefined, 'x', 50);
  expect(told).toEqual([]);
});

test('however many addresses send a few, the one that sends all the time is found', () => {
  const { told, asks } = watched();
  for (let i = 0; i < 10_000; i += 1) asks(`2001:db8::${i.toString(16)}`);
  expect(told).toEqual([]);
  asks('10.0.0.5', 'x', 20);
  expect(told).toHaveLength(1);
});
