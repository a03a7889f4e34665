/** A database that is away for an hour does not fill the log, and a bug of ours is logged as ever. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DatabaseUnavailable, OutcomeUnknown, StatementError } from '../db/errors.ts';
import { FailureLog } from './failure-log.ts';

const window_ms = 60_000;
let lines: Record<string, unknown>[];
let failures: FailureLog;
beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  failures = new FailureLog(log, window_ms);
});
afterEach(() => {
  failures.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const words = 'it tries again';
const away = (): Error => new DatabaseUnavailable('Nothing answers.');
const told = { level: 40, cause: 'Nothing answers.', msg: words };

test('what passes is logged with its cause, then once a window with how often it was met', () => {
  for (let second = 0; second < 120; second += 1) {
    failures.note(away(), words, { companyId: 'A' });
    vi.advanceTimersByTime(1_000);
  }
  expect(lines).toEqual([
    { ...told, companyId: 'A' },
    { ...told, more: 59 },
    { ...told, more: 60 },
  ]);
});

test('what was left out is logged at the end of its window although nothing fails any more, or at the close', () => {
  for (const _ of [1, 2, 3]) failures.note(away(), words);
  vi.advanceTimersByTime(10 * window_ms);
  expect(lines.splice(0)).toEqual([told, { ...told, more: 2 }]);
  for (const _ of [1, 2]) failures.note(away(), words);
  failures.close();
  expect(lines).toEqual([told, { ...told, more: 1 }]);
});

test('another cause, and other work, are logged at once', () => {
  const full = new StatementError('words', { message: 'no room', code: '53100' } as never);
  failures.note(away(), words);
  failures.note(full, words, { companyId: 'A' });
  failures.note(away(), 'later');
  expect(lines.map(({ sqlstate, companyId, msg }) => [sqlstate, companyId, msg])).toEqual([
    [undefined, undefined, words],
    ['53100', 'A', words],
    [undefined, undefined, 'later'],
  ]);
});

test('a commit that lost its answer with the database is no bug of ours: the work is done again', () => {
  for (const _ of [1, 2]) failures.note(new OutcomeUnknown(away()), words, { companyId: 'A' });
  expect(lines).toEqual([{ level: 40, companyId: 'A', cause: expect.stringMatching(/unknown: Nothing/), msg: words }]);
});

test('what the tax authority does not answer is logged once a window, however many documents wait for it', () => {
  const refused = 'the AT refused the connection';
  for (let i = 0; i < 120; i += 1) {
    failures.unanswered(refused, words, { number: `FT A/${i}` });
    vi.advanceTimersByTime(500);
  }
  failures.unanswered('no complete answer in time', words, { number: 'FT B/1' });
  expect(lines).toEqual([
    { level: 30, number: 'FT A/0', problem: refused, msg: words },
    { level: 30, problem: refused, more: 119, msg: words },
    { level: 30, number: 'FT B/1', problem: 'no complete answer in time', msg: words },
  ]);
});

test('a bug of ours comes with its stack, each time', () => {
  for (const _ of [1, 2]) failures.note(new Error('spoilt'), words, { companyId: 'A' });
  const said = {
    level: 50,
    companyId: 'A',
    msg: words,
    err: { message: 'spoilt', stack: expect.stringMatching(/ at /) },
  };
  expect(lines).toMatchObject([said, said]);
});
