/** A standby that commits do not wait for can be without the last documents: told at each start. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { standbysOf, standbyWords } from '../../src/commands/standby.ts';
import { type TestDatabase, testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { runInProcess } from './in-process.ts';

let base: TestDatabase;
let folder: string;
beforeAll(async () => {
  base = await testDatabase();
  folder = mkdtempSync(join(tmpdir(), 'certo-standby-'));
});
afterAll(async () => {
  await base.drop();
  rmSync(folder, { recursive: true });
});

/** As long as the work takes, somebody receives the log of the test's server, as a standby does. */
async function withStandby<T>(work: () => Promise<T>): Promise<T> {
  const asStandby = { ...base.connection, ssl: false, replication: 'true' };
  const standby = new Client(asStandby);
  await standby.connect();
  try {
    return await work();
  } finally {
    await standby.end();
  }
}

test('one that receives the log is counted, by a user without rights', async () => {
  expect(await standbysOf(base.ownerPool)).toEqual({ count: 0, areWaitedFor: false });
  expect(await withStandby(() => standbysOf(base.ownerPool))).toEqual({ count: 1, areWaitedFor: false });
  await eventually(async () => expect(await standbysOf(base.ownerPool)).toMatchObject({ count: 0 }));
});

test('what is said names the setting; nothing where there is none, or where commits wait', () => {
  expect(standbyWords({ count: 1, areWaitedFor: false })).toMatch(
    /^The database's server has 1 standby and waits for none \(synchronous_standby_names is empty\): /,
  );
  expect(standbyWords({ count: 2, areWaitedFor: false })).toMatch(/ has 2 standbys and /);
  expect(standbyWords({ count: 0, areWaitedFor: false })).toBeUndefined();
  expect(standbyWords({ count: 2, areWaitedFor: true })).toBeUndefined();
});

test('a service says so as it starts, and only where there is one', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await eventually(() => expect(taken.listening).toBe(true));
  const { port } = taken.address() as { port: number };
  // It ends at the port that it can't have.
  const start = () => runInProcess({ database: base, folder }, ['serve'], { env: { PORT: String(port) } });
  try {
    const [beside, alone] = [await withStandby(start), await start()];
    expect([beside.code, alone.code]).toEqual([3, 3]);
    expect(beside.err).toContain(' waits for none (synchronous_standby_names is empty)');
    expect(alone.err).not.toContain('synchronous_standby_names');
  } finally {
    taken.close();
  }
});
