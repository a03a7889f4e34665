import { expect, test } from 'vitest';
import { tokenBudgets } from './token-budgets.ts';

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
  const long = 'x'.repeat(100_000);
  for (const [one, other] of [
    [' a', 'a'],
    [`${long}1`, `${long}2`],
    ['', ' '],
  ] as const) {
    for (let i = 0; i < 60; i++) budgets.take(one, '192.0.2.1');
    expect(refusedOf(() => budgets.take(other, '192.0.2.1'))).toBeUndefined();
  }
});

test('addresses of one IPv6 subscriber are one network', () => {
  const budgets = tokenBudgets(() => start);
  for (let i = 0; i < 60; i++) budgets.take('a', `2001:db8::${i.toString(16)}`);
  expect(refusedOf(() => budgets.take('a', '2001:db8::ffff:1'))).toEqual(limited(60));
  expect(refusedOf(() => budgets.take('a', '2001:db8:0:1::1'))).toBeUndefined();
});
