import { Client, type PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { eventually } from '../../test/eventually.ts';
import { copyIn, copyOut } from './copy.ts';

let database: TestDatabase;
let client: PoolClient;
let superuser: Client;

beforeAll(async () => {
  database = await testDatabase();
  superuser = new Client({ ...database.connection, ssl: false });
  await superuser.connect();
  client = await database.ownerPool.connect();
  await client.query('create temporary table pairs (a int primary key, b text not null)');
});
afterAll(async () => {
  client.release(true);
  await superuser.end();
  await database.drop();
});

async function* pieces(...texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

const many = `copy (select repeat('x', 1000) from generate_series(1, 40000)) to stdout`;

test('all of a table comes out in pieces, and a reader that stops also stops the server', async () => {
  const { rows } = await client.query('select pg_backend_pid() as pid');
  const waits = async () => {
    const { rows: found } = await superuser.query('select wait_event from pg_stat_activity where pid = $1', [
      rows[0].pid,
    ]);
    return found[0].wait_event === 'ClientWrite';
  };
  const copy = copyOut(client, many);
  const first = await copy.next();
  if (first.done === true) throw new Error('nothing came');
  let bytes = first.value.length;
  let seen = 0;
  await eventually(async () => {
    seen = (await waits()) ? seen + 1 : 0;
    // Not only between two pieces: 40 MB wait there, not here.
    expect(seen).toBeGreaterThan(5);
  });
  let largest = 0;
  for await (const piece of copy) {
    bytes += piece.length;
    largest = Math.max(largest, piece.length);
  }
  expect(largest).toBeLessThan(4_000_000);
  expect(bytes).toBe(40_000 * 1001);
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

test('how many rows there were is returned, also of none', async () => {
  const none = copyOut(client, 'copy (select 1 where false) to stdout');
  expect(await none.next()).toEqual({ done: true, value: 0 });
  const two = copyOut(client, 'copy (values (1), (2)) to stdout');
  expect(await two.next()).toEqual({ done: false, value: Buffer.from('1\n2\n') });
  expect(await two.next()).toEqual({ done: true, value: 2 });
});

test('rows go in whatever the pieces are, and the server counts them', async () => {
  expect(await copyIn(client, 'copy pairs from stdin', pieces('1\tone\n2', '\ttw', 'o\n'))).toBe(2);
  expect((await client.query('select * from pairs order by a')).rows).toEqual([
    { a: 1, b: 'one' },
    { a: 2, b: 'two' },
  ]);
});

test('what the server or the source refuses leaves no row, and the connection goes on', async () => {
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from('7\tseven\n');
    throw new Error('the source is cut');
  }
  await expect(copyIn(client, 'copy pairs from stdin', broken())).rejects.toThrow('the source is cut');
  await expect(copyIn(client, 'copy pairs from stdin', pieces('8\teight\n1\ttwice\n'))).rejects.toMatchObject({
    code: '23505',
  });
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) yield Buffer.from('no number\tx\n'.repeat(1000));
  }
  await expect(copyIn(client, 'copy pairs from stdin', endless())).rejects.toMatchObject({ code: '22P02' });
  await expect(copyIn(client, 'copy nothing_there from stdin', pieces('1\n'))).rejects.toMatchObject({ code: '42P01' });
  const out = copyOut(client, 'copy (select 1 / 0) to stdout');
  await expect(out.next()).rejects.toMatchObject({ code: '22012' });
  expect((await client.query('select count(*)::int as n from pairs')).rows).toEqual([{ n: 2 }]);
});

test('a connection that breaks ends a copy in either direction', async () => {
  const ended = async (work: (one: PoolClient) => Promise<unknown>) => {
    const one = await database.ownerPool.connect();
    try {
      await work(one);
    } finally {
      one.release(true);
    }
  };
  const kill = async (one: PoolClient) => {
    const { rows } = await one.query('select pg_backend_pid() as pid');
    return () => superuser.query('select pg_terminate_backend($1)', [rows[0].pid]);
  };
  await ended(async (one) => {
    const end = await kill(one);
    const out = copyOut(one, many);
    await out.next();
    await end();
    const rest = async () => {
      for await (const _ of out);
    };
    await expect(rest()).rejects.toThrow();
  });
  await ended(async (one) => {
    await one.query('create temporary table sink (t text)');
    const end = await kill(one);
    async function* endless(): AsyncGenerator<Buffer> {
      for (let i = 0; ; i += 1) {
        if (i === 100) await end();
        yield Buffer.alloc(100_000, 'x\n');
      }
    }
    await expect(copyIn(one, 'copy sink from stdin', endless())).rejects.toThrow();
  });
});
