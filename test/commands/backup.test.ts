/** Backup while clients work, and what a restore makes of it: the same bytes, closed series, and nothing left of a failure. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type Pool } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { useEmbedded } from '../../src/db/embedded.ts';
import { openOwner } from '../../src/db/open.ts';
import { type TestDatabase, testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import type { CompanyJson, InvoiceJson } from '../replies.ts';
import { script } from './built.ts';
import { type CommandLine, type Ended, openCommandLine, type Service, urlOf } from './command-line.ts';

// Each starts several databases and services of its own.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

let line: CommandLine;
let base: TestDatabase;
let superuser: Client;
/** The books that are backed up. */
let first: Books;
let file: string;
/** Documents that were acknowledged before the backup began, as they were then, with a PDF each. */
const told: { readonly id: string; readonly bytes: string; readonly pdf: Buffer }[] = [];

interface Books {
  readonly name: string;
  readonly env: Record<string, string>;
  readonly service: Service;
  readonly owner: Pool;
  readonly apiKey: string;
  readonly company: {
    id: string;
    taxpayerNumber: string;
    cae: string[];
    customers: string[];
    items: { NORMAL: string };
  };
}

beforeAll(async () => {
  [line, base] = await Promise.all([openCommandLine(), testDatabase()]);
  superuser = new Client({ ...base.connection, ssl: false });
  await superuser.connect();
  first = await serve('first');
  for (let i = 0; i < 5; i += 1) told.push(await tellOf(first, await issue(first)));
});
afterAll(async () => {
  await superuser.end();
  await Promise.all(opened.map((owner) => owner.end().catch(() => undefined)));
  await line.close();
  await base.drop();
});

const opened: Pool[] = [];
const envOf = (name: string) => ({ CERTO_DATA_DIR: line.folder(name) });

/** The embedded database of a folder, as its superuser. */
const socketOf = (name: string) => ({
  host: join(line.folder(name), 'socket'),
  port: 5432,
  database: 'certo',
  user: 'postgres',
});

/** `certo serve` on a folder; the company is the demo's, made by the first start of the first one. */
async function serve(name: string): Promise<Books> {
  const env = envOf(name);
  const service = await line.serve(env);
  const owner = await openOwner({ connection: socketOf(name), applicationName: 'test' });
  opened.push(owner);
  const demo = join(line.folder('first'), 'demo.json');
  const company = await eventually(() => {
    const found = JSON.parse(readFileSync(demo, 'utf8')).companies.A;
    expect(found).toBeDefined();
    return found;
  });
  return { name, env, service, owner, apiKey: company.apiKey, company };
}

async function end(books: Books): Promise<void> {
  await books.owner.end();
  opened.splice(opened.indexOf(books.owner), 1);
  expect(await books.service.end()).toBe(0);
}

