import { isIPv6 } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { networkOf, tokenBudgets } from './token-budgets.ts';

const start = 1_800_000_000_000; // the first millisecond of a minute
const limited = (seconds: number) =>
  expect.objectContaining({ code: 'RATE_LIMITED', status: 429, retryAfterSeconds: seconds });

function refusedOf(work: () => void): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test('a client has 60 a minute from one network; another client, another network and the next minute are not its', () => {
  let time = start + 12_000;
  const budgets = tokenBudgets(() => time);
  const take = (client: string, address = '192.0.2.1') => refusedOf(() => budgets.take(client, address));
  for (let i = 0; i < 60; i++) expect(take('a')).toBeUndefined();
  expect(take('a')).toEqual(limited(48));
  expect(take('b')).toBeUndefined();
  expect(take('a', '192.0.2.2')).toBeUndefined();
  time = start + 60_000;
  expect(take('a')).toBeUndefined();
});

test('a network has 600 a minute, whatever clients it names and however they are refused', () => {
  const budgets = tokenBudgets(() => start + 59_999);
  const take = (client: string, address = '192.0.2.1') => refusedOf(() => budgets.take(client, address));
  for (let i = 0; i < 100; i++) take('one');
  for (let i = 0; i < 500; i++) expect(take(`client ${i}`)).toBeUndefined();
  expect(take('another')).toEqual(limited(1));
  expect(take('another', '192.0.2.2')).toBeUndefined();
});

test('names that look alike when put together are different subjects', () => {
  const budgets = tokenBudgets(() => start);
  for (let i = 0; i < 60; i++) budgets.take('a","192.0.2.1', '192.0.2.1');
  expect(refusedOf(() => budgets.take('a', '192.0.2.1'))).toBeUndefined();
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:ffff::', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['not an address', 'not an address'],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('two addresses are one network exactly when their first 64 bits are the same', () => {
  const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
  const written = (parts: readonly number[]) => parts.map((part) => part.toString(16)).join(':');
  // As PostgreSQL and inet_ntop write it: the longest run of zeros as "::".
  const short = (text: string) => (text.includes('::') ? text : text.replace(/(^|:)0(:0)+(:|$)/, '::'));
  fc.assert(
    fc.property(groups, groups, fc.integer({ min: 0, max: 8 }), (one, other, same) => {
      const mixed = [...one.slice(0, same), ...other.slice(same)];
      const alike = one.slice(0, 4).join() === mixed.slice(0, 4).join();
      for (const text of [written(mixed), short(written(mixed))]) {
        expect(isIPv6(text)).toBe(true);
        expect(networkOf(text) === networkOf(written(one))).toBe(alike);
      }
    }),
  );
});
