/** A database that is away for an hour does not fill the log, and a fault of ours is told as ever. */
import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { DatabaseUnavailable, StatementError } from '../../db/errors.ts';
import { Failing } from './failing.ts';

let lines: Record<string, unknown>[];
let now: number;
let failing: Failing;
beforeEach(() => {
  lines = [];
  now = 0;
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  failing = new Failing(log, () => now);
});

const words = 'it tries again';
const away = (): Error => new DatabaseUnavailable('Nothing answers.');

test('of what passes the cause is told, once a minute, with how often it was met meanwhile', () => {
  for (now = 0; now < 120_000; now += 1000) failing.note(away(), words);
  expect(lines).toEqual([
    { level: 40, cause: 'Nothing answers.', msg: words },
    { level: 40, cause: 'Nothing answers.', more: 59, msg: words },
  ]);
});

test('another cause, and other work, are told at once', () => {
  const full = new StatementError('words', { message: 'no room', code: '53100' } as never);
  failing.note(away(), words);
  failing.note(full, words, { companyId: 'A' });
  failing.note(away(), 'later');
  expect(lines.map(({ sqlstate, companyId, msg }) => [sqlstate, companyId, msg])).toEqual([
    [undefined, undefined, words],
    ['53100', 'A', words],
    [undefined, undefined, 'later'],
  ]);
});

test('a fault of ours comes with its stack, each time', () => {
  for (const _ of [1, 2]) failing.note(new Error('spoilt'), words, { companyId: 'A' });
  const told = {
    level: 50,
    companyId: 'A',
    msg: words,
    err: { message: 'spoilt', stack: expect.stringMatching(/ at /) },
  };
  expect(lines).toMatchObject([told, told]);
});