async function call(books: Books, path: string, body?: unknown): Promise<Response> {
  return fetch(books.service.baseUrl + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': books.apiKey, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function tryIssue(books: Books): Promise<Response> {
  const { company } = books;
  const items = [{ id: company.items.NORMAL, quantity: 1 }];
  const draft = await call(books, '/invoices', {
    type: 'INVOICE',
    cae: company.cae[0],
    customerId: company.customers[0],
    items,
  });
  const { id, updatedAt } = (await draft.json()) as InvoiceJson;
  return call(books, `/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt });
}

async function issue(books: Books): Promise<InvoiceJson> {
  const answer = await tryIssue(books);
  expect(answer.status).toBe(200);
  return (await answer.json()) as InvoiceJson;
}

/** What the service says of a document once the authority has it, and its PDF. */
async function tellOf(books: Books, { id }: { id: string }) {
  const bytes = await eventually(async () => {
    const text = await (await call(books, `/invoices/${id}`)).text();
    expect(JSON.parse(text).syncWithAt.status).toBe('ACCEPTED');
    return withoutLinks(text);
  });
  const { url } = (await (await call(books, `/invoices/${id}/pdf`)).json()) as { url: string };
  return { id, bytes, pdf: Buffer.from(await (await fetch(url)).arrayBuffer()) };
}

/** Links are signed anew each time, and name the port. */
const withoutLinks = (text: string) => text.replace(/"url":"[^"]*"/g, '');

interface Restored {
  readonly backup: { readonly takenAt: string };
  readonly number: number;
  readonly documents: number;
  readonly closed: { documentType: string; code: string; lastNumber: number }[];
  readonly apiKeys: { nif: string; count: number }[];
  readonly findings: number;
  readonly list: { problem: string }[];
}

/** A new data folder with the first one's master key and a copy of what the authority knows. */
function folder(name: string, from = 'first'): Record<string, string> {
  mkdirSync(line.folder(name));
  cpSync(join(line.folder(from), 'master.key'), join(line.folder(name), 'master.key'));
  return envOf(name);
}

const restore = (name: string, path: string, ...more: string[]): Promise<Ended> =>
  line.run(['restore', path, '--json', ...more], existsSync(line.folder(name)) ? envOf(name) : folder(name));

test('under load of four clients a backup is one instant, whole, and can be read by its owner alone', async () => {
  let over = false;
  const busy = Array.from({ length: 4 }, async () => {
    while (!over) await issue(first);
  });
  const { rows } = await first.owner.query('select count(*)::int as n from certo.documents');
  await eventually(async () => {
    const now = await first.owner.query('select count(*)::int as n from certo.documents');
    expect(now.rows[0].n).toBeGreaterThan(rows[0].n + 10);
  });
  file = line.folder('one.backup');
  const backup = await line.run(['backup', '--out', file, '--json'], first.env);
  over = true;
  await Promise.all(busy);
  expect(backup).toMatchObject({ code: 0, err: '' });
  const facts = backup.json<{ bytes: number; digest: string; rows: Record<string, number> }>();
  expect(statSync(file)).toMatchObject({ size: facts.bytes });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(facts.rows['documents']).toBeGreaterThan(15);
  const checked = await line.run(['backup', 'check', file, '--json'], {});
  expect(checked).toMatchObject({ code: 0, err: '' });
  expect(checked.json()).toEqual({ ok: true, ...facts, file });
  const again = await line.run(['backup', '--out', file], first.env);
  expect(again).toMatchObject({ code: 2, err: `certo: ${file} exists already: choose another file.\n` });
});

test('without a name it is called by its instant, in the folder where the command runs', async () => {
  const { code, out } = await line.run(['backup'], first.env);
  expect(code).toBe(0);
  expect(out).toMatch(/^Backed up the books of .* UTC, 1 company and \d+ documents with drafts: .* bytes in .*\.\n/);
  expect(out).toMatch(/master key is not in it/);
  const names = readdirSync(line.folder('.')).filter((name) => name.endsWith('.backup') && name !== 'one.backup');
  expect(names).toEqual([expect.stringMatching(/^certo-\d{8}T\d{6}Z\.backup$/)]);
  expect((await line.run(['backup', 'check', names[0]!], {})).out).toMatch(/^Whole: the books of/);
});

test('told to end it leaves nothing and says by its code what ended it; killed it leaves a part, of which the next one tells', async () => {
  const folder = line.folder('parts');
  mkdirSync(folder);
  const holder = await first.owner.connect();
  try {
    for (const [signal, left, code] of [
      ['SIGTERM', 0, 143],
      ['SIGINT', 0, 130],
      ['SIGHUP', 0, 129],
      ['SIGKILL', 1, null],
    ] as const) {
      await holder.query('begin');
      await holder.query('lock table certo.documents in access exclusive mode');
      const args = [script, 'backup', '--out', join(folder, `${signal}.backup`)];
      const ending = spawn(process.execPath, args, { env: { PATH: process.env['PATH'], ...first.env } });
      const ended = once(ending, 'exit');
      await eventually(() => expect(readdirSync(folder)).toHaveLength(1));
      ending.kill(signal);
      if (left === 0) await eventually(() => expect(readdirSync(folder)).toEqual([]));
      else await ended;
      await holder.query('rollback');
      expect((await ended)[0]).toBe(code);
      expect(readdirSync(folder)).toHaveLength(left);
    }
  } finally {
    holder.release();
  }
  const part = readdirSync(folder)[0]!;
  expect(part).toMatch(/^SIGKILL\.backup\.[0-9a-f]{8}\.part$/);
  const next = await line.run(['backup', '--out', join(folder, 'next.backup')], first.env);
  expect([next.code, next.err]).toEqual([0, expect.stringContaining(`that were broken off: ${part}. Remove it`)]);
});

test('a file that is cut, or is no backup, or belongs to other books, is refused before anything is made', async () => {
  const whole = readFileSync(file);
  const cut = line.folder('cut.backup');
  writeFileSync(cut, whole.subarray(0, whole.length - 100));
  expect(await line.run(['backup', 'check', cut], {})).toMatchObject({
    code: 1,
    err: 'certo: The backup is damaged: it ends early. Use another copy of it.\n',
  });
  const env = { CERTO_DATA_DIR: line.folder('nothing') };
  const keyless = await line.run(['restore', file], env);
  expect(keyless).toMatchObject({ code: 2 });
  expect(keyless.err).toMatch(/^certo: The master key file .* is missing, and no backup holds it: put the one/);
  const keyed = { ...env, CERTO_MASTER_KEY_FILE: join(line.folder('first'), 'master.key') };
  expect((await line.run(['restore', cut], keyed)).err).toMatch(/damaged: it ends early/);
  writeFileSync(cut, 'a letter');
  expect(await line.run(['restore', cut], keyed)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/is not a backup/),
  });
  const other = line.folder('other.key');
  writeFileSync(other, `${'ab'.repeat(32)}\n`, { mode: 0o600 });
  const another = await line.run(['restore', file], { ...env, CERTO_MASTER_KEY_FILE: other });
  expect(another).toMatchObject({ code: 1, err: expect.stringMatching(/written under another master key than/) });
  expect((await line.run(['restore', line.folder('none.backup')], keyed)).code).toBe(2);
  expect(existsSync(line.folder('nothing'))).toBe(false);
});

test('a running service is not restored over, and neither are its books', async () => {
  const running = await line.run(['restore', file], first.env);
  expect(running.code).toBe(3);
  expect(running.err).toMatch(/^certo: .*\n$/);
});

test('restored beside it: the same rows, the same PDFs, verified; what is open is closed and nothing is numbered twice', async () => {
  const ended = await restore('second', file);
  expect(ended.code).toBe(0);
  const restored = ended.json<Restored>();
  expect(restored).toMatchObject({ ok: true, number: 1, findings: 0, apiKeys: [{ count: 1 }] });
  // Also series in which nothing was issued yet: the first document may be among the lost ones.
  expect(restored.closed).toHaveLength(12);
  expect(restored.closed.find(({ documentType }) => documentType === 'INVOICE')?.lastNumber).toBe(restored.documents);
  expect(restored.closed.find(({ documentType }) => documentType === 'RECEIPT')?.lastNumber).toBe(0);
  const verified = await line.run(['verify', '--json'], envOf('second'));
  expect(verified.json()).toMatchObject({
    ok: true,
    documents: restored.documents,
    restores: [{ number: 1, nothingLost: false }],
  });
  expect((await line.run(['verify'], envOf('second'))).out).toMatch(/^Restored 1 time, last on .* from the backup of /);

  // Cancelled after the backup, and the authority told so: the restored books know nothing of it.
  const { rows } = await first.owner.query(
    `select id from certo.documents where number is not null and issued_at < $1 and not id = any ($2) order by issued_at limit 1`,
    [restored.backup.takenAt, told.map(({ id }) => id)],
  );
  const [{ id: canceledSince }] = rows as [{ id: string }];
  const cancelIn = async (books: Books) => {
    expect((await call(books, `/invoices/${canceledSince}/cancel`, {})).status).toBe(200);
    await eventually(async () => {
      const { rows } = await books.owner.query('select at_status, at_told from certo.documents where id = $1', [
        canceledSince,
      ]);
      expect(rows).toEqual([{ at_status: 'ACCEPTED', at_told: 'A' }]);
    });
  };
  await cancelIn(first);
  cpSync(join(line.folder('first'), 'simulator'), join(line.folder('second'), 'simulator'), { recursive: true });
  const second = await serve('second');
  expect(second.service.err()).toMatch(/Restored 1 time/);
  for (const { id, bytes, pdf } of told) {
    expect(await tellOf(second, { id })).toEqual({ id, bytes, pdf });
  }
  await sameBytes(first, second, restored.backup.takenAt);
  await cancelIn(second);

  // Nothing can be issued until there is a new series; an identifier that the authority knows is no new one.
  const refused = await tryIssue(second);
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([400, 'NOT_READY']);
  const ofCompany = ['--company', second.company.taxpayerNumber];
  const register = (code: string) =>
    line.run(['series', 'register', ...ofCompany, '--type', 'INVOICE', '--code', code], second.env);
  const { code } = restored.closed[0]!;
  expect((await register(code)).err).toMatch(new RegExp(`The identifier ${code} was already used`));
  const listed = (await line.run(['series', 'list', ...ofCompany, '--json'], second.env)).json<
    { id: string; status: string; documentType: string }[]
  >();
  expect(new Set(listed.map(({ status }) => status))).toEqual(new Set(['CLOSED']));
  const finalize = await line.run(['series', 'finalize', listed[0]!.id, ...ofCompany], second.env);
  expect(finalize).toMatchObject({
    code: 1,
    err: expect.stringMatching(/was closed by a restore, and its last number is not known here/),
  });
  expect((await register('DEPOIS')).code).toBe(0);
  await eventually(async () => {
    const { readiness } = (await (await call(second, '/company')).json()) as CompanyJson;
    expect(readiness).toMatchObject({ ready: true });
  });
  expect((await issue(second)).number).toBe('FT DEPOIS/1');
  await end(second);

  const twice = await restore('second', file);
  expect(twice).toMatchObject({ code: 1, err: expect.stringMatching(/The database is not empty: it has companies/) });
});

/** Everything that is frozen is the same in both, and what happened up to the backup as well; the authority is told again. */
async function sameBytes(from: Books, to: Books, takenAt: string): Promise<void> {
  const frozen = `select id, number, content::text, asked::text, hash, signed_text, qr, seal, issued_state::text from certo.documents where number is not null`;
  for (const [table, sql] of [
    ['documents', frozen],
    ['renditions', 'select document_id, variant, bytes from certo.renditions'],
    ['events', `select document_id, sequence, changes::text, seal from certo.document_events where at <= '${takenAt}'`],
    ['audit', 'select * from certo.audit'],
  ] as const) {
    const all = new Set((await from.owner.query(sql)).rows.map((row) => JSON.stringify(row)));
    const { rows } = await to.owner.query(sql);
    expect([table, rows.length > 0, rows.filter((row) => !all.has(JSON.stringify(row)))]).toEqual([table, true, []]);
  }
}

test('killed in the middle it leaves an empty database, and the next try has its way; no superuser is needed', async () => {
  const name = `restore_${process.pid}`;
  const role = `restorer_${process.pid}`;
  await superuser.query(`create role ${role} login createrole`);
  await superuser.query(`grant certo_owner, certo_app to ${role}`);
  await superuser.query(`create database ${name} owner ${role}`);
  const connection = { ...base.connection, database: name };
  const inside = new Client({ ...connection, ssl: false });
  await inside.connect();
  try {
    // Holds the restore when its rows are loaded and before it is done.
    await inside.query(`create function hold() returns event_trigger language plpgsql as $$ begin
      if to_regclass('certo.restores') is not null then
        if exists (select from certo.companies) then perform pg_sleep(600); end if;
      end if; end $$`);
    await inside.query('create event trigger hold on ddl_command_start execute function hold()');
    const env = { ...folder('killed'), DATABASE_URL: urlOf({ ...connection, user: role }) };
    const asleep = () =>
      eventually(async () => {
        const { rows } = await superuser.query(
          `select pid from pg_stat_activity where datname = $1 and wait_event = 'PgSleep'`,
          [name],
        );
        expect(rows).toHaveLength(1);
        return rows[0].pid as number;
      });
    const isEmpty = async () => {
      const { rows } = await inside.query(`select to_regnamespace('certo') is null as empty`);
      expect(rows).toEqual([{ empty: true }]);
    };
    const dying = spawn(process.execPath, [script, 'restore', file], { env: { PATH: process.env['PATH'], ...env } });
    const pid = await asleep();
    dying.kill('SIGKILL');
    await once(dying, 'exit');
    // What a server does when it finds its client gone; this one sleeps.
    await superuser.query('select pg_terminate_backend($1)', [pid]);
    await eventually(isEmpty);
    // Nobody begins new books where old ones were to be.
    for (const command of ['serve', 'migrate', 'verify'])
      expect(await line.run([command], env)).toMatchObject({
        code: 3,
        err: expect.stringMatching(/^certo: The restore into \S+killed was begun and is not finished/),
      });
    await isEmpty();
    // The same from the other side: the server ends, and the command says so.
    const left = line.run(['restore', file], env);
    await superuser.query('select pg_terminate_backend($1)', [await asleep()]);
    expect(await left).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^certo: The database server ended the connection/),
    });
    await isEmpty();
    await inside.query('drop event trigger hold');
    const ended = await line.run(['restore', file, '--json'], env);
    expect(ended.err).toBe('');
    expect(ended.json()).toMatchObject({ ok: true, number: 1 });
    expect((await line.run(['verify'], env)).out).toMatch(/nothing wrong/);
  } finally {
    await inside.end();
    await superuser.query(`drop database ${name} with (force)`);
    await superuser.query(`drop role ${role}`);
  }
});

test('the service stopped first, and nothing lost: the series go on where they were', async () => {
  await end(first);
  const path = line.folder('last.backup');
  expect((await line.run(['backup', '--out', path], first.env)).code).toBe(0);
  const ended = await restore('third', path, '--nothing-lost');
  expect(ended.json<Restored>()).toMatchObject({ ok: true, closed: [], number: 1 });
  cpSync(join(line.folder('first'), 'simulator'), join(line.folder('third'), 'simulator'), { recursive: true });
  const third = await serve('third');
  const { documents } = ended.json<Restored>();
  await eventually(async () => expect((await issue(third)).number).toMatch(new RegExp(`^FT \\w+/${documents + 1}$`)));
  await end(third);
});

test('books that were changed from outside are restored as they are: told, recorded, and nothing is issued in them', async () => {
  // While nobody looks: a service would find it, and have it on record.
  const server = await useEmbedded({
    dataDirectory: line.folder('first'),
    uid: process.getuid?.() ?? 0,
    log: () => undefined,
  });
  const tamperer = new Client({ ...server.connection, ssl: false });
  await tamperer.connect();
  await tamperer.query('set session_replication_role = replica');
  const changed = await tamperer.query(`update certo.documents set notes = 'x' where id = $1`, [told[0]!.id]);
  expect(changed.rowCount).toBe(1);
  await tamperer.end();
  await server.stop();
  const path = line.folder('changed.backup');
  expect((await line.run(['backup', '--out', path], first.env)).code).toBe(0);
  const ended = await restore('fourth', path);
  expect(ended.code).toBe(1);
  expect(ended.json<Restored>()).toMatchObject({
    ok: false,
    findings: 1,
    list: [{ problem: expect.stringMatching(/seal/) }],
  });
  cpSync(join(line.folder('first'), 'simulator'), join(line.folder('fourth'), 'simulator'), { recursive: true });
  const fourth = await serve('fourth');
  const ofCompany = ['--company', fourth.company.taxpayerNumber];
  await line.run(['series', 'register', ...ofCompany, '--type', 'INVOICE', '--code', 'DEPOIS'], fourth.env);
  expect(((await (await tryIssue(fourth)).json()) as { code: string }).code).toBe('INTEGRITY_BROKEN');
  // A finding that is on record comes along, and is none of the restore's.
  const next = line.folder('recorded.backup');
  expect((await line.run(['backup', '--out', next], fourth.env)).code).toBe(0);
  await end(fourth);
  const again = await restore('fifth', next);
  expect(again).toMatchObject({ code: 0 });
  expect(again.json<Restored>()).toMatchObject({ ok: true, number: 2, findings: 0 });
});
