import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { ConnectionLost, OutcomeUnknown } from '../../db/errors.ts';
import { guarded } from '../../engine/guarded.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { FailureLog } from '../failure-log.ts';
import { logFailure } from './failures.ts';

function opened() {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line)) });
  const failures = new FailureLog(log, 1_000);
  const note = (refusal: Refusal, error: unknown, id: string): void => logFailure(failures, refusal, error, id);
  return { failures, lines, note };
}

/** What the corridor makes of an error of the database. */
const refused = (error: Error): Promise<Refusal> =>
  guarded(() => Promise.reject(error)).then(
    () => expect.unreachable(),
    (refusal: Refusal) => refusal,
  );

const broken = (code: string) =>
  new ConnectionLost('the connection to the database broke', {
    sent: true,
    cause: Object.assign(new Error(`because of ${code}`), { code, detail: 'a value of the row' }),
  });

test('what passes is told with its cause and without a stack; equal ones once a second, and how many', async () => {
  vi.useFakeTimers();
  try {
    const { failures, lines, note } = opened();
    const noteBroken = async (code: string, requestId: string): Promise<void> => {
      const refusal = await refused(broken(code));
      note(refusal, refusal, requestId);
    };
    for (const requestId of ['1', '2', '3']) await noteBroken('57P01', requestId);
    await noteBroken('EPIPE', '4');
    const busy = new Refusal('DOWNLOADS_BUSY');
    note(busy, busy, '5');
    const cause = 'the connection to the database broke: because of';
    const said = { level: 40, msg: 'request failed', code: 'UNAVAILABLE' };
    const first = { ...said, cause: `${cause} 57P01`, sqlstate: '57P01' };
    expect(lines.splice(0)).toEqual([
      { ...first, requestId: '1' },
      { ...said, requestId: '4', cause: `${cause} EPIPE` },
      { ...said, code: 'DOWNLOADS_BUSY', requestId: '5' },
    ]);
    vi.advanceTimersByTime(1_000);
    expect(lines.splice(0)).toEqual([{ ...first, more: 2 }]);
    await noteBroken('57P01', '6');
    vi.advanceTimersByTime(1_000);
    expect(lines.splice(0)).toEqual([{ ...first, more: 1 }]);
    vi.advanceTimersByTime(10_000);
    await noteBroken('57P01', '7');
    await noteBroken('57P01', '8');
    failures.close();
    expect(lines).toEqual([
      { ...first, requestId: '7' },
      { ...first, more: 1 },
    ]);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('a fault of ours and an outcome that nobody knows come with their stack each time; a no is not told', async () => {
  const { lines, note } = opened();
  note(new Refusal('INTERNAL_ERROR'), new Error('assertion failed'), '1');
  note(new Refusal('INTERNAL_ERROR'), new Error('assertion failed'), '2');
  const unknown = await refused(new OutcomeUnknown(broken('57P01')));
  note(unknown, unknown, '3');
  const no = new Refusal('NOT_READY');
  note(no, no, '4');
  expect(lines).toMatchObject([
    { level: 50, requestId: '1', err: { stack: expect.stringContaining('assertion failed') } },
    { level: 50, requestId: '2' },
    { level: 50, requestId: '3', err: { stack: expect.stringContaining('because of 57P01') } },
  ]);
  expect(lines).toHaveLength(3);
  expect(JSON.stringify(lines)).not.toContain('a value of the row');
});
