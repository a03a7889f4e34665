import fc from 'fast-check';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { BatchFailure, type BatchResult, openBatch, runBatch } from './batch.ts';
import { ConnectionLost, type StatementError } from './errors.ts';
import { type Call, composed, statement } from './statement.ts';

let base: TestDatabase;
let client: Client;

beforeAll(async () => {
  base = await testDatabase();
  await base.ownerPool.query(
    'create table certo.numbers (n int primary key, twin int unique deferrable initially deferred)',
  );
  client = await connect();
});
afterAll(async () => {
  await client.end();
  await base.drop();
});

const one = statement('one', 'select 1 as one');
const upTo = statement('up to', 'select g as n from generate_series(1, $1::int) g');
const insert = statement('insert number', 'insert into certo.numbers (n) values ($1)');
const insertTwin = statement('insert twin', 'insert into certo.numbers values ($1, $2) returning n');
const clear = statement('clear numbers', 'delete from certo.numbers');
const count = statement('count numbers', 'select count(*)::int as n from certo.numbers');
const divide = statement('divide', 'select 1 / $1::int as q');
const bad = statement('does not parse', 'select from where');
const nothing = statement('nothing at all', '');

async function connect(): Promise<Client> {
  const made = new Client({ ...base.connection, ssl: false });
  made.on('error', () => undefined);
  await made.connect();
  return made;
}

async function failureOf(calls: readonly Call[], on = client): Promise<BatchFailure> {
  const outcome = await runBatch(on, calls).catch((error: unknown) => error);
  if (!(outcome instanceof BatchFailure)) throw new Error('it did not fail');
  return outcome;
}

