import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Db, type Elements, statement, type Tx } from '../db/transact.ts';
import { Refusal } from '../fiscal/refusal.ts';
import { Memory } from '../operations/memory.ts';
import type { Operation } from '../operations/operation.ts';
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
