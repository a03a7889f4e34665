import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ConnectionLost, DatabaseUnavailable, OutcomeUnknown, StatementError } from '../db/errors.ts';
import { type Call, type Db, type Elements, statement, type Tx } from '../db/transact.ts';
import { Refusal } from '../fiscal/refusal.ts';
import { Memory } from '../operations/memory.ts';
import type { Operation } from '../operations/operation.ts';
import { renderedOf } from '../operations/rendered.ts';
import type { World } from '../operations/world.ts';
import { type Act, Press } from './press.ts';

// The time alone is the test's own: it passes while something is decided.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

interface Seen {
  /** How many acts each transaction wrote. */
  readonly groups: readonly number[];
  /** Whose transactions they were: those of one credential wait in turn (db/turns.ts). */
  readonly subjects: ReadonlySet<string | undefined>;
}

const world = { memory: new Memory(() => 0), newId: () => 'id', baseUrl: '' } as unknown as World;

/** A press on a database that takes everything and says nothing of who asks; what it has seen is written down. */
function pressed() {
  const groups: number[] = [];
  const subjects = new Set<string | undefined>();
  const tx: Tx = {
    query: async () => [],
    batch: async (calls) => calls.map(() => []),
    // The entries of the audit.
    commitWith: async ([entries]) => {
      groups.push((entries![1][0] as Elements).list.length);
      return [];
    },
  };
  const transact = async (entry: Act['entry'], fn: (tx: Tx) => Promise<void>) => {
    subjects.add(entry.subject);
    entry.accept([]);
    await fn(tx);
  };
  return { groups, subjects, press: new Press({ transact } as unknown as Db, world, () => undefined) };
}

function actOf(more: Partial<Operation>, accept: Act['entry']['accept'] = () => undefined): Act {
  const operation = {
    name: 'work',
    method: 'POST',
    grouped: true,
    reply: [201],
    load: async () => undefined,
    decide: () => undefined,
    save: async () => 'id',
    show: () => ({}),
    ...more,
  } as unknown as Operation;
  return {
    operation,
    asked: { params: {}, requestId: 'r', principal: { companyId: 'c', actor: 'a', scope: 's' } },
    entry: { subject: 's', call: [statement('enter', 'select 1'), []], accept },
    claim: undefined,
  } as unknown as Act;
}

/** Twelve acts that arrive together and take so long to be decided. */
async function twelve(deciding_ms: number, more: Partial<Operation> = {}): Promise<Seen> {
  const { groups, subjects, press } = pressed();
  const decide = () => void vi.advanceTimersByTime(deciding_ms);
  const act = actOf({ decide, ...more });
  const acted = await Promise.all(Array.from({ length: 12 }, () => press.act(act)));
  expect(acted.map(({ status }) => status)).toEqual(Array(12).fill(201));
  return { groups, subjects };
}

test('of acts that take long to be decided few share a transaction, of others all', async () => {
  expect((await twelve(25)).groups).toEqual(Array(12).fill(1));
  expect((await twelve(0)).groups).toEqual([12]);
});

test('a transaction is of the credential that asks, whether others share it or not', async () => {
  for (const grouped of [true, false]) expect((await twelve(0, { grouped })).subjects).toEqual(new Set(['s']));
});

test('whom the entry refuses does nothing, whatever others of the group may, and hears that before all else', async () => {
  const { groups, press } = pressed();
  const done: string[] = [];
  const operation = (name: string, more: Partial<Operation> = {}): Partial<Operation> => ({
    // To decide is to take a number.
    decide: () => void done.push(`${name} decided`),
    save: async () => {
      done.push(`${name} saved`);
      return name;
    },
    ...more,
  });
  const refuse = () => {
    throw new Refusal('RATE_LIMITED');
  };
  const load = () => Promise.reject(new Refusal('INVOICE_NOT_FOUND'));
  const acts = [
    actOf(operation('first')),
    actOf(operation('refused'), refuse),
    actOf(operation('unfound', { load }), refuse),
    actOf(operation('last')),
  ];
  const outcomes = await Promise.allSettled(acts.map((act) => press.act(act)));
  expect(outcomes).toMatchObject([
    { value: { status: 201 } },
    { reason: { code: 'RATE_LIMITED' } },
    { reason: { code: 'RATE_LIMITED' } },
    { value: { status: 201 } },
  ]);
  expect([done, groups]).toEqual([['first decided', 'last decided', 'first saved', 'last saved'], [2]]);
});

