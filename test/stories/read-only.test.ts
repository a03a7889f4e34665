/** A database that takes no writes: a standby after a failover, or one that was told so. Told as what passes, and as what it is. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endingOf } from '../../src/commands/exit.ts';
import { isReadOnly, isSpoilt, StatementError } from '../../src/db/errors.ts';
import type { Refused } from '../client.ts';
import { runInProcess } from '../commands/in-process.ts';
import { eventually } from '../eventually.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let folder: string;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  A = service.companies.A;
  folder = mkdtempSync(join(tmpdir(), 'certo-read-only-'));
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data', 'master.key'), `${service.masterKeyHex}\n`, { mode: 0o600 });
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

/** New sessions of the service's database take writes, or none. */
async function takesWrites(does: boolean): Promise<void> {
  // From beside it: a session of its own could not take it back.
  const superuser = new Client({ ...service.connection, database: 'postgres', ssl: false });
  await superuser.connect();
  const { database } = service.connection;
  await superuser.query(
    `alter database ${database} ${does ? 'reset default_transaction_read_only' : 'set default_transaction_read_only = on'}`,
  );
  await superuser.end();
}

test('writes are 503 with the cause in one line, reads go on, and ready says no; then all is as before', async () => {
  const draft = await A.draft();
  await takesWrites(false);
  const door = await service.another();
  const before = service.logs.length;
  const call = (method: string, path: string, body?: unknown) =>
    door.call<Refused>(method, path, { key: A.key, ...(body === undefined ? {} : { body }), mayFail: true });
  const issue = () => call('POST', `/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt });
  for (const answer of [
    await issue(),
    ...(await Promise.all([issue(), issue()])),
    await call('POST', '/customers', { name: 'Ana', country: 'PT' }),
  ]) {
    expect([answer.status, answer.json.code, answer.headers['retry-after']]).toEqual([503, 'UNAVAILABLE', '1']);
    expect(answer.text).not.toContain('read-only');
  }
  expect((await call('GET', '/company')).status).toBe(200);
  const ready = await call('GET', '/health/ready');
  expect([ready.status, ready.json]).toEqual([503, { status: 'unavailable', reason: 'database read-only' }]);
  let lines: Record<string, unknown>[] = [];
  await eventually(() => {
    lines = service.logs.slice(before).map((line) => JSON.parse(line));
    expect(lines.reduce((sum, { more = 1 }) => sum + Number(more), 0)).toBe(4);
  });
  expect(lines.length).toBeLessThan(4);
  const cause = expect.stringMatching(/^the database is read-only \(a standby\?\): cannot execute/);
  for (const line of lines) expect(line).toMatchObject({ level: 40, code: 'UNAVAILABLE', sqlstate: '25006', cause });
  expect(JSON.stringify(lines)).not.toContain('"stack"');

  await takesWrites(true);
  // Connections that were refused a write are not used again.
  await eventually(async () => expect((await issue()).status).toBe(200));
  await door.stop();
  const next = await service.another();
  expect((await next.call('GET', '/health/ready')).status).toBe(200);
  await next.stop();
});

test('what a standby says as a transaction begins is known, too', () => {
  const message = 'cannot set transaction read-write mode during recovery';
  const atBegin = new StatementError('begin', { message, code: '0A000' });
  const fromDriver = Object.assign(new Error(message), { code: '0A000' });
  for (const error of [atBegin, fromDriver]) expect([isReadOnly(error), isSpoilt(error)]).toEqual([true, true]);
  expect(isReadOnly(new StatementError('other', { message: 'no such feature', code: '0A000' }))).toBe(false);
  expect(endingOf(fromDriver)).toEqual({ code: 3, lines: [expect.stringMatching(/^The database is read-only \(a/)] });
});

test.each([['serve'], ['keys rotate'], ['api-key create --company 508025095 --name x']])(
  '%s ends with 3 and says so',
  async (command) => {
    await takesWrites(false);
    try {
      const ended = await runInProcess({ database: service, folder }, command.split(' '), { env: { PORT: '0' } });
      expect(ended.err).toMatch(/^certo: The database is read-only \(a standby\?\): nothing was written\. [^\n]+\n$/);
      expect(ended.code).toBe(3);
    } finally {
      await takesWrites(true);
    }
  },
);
