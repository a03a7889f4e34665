/**
 * What is decided ahead of its locks, on a database that answers when the test says so: what is written, void, or done again.
 * In which order answers come no real one can be told; with one, test/stories/press.test.ts and the simulations do the same.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { OutcomeUnknown, StatementError } from '../db/errors.ts';
import { turnWithTime } from '../db/event-loop.ts';
import { type Call, type Db, type Entry, type Line, statement } from '../db/transact.ts';
import { Refusal } from '../fiscal/refusal.ts';
import type { Ahead } from '../operations/operation.ts';
import { renderedOf } from '../operations/rendered.ts';
import type { World } from '../operations/world.ts';
import { AheadPress } from './ahead.ts';
import type { Act } from './press.ts';

// The time alone is the test's own: turns of the event loop are not.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  // The process has begun a while ago.
  vi.advanceTimersByTime(1);
});
afterEach(() => void vi.useRealTimers());

/** What the database is asked to write at once, until the test answers. */
interface Write {
  readonly names: readonly string[];
  /** Whose transaction it is. */
  readonly credential: string | undefined;
  readonly line: Line | undefined;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

interface Stages {
  readonly company: string;
  /** Null: nobody else can have it. */
  readonly credential: string | null;
  readonly facts: () => unknown;
  readonly decide: () => unknown;
  readonly keep: () => void;
  readonly settle: () => void;
}

function pressed() {
  /** What happened, in its order. */
  const log: string[] = [];
  const writes: Write[] = [];
  const written = ({ subject }: Entry, calls: readonly Call[], line?: Line) =>
    new Promise<void>((done, fail) => {
      writes.push({ names: calls.map(([{ name }]) => name), credential: subject, line, done, fail });
    });
  const db: Pick<Db, 'write' | 'open'> = {
    write: written,
    open(entry, first, line) {
      log.push(`${first[0]![0].name} begins`);
      return {
        begun: Promise.resolve(),
        write: (calls) => written(entry, calls, line),
        leave: () => void log.push('it is left'),
      };
    },
  };
  const world = { memory: { forget: (company: string) => void log.push(`${company} is forgotten`) } };
  const nameOf = ({ operation }: Act) => operation.name;
  const shown = () => ({ status: 201, answer: renderedOf({}) });
  const press = new AheadPress(db as unknown as Db, world as unknown as World, {
    shown,
    lastCalls: () => [],
    locked: async (act) => {
      log.push(`${nameOf(act)} under locks`);
      return { ...shown(), status: 202 };
    },
    faulted: (error) => void log.push(`fault: ${(error as Error).message}`),
  });
  /** 201: it was written as it was decided; 202: under locks. */
  const act = (name: string, stages: Partial<Stages> = {}): Promise<number> => {
    const { company = 'c', credential = 'k', facts = () => ({}), decide = () => ({}) } = stages;
    const { keep = () => undefined, settle = () => undefined } = stages;
    const call = (what: string): Call => [statement(`${what} ${name}`, 'select 1'), []];
    const ahead = {
      hold: () => [call('hold')],
      save: () => ({ subject: name, calls: [call('write')] }),
      keep,
      settle,
    } as unknown as Ahead<never, never, never>;
    const asked = { principal: { companyId: company } };
    const entry = credential === null ? {} : { subject: credential };
    const one = { operation: { name, ahead, decide }, asked, entry } as unknown as Act;
    return press.act(one, facts).then(({ status }) => status);
  };
  return { act, log, writes };
}

/** What is to come in the next turns of the event loop has come. */
async function turns(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** What is to come in this turn has come. */
async function steps(): Promise<void> {
  for (let n = 0; n < 50; n += 1) await undefined;
}

/** A decision that the test lets go on. */
function held() {
  let go = (): void => undefined;
  const decide = () =>
    new Promise<void>((resolve) => {
      go = resolve;
    });
  return { decide, go: () => go() };
}

const refused = () => {
  throw new Refusal('INVOICE_NOT_FOUND');
};
const changed = new StatementError('move', { message: 'changed meanwhile', code: 'CE001' });

describe('a group that is not written', () => {
  test('is done again under locks, with all that was decided behind it or comes within a second', async () => {
    const { act, log, writes } = pressed();
    const [slow, keep] = [held(), vi.fn()];
    const first = act('first', { keep });
    await turns();
    const deciding = act('deciding', slow);
    const ready = act('ready');
    await turns();
    expect(writes.map(({ names }) => names)).toEqual([['write first']]);
    writes[0]!.fail(changed);
    await turns();
    slow.go();
    const after = act('after');
    expect(await Promise.all([first, deciding, ready, after])).toEqual([202, 202, 202, 202]);
    vi.advanceTimersByTime(999);
    expect(await act('soon')).toBe(202);
    vi.advanceTimersByTime(2);
    const later = act('later');
    await turns();
    expect(writes.map(({ names }) => names)).toEqual([['write first'], ['write later']]);
    writes[1]!.done();
    expect(await later).toBe(201);
    expect(log).toEqual([
      'hold first begins',
      'first under locks',
      'c is forgotten',
      'ready under locks',
      'after under locks',
      'deciding under locks',
      'soon under locks',
      'hold later begins',
    ]);
  });

  test('is not done again when nobody knows whether it was written; what was decided behind it is', async () => {
    const { act, log, writes } = pressed();
    const first = act('first');
    await turns();
    const behind = act('behind');
    await turns();
    const unknown = new OutcomeUnknown(new Error('lost'));
    writes[0]!.fail(unknown);
    await expect(first).rejects.toBe(unknown);
    expect(await behind).toBe(202);
    expect(log).toEqual(['hold first begins', 'c is forgotten', 'behind under locks']);
  });

  test('is not remembered', async () => {
    const { act, writes } = pressed();
    const [keep, settle] = [vi.fn(), vi.fn()];
    const first = act('first', { keep, settle });
    while (writes.length === 0) await new Promise((resolve) => setImmediate(resolve));
    writes[0]!.fail(changed);
    await turns();
    expect([await first, keep.mock.calls.length, settle.mock.calls.length]).toEqual([202, 0, 0]);
  });

  test('is nothing to another company', async () => {
    const { act, writes } = pressed();
    const [first, other] = [act('first'), act('other', { company: 'd' })];
    await turns();
    writes[0]!.fail(changed);
    writes[1]!.done();
    expect(await Promise.all([first, other])).toEqual([202, 201]);
  });
});

test('who comes to its facts when they are void by then decides nothing on them', async () => {
  const { act, writes } = pressed();
  const first = act('first');
  await turns();
  // This turn has had its time.
  turnWithTime('other');
  vi.advanceTimersByTime(11);
  const facts = vi.fn(() => ({}));
  const second = act('second', { facts });
  writes[0]!.fail(changed);
  expect([await first, await second]).toEqual([202, 202]);
  expect(facts).not.toHaveBeenCalled();
});

describe('one that is not decided', () => {
  test('since it is refused goes under locks, and nobody else does', async () => {
    const { act, log, writes } = pressed();
    expect(await act('refused', { decide: refused })).toBe(202);
    const next = act('next');
    await turns();
    writes[0]!.done();
    expect(await next).toBe(201);
    expect(log).toEqual(['hold refused begins', 'it is left', 'refused under locks', 'hold next begins']);
  });

  test('by a fault may have moved a head: what is decided behind it goes under locks too', async () => {
    const { act, log } = pressed();
    const slow = held();
    const before = act('before', slow);
    const faulty = () => {
      throw new Error('a bug');
    };
    expect(await act('wrong', { decide: faulty })).toBe(202);
    slow.go();
    expect([await before, await act('after')]).toEqual([202, 202]);
    expect(log).toEqual([
      'hold before begins',
      'fault: a bug',
      'c is forgotten',
      'it is left',
      'wrong under locks',
      'before under locks',
      'after under locks',
    ]);
  });
});

test.each(['keep', 'settle'] as const)(
  'what is written and can not be remembered (%s) is answered, and what comes next goes under locks',
  async (how) => {
    const { act, log, writes } = pressed();
    const fault = () => {
      throw new Error('too much');
    };
    const first = act('first', { [how]: fault });
    await turns();
    writes[0]!.done();
    expect([await first, await act('next')]).toEqual([201, 202]);
    expect(log).toEqual(['hold first begins', 'fault: too much', 'c is forgotten', 'next under locks']);
  },
);

describe('a transaction begins before the decision', () => {
  const begun = (log: readonly string[]) => log.filter((line) => line.endsWith('begins'));
  const names = (writes: readonly Write[]) => writes.map((write) => write.names);

  test('of who is alone, by a credential that others may have', async () => {
    const { act, log, writes } = pressed();
    const one = act('one', { credential: null });
    await turns();
    writes[0]!.done();
    await one;
    const two = act('two');
    await turns();
    writes[1]!.done();
    expect([await two, begun(log), names(writes)]).toEqual([
      201,
      ['hold two begins'],
      [['hold one', 'write one'], ['write two']],
    ]);
  });

  test('not beside one that is being decided: who is ready first has it, and what the others rest on is said again', async () => {
    const { act, log, writes } = pressed();
    const slow = held();
    const first = act('first', slow);
    const beside = act('beside');
    await turns();
    slow.go();
    await turns();
    expect([begun(log), names(writes)]).toEqual([['hold first begins'], [['hold beside', 'write beside']]]);
    writes[0]!.done();
    await turns();
    writes[1]!.done();
    expect([await first, await beside, names(writes)[1]]).toEqual([201, 201, ['hold first', 'write first']]);
    expect(log).toEqual(['hold first begins']);
  });

  test('not beside one that is to be written at the end of this turn', async () => {
    const { act, log, writes } = pressed();
    const first = act('first');
    await steps();
    const second = act('second');
    await turns();
    writes[0]!.done();
    expect(await Promise.all([first, second])).toEqual([201, 201]);
    expect([log, names(writes)]).toEqual([['hold first begins'], [['write first', 'hold second', 'write second']]]);
  });

  test('and serves no other credential: each is written as its own', async () => {
    const { act, log, writes } = pressed();
    const slow = held();
    const first = act('first', slow);
    const other = act('other', { credential: 'l' });
    await turns();
    slow.go();
    const third = act('third', { credential: 'l' });
    await turns();
    while (writes.length < 3) {
      writes.at(-1)!.done();
      await turns();
    }
    writes[2]!.done();
    expect(await Promise.all([first, other, third])).toEqual([201, 201, 201]);
    expect(log).toEqual(['hold first begins', 'it is left']);
    expect(writes.map((write) => [write.credential, write.names])).toEqual([
      ['l', ['hold other', 'write other']],
      ['k', ['hold first', 'write first']],
      ['l', ['hold third', 'write third']],
    ]);
  });
});

describe('of one company one is written after the other', () => {
  test('while one is being written, whoever is refused beside it', async () => {
    const { act, writes } = pressed();
    const first = act('first');
    await turns();
    expect(await act('refused', { decide: refused })).toBe(202);
    const next = act('next');
    await turns();
    expect(writes).toHaveLength(1);
    writes[0]!.done();
    await turns();
    writes[1]!.done();
    expect(await Promise.all([first, next])).toEqual([201, 201]);
    expect(writes[1]!.line).toBe(writes[0]!.line);
  });

  test('while one is being decided, whoever is refused beside it', async () => {
    const { act, writes } = pressed();
    const slow = held();
    const first = act('first', slow);
    expect(await act('refused', { decide: refused })).toBe(202);
    const next = act('next');
    await turns();
    slow.go();
    await turns();
    expect(writes).toHaveLength(1);
    writes[0]!.done();
    await turns();
    writes[1]!.done();
    expect(await Promise.all([first, next])).toEqual([201, 201]);
  });

  test('and of one that rests nothing is kept', async () => {
    const { act, writes } = pressed();
    for (const n of [0, 1]) {
      const one = act('one');
      await turns();
      writes[n]!.done();
      await one;
      await turns();
    }
    expect(writes[1]!.line).not.toBe(writes[0]!.line);
  });
});