test('a fault of one is what that one hears, alone or among others, and nothing is decided behind it', async () => {
  const fault = new Error('this one cannot be read');
  const decide = vi.fn();
  const faulty = actOf({ load: () => Promise.reject(fault), decide });
  for (const others of [0, 2]) {
    const { groups, press } = pressed();
    const acts = [faulty, ...Array.from({ length: others }, () => actOf({}))];
    const outcomes = await Promise.allSettled(acts.map((act) => press.act(act)));
    expect(outcomes).toMatchObject([{ reason: fault }, ...Array(others).fill({ value: { status: 201 } })]);
    expect([decide.mock.calls.length, groups]).toEqual([0, Array(others).fill(1)]);
  }
});

/** The n-th transaction fails before its commit, or with it; or does not. */
type Fails = (n: number) => { readonly before?: Error; readonly commit?: Error } | undefined;

/** A press on a database that fails as it is told to. What is written down: commits with their last statements, and releases. */
function failing(fails: Fails = () => undefined) {
  const log: string[] = [];
  let transactions = 0;
  const query: Tx['query'] = async (asked) => {
    if ('name' in asked && asked.name === 'claim_release') log.push('let go');
    return [];
  };
  const said = (calls: readonly Call[]) => calls.map(([{ name }]) => name).join(', ');
  const batch: Tx['batch'] = async (calls) => calls.map(() => []);
  const db = {
    read: () => ({ query, batch }),
    async transact(entry: Act['entry'], fn: (tx: Tx) => Promise<void>) {
      const failure = fails(transactions++);
      if (failure?.before !== undefined) throw failure.before;
      entry.accept([]);
      const commitWith: Tx['commitWith'] = async (calls) => {
        if (failure?.commit !== undefined) throw failure.commit;
        log.push(said(calls));
        return [];
      };
      await fn({ query, batch, commitWith });
    },
    write: async (_entry: Act['entry'], calls: readonly Call[]) => void log.push(`at once: ${said(calls)}`),
  };
  const memory = {
    forgetRead: () => void log.push('what was read is forgotten'),
    forgetPlaces: () => void log.push('places are forgotten'),
    forgetDraft: (id: string) => void log.push(`draft ${id} is forgotten`),
  };
  const itsWorld = { ...world, memory: { of: () => memory } } as unknown as World;
  const press = new Press(db as unknown as Db, itsWorld, () => undefined);
  const outcomes = (acts: readonly Act[]) => Promise.allSettled(acts.map((act) => press.act(act)));
  return { press, log, outcomes, transactions: () => transactions };
}

/** With a claim of its own. */
const claimed = (key: string, more: Partial<Operation> = {}, act: Partial<Act> = {}): Act => ({
  ...actOf(more),
  claim: { operation: 'POST /work', key, fingerprint: Buffer.alloc(32), fence: key },
  ...act,
});
const done = { status: 'fulfilled', value: { status: 201 } };

describe('of a group that fails', () => {
  const three = () => ['a', 'b', 'c'].map((key) => claimed(key));

  test('each is done by itself, also where the connection broke on the way', async () => {
    for (const before of [new Error('whoever is at fault'), new ConnectionLost('broken', { sent: true })]) {
      const { outcomes, log, transactions } = failing((n) => (n === 0 ? { before } : undefined));
      expect(await outcomes(three())).toMatchObject([done, done, done]);
      expect([log, transactions()]).toEqual([Array(3).fill('claim_complete'), 4]);
    }
  });

  test('nobody waits for a connection that is not to be had, and every key is kept to be let go', async () => {
    const before = new DatabaseUnavailable('no server');
    const { outcomes, press, log, transactions } = failing(() => ({ before }));
    expect(await outcomes(three())).toMatchObject(Array(3).fill({ reason: before }));
    expect([log, press.releases.size, transactions()]).toEqual([[], 3, 1]);
    await press.releases.close();
  });

  test('nor those behind the one that has met it', async () => {
    const before = new DatabaseUnavailable('no server');
    const { outcomes, press, transactions } = failing(
      (n) => [{ before: new Error('first') }, undefined, { before }][n],
    );
    expect(await outcomes(three())).toMatchObject([done, { reason: before }, { reason: before }]);
    expect(transactions()).toBe(3);
    await press.releases.close();
  });

  test('with its commit, who was in it may have been done and keeps the key; who was refused has it back', async () => {
    const commit = new OutcomeUnknown(new Error('lost'));
    const { outcomes, log, transactions } = failing((n) => (n === 0 ? { commit } : undefined));
    const load = () => Promise.reject(new Refusal('INVOICE_NOT_FOUND'));
    const acts = [claimed('a'), claimed('b', { load }), claimed('c')];
    expect(await outcomes(acts)).toMatchObject([
      { reason: commit },
      { reason: { code: 'INVOICE_NOT_FOUND' } },
      { reason: commit },
    ]);
    expect([log, transactions()]).toEqual([['let go'], 1]);
  });
});