describe('a batch', () => {
  test('returns the rows of each statement, the second time without preparing again', async () => {
    const calls: Call[] = [
      [one, []],
      [upTo, [3]],
      [clear, []],
      [upTo, [0]],
      [nothing, []],
      [one, []],
    ];
    let described = 0;
    const { connection } = client as Client & { connection: NodeJS.EventEmitter };
    for (const message of ['rowDescription', 'noData']) connection.on(message, () => (described += 1));
    for (let time = 0; time < 3; time += 1) {
      described = 0;
      const { rows, tags } = await runBatch(client, calls);
      expect(described).toBe(time === 0 ? calls.length : 0);
      expect(rows).toEqual([[{ one: 1 }], [{ n: 1 }, { n: 2 }, { n: 3 }], [], [], [], [{ one: 1 }]]);
      expect(tags).toEqual(['SELECT 1', 'SELECT 3', 'DELETE 0', 'SELECT 0', '', 'SELECT 1']);
    }
    const { rows } = await client.query(
      `select name from pg_prepared_statements where name in ('one', 'up to') order by 1`,
    );
    expect(rows).toEqual([{ name: 'one' }, { name: 'up to' }]);
  });

  test('may be sent in two pieces, whatever of the first is answered before the second', async () => {
    const { connection } = client as Client & { connection: { flush(): void } };
    for (let time = 0; time < 3; time += 1) {
      const { result, finish } = openBatch(client, [
        [upTo, [1]],
        [one, []],
      ]);
      // Else the server keeps its answers until the end.
      if (time > 0) connection.flush();
      if (time > 1) await new Promise((resolve) => setTimeout(resolve, 100));
      finish([
        [upTo, [2]],
        [one, []],
      ]);
      const { rows, tags } = await result;
      expect(rows).toEqual([[{ n: 1 }], [{ one: 1 }], [{ n: 1 }, { n: 2 }], [{ one: 1 }]]);
      expect(tags).toEqual(['SELECT 1', 'SELECT 1', 'SELECT 2', 'SELECT 1']);
    }
  });

  test('may have its second piece sent in the middle of the rows of the first', async () => {
    const { connection } = client as Client & { connection: NodeJS.EventEmitter & { flush(): void } };
    const { result, finish } = openBatch(client, [[upTo, [100_000]]]);
    const begun = new Promise((resolve) => connection.once('dataRow', resolve));
    connection.flush();
    await begun;
    finish([[one, []]]);
    expect((await result).rows.map(({ length }) => length)).toEqual([100_000, 1]);
  });

  test('that has failed is not gone on with, and where its second piece cannot be sent it fails', async () => {
    const { connection } = client as Client & { connection: { flush(): void } };
    const begun = openBatch(client, [[divide, [0]]]);
    connection.flush();
    await expect(begun.result).rejects.toMatchObject({ reason: { code: '22012' } });
    begun.finish([[insert, [5]]]);
    const unsendable = openBatch(client, [[one, []]]);
    unsendable.finish([
      [insert, [5]],
      [insert, [Number.NaN]],
    ]);
    const failure = await unsendable.result.catch((error: unknown) => error);
    expect((failure as BatchFailure).reason).toBeInstanceOf(TypeError);
    expect((await runBatch(client, [[count, []]])).rows).toEqual([[{ n: 0 }]]);
  });

  test('of nothing asks nothing, not even for a connection that works', async () => {
    const ended = await connect();
    await ended.end();
    expect(await runBatch(ended, [])).toEqual({ rows: [], tags: [] });
  });

  test('that was answered in time leaves its connection alone afterwards', async () => {
    const quick = await connect();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await runBatch(quick, [[one, []]], 500);
      vi.advanceTimersByTime(700);
    } finally {
      vi.useRealTimers();
    }
    expect((await runBatch(quick, [[one, []]])).rows).toEqual([[{ one: 1 }]]);
    await quick.end();
  });

  test('is one implicit transaction', async () => {
    const failure = await failureOf([
      [insert, [1]],
      [insert, [2]],
      [divide, [0]],
    ]);
    expect(failure.reason).toMatchObject({ name: 'StatementError', statement: 'divide', code: '22012' });
    expect(failure.rows).toEqual([[], []]);
    expect((await runBatch(client, [[count, []]])).rows).toEqual([[{ n: 0 }]]);
  });

  test('names the statement that failed, also when it does not even parse', async () => {
    const failure = await failureOf([
      [one, []],
      [bad, []],
      [upTo, [1]],
    ]);
    expect(failure.reason).toMatchObject({ statement: 'does not parse', code: '42601' });
    expect(failure.rows).toEqual([[{ one: 1 }]]);
  });

  test('tells of what fails only at its end', async () => {
    const failure = await failureOf([
      [insertTwin, [1, 7]],
      [insertTwin, [2, 7]],
    ]);
    expect(failure.reason).toMatchObject({ statement: 'the end of the batch', code: '23505' });
  });

  test('knows that a statement is prepared although its execution failed', async () => {
    await runBatch(client, [[insert, [1]]]);
    const again = statement('insert again', 'insert into certo.numbers (n) values ($1)');
    for (let time = 0; time < 3; time += 1) {
      expect((await failureOf([[again, [1]]])).reason).toMatchObject({ code: '23505', constraint: 'numbers_pkey' });
    }
    await runBatch(client, [[clear, []]]);
  });

  test('keeps the values of the row out of what a logger sees', async () => {
    await runBatch(client, [[insert, [77]]]);
    const { reason } = await failureOf([[insert, [77]]]);
    expect((reason as StatementError).detail).toContain('77');
    expect(JSON.stringify({ ...reason, message: reason.message, stack: reason.stack })).not.toContain('77');
    await runBatch(client, [[clear, []]]);
  });

  test('refuses a second text under a known name, and sends nothing', async () => {
    await runBatch(client, [[one, []]]);
    expect(() => statement('one', 'select 2 as one')).toThrow(/two texts/);
    const { reason } = await failureOf([[{ name: 'one', text: 'select 2 as one' }, []]]);
    expect(reason.message).toMatch(/two texts/);
    expect((await runBatch(client, [[one, []]])).rows).toEqual([[{ one: 1 }]]);
    // Nor behind one that is under way.
    const [, behind] = await Promise.all([
      runBatch(client, [[one, []]]),
      failureOf([[{ name: 'one', text: 'select 2 as one' }, []]]),
    ]);
    expect(behind.reason.message).toMatch(/two texts/);
  });

  test('with a statement that is new waits for its turn: what is under way may fail, and its answers with it', async () => {
    const fresh = { name: 'behind a failure', text: 'select 1 as f' };
    await runBatch(client, [[divide, [1]]]);
    for (let time = 0; time < 2; time += 1) {
      const [, { rows }] = await Promise.all([failureOf([[divide, [0]]]), runBatch(client, [[fresh, []]])]);
      expect(rows).toEqual([[{ f: 1 }]]);
    }
  });

  test('refuses rows with two columns of one name', async () => {
    const { reason } = await failureOf([[statement('twins', 'select 1 as a, 2 as a'), []]]);
    expect(reason.message).toMatch(/two columns/);
  });

  test('refuses a value that cannot be sent before anything is sent', async () => {
    const failure = await failureOf([
      [insert, [5]],
      [insert, [Number.NaN]],
    ]);
    expect(failure.reason).toBeInstanceOf(TypeError);
    expect((await runBatch(client, [[count, []]])).rows).toEqual([[{ n: 0 }]]);
  });

  test('does not copy, and does not hang over it', async () => {
    const doomed = await connect();
    const copy = statement('copy', 'copy certo.numbers from stdin');
    const { reason } = await failureOf([[copy, []]], doomed);
    expect(reason).toBeInstanceOf(ConnectionLost);
  });

  test('lives beside queries of pg itself', async () => {
    const named = { name: 'of pg', text: 'select $1::int as x', values: [1] };
    const results = await Promise.all([client.query(named), runBatch(client, [[one, []]]), client.query(named)]);
    expect(results.map(({ rows }) => rows)).toEqual([[{ x: 1 }], [[{ one: 1 }]], [{ x: 1 }]]);
    // Known and yet not to be sent before its turn: one of pg's is not sent either.
    const behind = await Promise.all([client.query(named), client.query(named), runBatch(client, [[one, []]])]);
    expect(behind.map(({ rows }) => rows)).toEqual([[{ x: 1 }], [{ x: 1 }], [[{ one: 1 }]]]);
  });

  test('on a broken connection is ConnectionLost, with or without having been sent', async () => {
    const doomed = await connect();
    const sleep = statement('sleep', 'select pg_sleep(10)');
    const waiting = runBatch(doomed, [[sleep, []]]).catch((error: BatchFailure) => error.reason);
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where query = $1 and state = 'active'`;
    // Until the server has begun with it.
    while ((await client.query(end, [sleep.text])).rowCount === 0);
    expect(await waiting).toMatchObject({ name: 'ConnectionLost', sent: true });
    const late = await runBatch(doomed, [[one, []]]).catch((error: BatchFailure) => error.reason);
    expect(late).toBeInstanceOf(ConnectionLost);
    expect(late).toMatchObject({ sent: false });
  });
});

/** Its statements are answered, and its end is not: there the connection breaks. */
async function brokenBehind(...calls: readonly Call[]): Promise<BatchResult> {
  const doomed = await connect();
  const { connection } = doomed as Client & {
    connection: NodeJS.EventEmitter & { flush(): void; stream: { destroy(): void } };
  };
  const { result } = openBatch(doomed, calls);
  let answered = 0;
  const all = new Promise<void>((resolve) => {
    connection.on('commandComplete', () => ++answered === calls.length && resolve());
  });
  connection.flush();
  await all;
  connection.stream.destroy();
  return result;
}

test('a batch whose COMMIT was answered is done, although the connection broke before its end', async () => {
  const { tags } = await brokenBehind(
    [statement('begin a batch', 'begin'), []],
    [statement('commit a batch', 'commit'), []],
  );
  expect(tags).toEqual(['BEGIN', 'COMMIT']);
});

test('a batch without COMMIT is not done before its end, and where that was not sent nothing of it is', async () => {
  await expect(brokenBehind([insert, [5]])).rejects.toMatchObject({ reason: { name: 'ConnectionLost', sent: false } });
  expect((await runBatch(client, [[count, []]])).rows).toEqual([[{ n: 0 }]]);
});

test('any sequence of batches, right and wrong, one after the other or all at once, keeps answers and statements together', async () => {
  // A model of the protocol: what each kind of call returns, or the SQLSTATE it fails with.
  const kinds = {
    rows: (n: number): [Call, unknown] => [[upTo, [n]], Array.from({ length: n }, (_, at) => ({ n: at + 1 }))],
    composed: (n: number): [Call, unknown] => [composed({ sql: 'select $1::int as c', parameters: [n] }), [{ c: n }]],
    silent: (): [Call, unknown] => [[clear, []], []],
    empty: (): [Call, unknown] => [[nothing, []], []],
    divided: (): [Call, unknown] => [[divide, [1]], [{ q: 1 }]],
    zero: (): [Call, unknown] => [[divide, [0]], '22012'],
    notANumber: (): [Call, unknown] => [[divide, ['x']], '22P02'],
    unparsable: (): [Call, unknown] => [[bad, []], '42601'],
    // New names, so that Parse is skipped after an error and has to be sent again later.
    fresh: (n: number): [Call, unknown] => [[{ name: `fresh ${n}`, text: `select ${n} as f` }, []], [{ f: n }]],
  };
  const call = fc
    .record({
      kind: fc.constantFrom(...(Object.keys(kinds) as (keyof typeof kinds)[])),
      n: fc.integer({ min: 0, max: 30 }),
    })
    .map(({ kind, n }) => kinds[kind](n));
  const sequence = fc.array(fc.array(call, { minLength: 1, maxLength: 6 }), { maxLength: 8 });
  const asExpected = async (batch: readonly [Call, unknown][]): Promise<void> => {
    const wrong = batch.findIndex(([, expected]) => typeof expected === 'string');
    const calls = batch.map(([each]) => each);
    const expected = batch.map(([, rows]) => rows);
    if (wrong === -1) {
      expect((await runBatch(client, calls)).rows).toEqual(expected);
      return;
    }
    const failure = await failureOf(calls);
    expect(failure.reason).toMatchObject({ code: expected[wrong] });
    expect(failure.rows).toEqual(expected.slice(0, wrong));
  };
  await fc.assert(
    fc.asyncProperty(sequence, fc.boolean(), async (batches, atOnce) => {
      const running = [];
      for (const batch of batches) {
        running.push(asExpected(batch));
        if (!atOnce) await running.at(-1);
      }
      await Promise.all(running);
    }),
    { numRuns: 300 },
  );
});
