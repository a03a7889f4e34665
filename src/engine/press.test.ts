import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Db, type Elements, statement, type Tx } from '../db/transact.ts';
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

/** Twelve acts that arrive together and take so long to be decided. */
async function twelve(deciding_ms: number, more: Partial<Operation> = {}): Promise<Seen> {
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
  const world = { memory: new Memory(() => 0), newId: () => 'id', baseUrl: '' } as unknown as World;
  const operation = {
    name: 'work',
    method: 'POST',
    grouped: true,
    reply: [201],
    load: async () => undefined,
    decide() {
      vi.advanceTimersByTime(deciding_ms);
    },
    save: async () => 'id',
    show: () => ({}),
    ...more,
  } as unknown as Operation;
  const act = {
    operation,
    asked: { params: {}, requestId: 'r', principal: { companyId: 'c', actor: 'a', scope: 's' } },
    entry: { subject: 's', call: [statement('enter', 'select 1'), []], accept: () => undefined },
    claim: undefined,
  } as unknown as Act;
  const press = new Press({ transact } as unknown as Db, world, () => undefined);
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