describe('the claim of one that is alone', () => {
  test('is let go when nothing of it was kept, and not when nobody knows', async () => {
    const fault = new Error('a bug');
    const unknown = new OutcomeUnknown(new Error('lost'));
    const cases = [
      [fault, ['let go']],
      [unknown, []],
    ] as const;
    for (const [commit, said] of cases) {
      const { outcomes, log } = failing(() => ({ commit }));
      expect(await outcomes([claimed('a')])).toMatchObject([{ reason: commit }]);
      expect(log).toEqual(said);
    }
  });

  test('was lost: its key never runs again, and that is no fault', async () => {
    const commit = new StatementError('claim_complete', { message: 'the claim is lost', code: 'CE002' });
    const { outcomes } = failing(() => ({ commit }));
    const [outcome] = await outcomes([claimed('a')]);
    expect(outcome).toMatchObject({ reason: { code: 'IDEMPOTENCY_CONFLICT', retryAfterSeconds: undefined } });
  });
});

test('who stood in the way of another is tried again, three times in all', async () => {
  const commit = new StatementError('lock', { message: 'deadlock detected', code: '40P01' });
  for (const [times, outcome] of [
    [2, done],
    [3, { reason: commit }],
  ] as const) {
    const { outcomes, transactions } = failing((n) => (n < times ? { commit } : undefined));
    expect(await outcomes([claimed('a')])).toMatchObject([outcome]);
    expect(transactions()).toBe(3);
  }
});

test('with the commit a claim that was taken is completed, and who was refused lets its own go; what needed none is recorded', async () => {
  const { outcomes, log } = failing();
  const load = () => Promise.reject(new Refusal('INVOICE_NOT_FOUND'));
  const take = async () => undefined;
  const acts = [claimed('a'), claimed('b', {}, { take }), actOf({}), claimed('c', { load })];
  expect(await outcomes(acts)).toMatchObject([done, done, done, { reason: { code: 'INVOICE_NOT_FOUND' } }]);
  expect(log.splice(0)).toEqual([['claim_complete', 'audit_insert', 'claim_release'].join(', ')]);
  const ahead = { hold: () => [], save: () => ({ subject: 'id', calls: [] }), keep: () => undefined };
  const entry = { ...actOf({}).entry, subject: undefined };
  for (const more of [{}, { take }]) {
    const act = claimed(
      'd',
      { ahead } as unknown as Partial<Operation>,
      { ...more, entry, ahead: () => ({}) } as Partial<Act>,
    );
    expect(await outcomes([act])).toMatchObject([done]);
  }
  expect(log).toEqual(['at once: claim_complete', 'at once: claim_record']);
});

test('what was done before under the key that is taken is answered, and not done again', async () => {
  const { outcomes, transactions } = failing();
  const before = { status: 200, answer: renderedOf({}), replayed: true } as const;
  expect(await outcomes([claimed('a', {}, { take: async () => before })])).toMatchObject([{ value: before }]);
  expect(transactions()).toBe(0);
});

test('what this process remembers and an act under locks may have changed is forgotten once it is done', async () => {
  const { outcomes, log } = failing();
  const asked = { ...actOf({}).asked, params: { id: 'd' } };
  const forgotten = async (more: Partial<Operation>, act: Partial<Act> = {}) => {
    await outcomes([{ ...actOf(more), ...act }]);
    return log.splice(0);
  };
  expect(await forgotten({})).toEqual(['audit_insert']);
  expect(await forgotten({ method: 'PATCH' })).toEqual(['audit_insert', 'what was read is forgotten']);
  expect(await forgotten({ fiscal: true }, { asked })).toEqual([
    'audit_insert',
    'places are forgotten',
    'draft d is forgotten',
  ]);
});
