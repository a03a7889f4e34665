import { createHash } from 'node:crypto';
import { chmod, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Client, type Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/database.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { migrate } from '../migrate.ts';
import { openOwner, type SocketConnection } from '../open.ts';
import { firstLine } from './frames.ts';
import { readBackup } from './read-backup.ts';
import { restoreBackup } from './restore-backup.ts';
import { writeBackup } from './write-backup.ts';

let base: TestDatabase;
let superuser: Client;
let root: string;
const made: string[] = [];

beforeAll(async () => {
  base = await testDatabase();
  superuser = new Client({ ...base.connection, ssl: false });
  await superuser.connect();
  root = await mkdtemp(join(tmpdir(), 'certo-backup-'));
});
afterAll(async () => {
  for (const name of made) await superuser.query(`drop database ${name} with (force)`);
  await superuser.end();
  await base.drop();
  await rm(root, { recursive: true });
});

// Names in the wrong order for loading, a reference to itself, a circle of none; what must not be copied, and what the
// database makes up by itself.
const first = `
  set local role certo_owner; set local search_path = certo, public;
  create table clock (only_row boolean primary key default true, shift interval not null default '0');
  insert into clock default values;
  create function certo.now() returns timestamptz language sql as 'select clock_timestamp()';
  create table installation (at_mode text primary key, created_at timestamptz not null);
  create table signing_keys (version int primary key, origin text not null);
  create table z_parents (id int primary key, before int references z_parents, name text not null);
  create table a_children (
    id bigint generated always as identity primary key, parent int not null references z_parents (id),
    "odd ""name" text, bytes bytea, doc jsonb, list text[], amount numeric(30, 6), at timestamptz,
    double numeric generated always as (amount * 2) stored, doomed int);
  alter table a_children drop column doomed;
  alter table a_children enable row level security;
  alter table a_children force row level security;
  create policy owner on a_children to certo_owner using (true) with check (true);
  create function refuse() returns trigger language plpgsql as 'begin raise exception ''frozen''; end';
  create trigger frozen before update or delete on z_parents for each row execute function refuse();`;
const second = `set local role certo_owner; alter table certo.z_parents add column shout text;
  alter table certo.z_parents disable trigger frozen;
  update certo.z_parents set shout = upper(name);
  alter table certo.z_parents enable trigger frozen;`;

async function folderOf(files: Readonly<Record<string, string>>): Promise<URL> {
  const folder = await mkdtemp(join(root, 'migrations-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, `${name}.sql`), text);
  return pathToFileURL(`${folder}/`);
}

const newFile = () => join(root, `${made.length}-${Math.random().toString(36).slice(2)}.backup`);

async function emptyDatabase(how = ''): Promise<SocketConnection> {
  const name = `backup_${process.pid}_${made.length}`;
  made.push(name);
  await superuser.query(`create database ${name} ${how}`);
  return { ...base.connection, database: name };
}

async function withOwner<T>(connection: SocketConnection, work: (owner: Pool) => Promise<T>): Promise<T> {
  const owner = await openOwner({ connection, applicationName: 'test' });
  try {
    return await work(owner);
  } finally {
    await owner.end();
  }
}

const ask = (connection: SocketConnection, sql: string) =>
  withOwner(connection, async (owner) => (await owner.query(sql)).rows);

const seal = (text: string) => createHash('sha256').update(`seal ${text}`).digest();
const odd = ['\\N', '\\.', 'tab\there', 'line\nbreak\r\n', 'back\\slash', '', 'ção € 😀', '"quoted"', '\u0001'];

/** A database of the first migration with some of everything, and its backup. */
async function backedUp(folder: URL): Promise<{ connection: SocketConnection; path: string }> {
  const connection = await emptyDatabase();
  await migrate({ connection, folder });
  const path = newFile();
  await withOwner(connection, async (owner) => {
    await owner.query(`insert into certo.installation values ('simulator', '2026-01-01')`);
    await owner.query(`insert into certo.z_parents values (2, null, 'two'), (1, 2, 'one')`);
    for (const text of [...odd, null])
      await owner.query(
        `insert into certo.a_children (parent, "odd ""name", bytes, doc, list, amount, at)
         values (1, $1, $2, $3, $4, 123456789012345678901234.000001, '2026-03-02T10:00:00.123Z')`,
        [text, Buffer.from(text ?? 'none'), JSON.stringify({ text, n: 1.1 }), [text, 'x']],
      );
    await writeBackup(owner, { path, certo: '1.2.3', seal, folder });
  });
  return { connection, path };
}

async function restored(path: string, folder: URL, connection?: SocketConnection): Promise<SocketConnection> {
  const target = connection ?? (await emptyDatabase());
  const read = await readBackup(path);
  await restoreBackup({ connection: target }, { path, read, folder, settle: async () => undefined });
  return target;
}

/** Does the work on a disk that has no room from the given write on; how many writes there were. */
async function failingAt(failing: number, work: () => Promise<unknown>): Promise<number> {
  const file = await open(root);
  const handles = Object.getPrototypeOf(file) as { write: (...args: unknown[]) => Promise<unknown> };
  await file.close();
  const write = handles.write;
  let writes = 0;
  const spy = vi.spyOn(handles, 'write').mockImplementation(function (this: unknown, ...args) {
    writes += 1;
    if (writes < failing) return write.apply(this, args);
    return Promise.reject(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }));
  });
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  return writes;
}

async function refusal(work: Promise<unknown>): Promise<Refusal> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Refusal);
  return error as Refusal;
}

const everything = `select (select json_agg(p order by id) from certo.z_parents p) as parents,
  (select json_agg(c order by id) from certo.a_children c) as children, (select json_agg(k) from certo.clock k) as clock`;

describe('a backup', () => {
  test('gives back every value of every table, whatever is in it', async () => {
    const folder = await folderOf({ '0001_first': first });
    const { connection, path } = await backedUp(folder);
    await ask(connection, `update certo.clock set shift = '1 hour'`);
    const later = newFile();
    await withOwner(connection, (owner) => writeBackup(owner, { path: later, certo: '1.2.3', seal, folder }));
    expect((await readBackup(path)).digest).not.toBe((await readBackup(later)).digest);
    const target = await restored(later, folder);
    expect(await ask(target, everything)).toEqual(await ask(connection, everything));
    expect(await ask(target, `select "odd ""name" as text from certo.a_children order by id`)).toEqual(
      [...odd, null].map((text) => ({ text })),
    );
    // The next number is the one that the first database would give.
    const next = `insert into certo.a_children (parent) values (1) returning id`;
    expect(await ask(target, next)).toEqual(await ask(connection, next));
    // What guards the tables guards them again.
    expect(
      await ask(target, `select relforcerowsecurity as forced from pg_class where oid = 'certo.a_children'::regclass`),
    ).toEqual([{ forced: true }]);
    await expect(ask(target, 'delete from certo.z_parents where id = 1')).rejects.toThrow('frozen');
  });

  test('can be read by its owner alone, leaves no draft, and takes nobody’s place', async () => {
    const folder = await folderOf({ '0001_first': first });
    const { connection, path } = await backedUp(folder);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const before = await readFile(path);
    await withOwner(connection, async (owner) => {
      const again = await refusal(writeBackup(owner, { path, certo: '1', seal, folder }));
      expect(again).toMatchObject({ code: 'BACKUP_EXISTS', facts: { file: path } });
      const broken = writeBackup(owner, {
        path: `${path}.2`,
        certo: '1',
        seal,
        folder,
        passed: () => {
          throw new Error('the disk is full');
        },
      });
      await expect(broken).rejects.toThrow('the disk is full');
    });
    expect(await readFile(path)).toEqual(before);
    const name = path.slice(root.length + 1);
    expect((await readdir(root)).filter((file) => file.startsWith(name))).toEqual([name]);
  });

  test('onto a disk that is full ends with what the disk said, wherever it was, and leaves nothing', async () => {
    const folder = await folderOf({ '0001_first': first });
    const { connection, path } = await backedUp(folder);
    // So much that the table is still being read while it is written.
    await ask(
      connection,
      `insert into certo.a_children (parent, list)
       select 1, array(select md5(random()::text) from generate_series(1, 1000 + n)) from generate_series(1, 100) n`,
    );
    const again = () =>
      withOwner(connection, (owner) => writeBackup(owner, { path: `${path}.2`, certo: '1.2.3', seal, folder }));
    // As its pieces come a backup has a write more or less: one with fewer than the one that fails is whole.
    let failed = 0;
    for (let at = 1; ; at += 2) {
      const outcome = await failingAt(at, again).catch((error: unknown) => error);
      if (typeof outcome === 'number') {
        expect(outcome).toBeLessThan(at);
        break;
      }
      expect(outcome).toMatchObject({ code: 'ENOSPC' });
      failed += 1;
    }
    expect(failed).toBeGreaterThan(5);
    await rm(`${path}.2`);
    expect((await readdir(root)).filter((name) => name.startsWith(`${path.slice(root.length + 1)}.2`))).toEqual([]);
  });

  test('shows one instant, whatever is written meanwhile', async () => {
    const folder = await folderOf({ '0001_first': first });
    const { connection } = await backedUp(folder);
    const path = newFile();
    await withOwner(connection, async (owner) => {
      await writeBackup(owner, {
        path,
        certo: '1',
        seal,
        folder,
        began: () =>
          owner.query(`with p as (insert into certo.z_parents values (3, null, 'late') returning id)
            insert into certo.a_children (parent) select 1 from p`),
      });
    });
    const target = await restored(path, folder);
    expect(await ask(target, 'select count(*)::int as n from certo.z_parents')).toEqual([{ n: 2 }]);
    expect(await ask(target, 'select count(*)::int as n from certo.a_children')).toEqual([{ n: odd.length + 1 }]);
    expect(await ask(connection, 'select count(*)::int as n from certo.z_parents')).toEqual([{ n: 3 }]);
  });

  test('of an older version is brought to this one, after its rows were loaded', async () => {
    const { path } = await backedUp(await folderOf({ '0001_first': first }));
    const target = await restored(path, await folderOf({ '0001_first': first, '0002_second': second }));
    expect(await ask(target, 'select id, shout from certo.z_parents order by id')).toEqual([
      { id: 1, shout: 'ONE' },
      { id: 2, shout: 'TWO' },
    ]);
    expect(await ask(target, 'select name from certo.kysely_migration order by 1')).toHaveLength(2);
  });

  test('gives back rows from before a rule that holds for what is written since, and the rule', async () => {
    const folder = await folderOf({ '0001_first': first });
    const { connection } = await backedUp(folder);
    await ask(connection, 'insert into certo.a_children (parent) values (1)');
    const ruled = `set local role certo_owner;
      alter table certo.a_children add constraint "has a ""list""" check (list is not null) not valid;`;
    const later = await folderOf({ '0001_first': first, '0002_ruled': ruled });
    await migrate({ connection, folder: later });
    const path = newFile();
    await withOwner(connection, (owner) => writeBackup(owner, { path, certo: '1.2.3', seal, folder: later }));
    const target = await restored(path, later);
    expect(await ask(target, everything)).toEqual(await ask(connection, everything));
    await expect(ask(target, 'insert into certo.a_children (parent) values (1)')).rejects.toThrow('has a "list"');
  });

  test('of a newer version, or of another history, is refused by name', async () => {
    const both = await folderOf({ '0001_first': first, '0002_second': second });
    const { path } = await backedUp(both);
    const target = await emptyDatabase();
    const older = await folderOf({ '0001_first': first });
    expect(await refusal(restored(path, older, target))).toMatchObject({
      code: 'BACKUP_NEWER',
      facts: { version: '1.2.3', migrations: '0002_second' },
    });
    const edited = await folderOf({ '0001_first': `${first} `, '0002_second': second });
    expect(await refusal(restored(path, edited, target))).toMatchObject({
      code: 'BACKUP_STRANGE',
      facts: { what: '0001_first' },
    });
    expect(await ask(target, `select to_regnamespace('certo')::text as schema`)).toEqual([{ schema: null }]);
  });
});

describe('a restore', () => {
  let folder: URL;
  let path: string;
  beforeAll(async () => {
    folder = await folderOf({ '0001_first': first });
    ({ path } = await backedUp(folder));
  });

  test('takes a migrated database without books, also of a later version; with books it refuses', async () => {
    const target = await emptyDatabase();
    await migrate({ connection: target, folder: await folderOf({ '0001_first': first, '0002_second': second }) });
    await ask(target, `insert into certo.installation values ('test', now())`);
    await ask(target, `insert into certo.signing_keys values (1, 'generated')`);
    await restored(path, folder, target);
    expect(await ask(target, 'select at_mode from certo.installation')).toEqual([{ at_mode: 'simulator' }]);
    const before = await ask(target, everything);
    expect(await refusal(restored(path, folder, target))).toMatchObject({
      code: 'RESTORE_NOT_EMPTY',
      facts: { what: 'z_parents' },
    });
    expect(await ask(target, everything)).toEqual(before);
    const keyed = await emptyDatabase();
    await migrate({ connection: keyed, folder });
    await ask(keyed, `insert into certo.signing_keys values (1, 'imported')`);
    expect(await refusal(restored(path, folder, keyed))).toMatchObject({ facts: { what: 'signing_keys' } });
  });

  test('refuses a database that is not in UTF8', async () => {
    const target = await emptyDatabase(`encoding 'SQL_ASCII' locale 'C' template template0`);
    await expect(restored(path, folder, target)).rejects.toThrow(/has the encoding SQL_ASCII, and Certo needs UTF8/);
  });

  test('refuses a database that another Certo is using', async () => {
    const target = await emptyDatabase();
    await migrate({ connection: target, folder });
    const service = await openOwner({ connection: target, applicationName: 'certo service' });
    expect(await refusal(restored(path, folder, target))).toMatchObject({
      code: 'RESTORE_IN_USE',
      facts: { who: 'certo service' },
    });
    await service.end();
    await restored(path, folder, target);
  });

  test('that fails at its last step leaves the database as it was, ready for another try', async () => {
    const target = await emptyDatabase();
    const read = await readBackup(path);
    const failing = restoreBackup(
      { connection: target },
      {
        path,
        read,
        folder,
        settle: async (client) => {
          expect((await client.query('select count(*)::int as n from certo.z_parents')).rows).toEqual([{ n: 2 }]);
          throw new Error('the books are wrong');
        },
      },
    );
    await expect(failing).rejects.toThrow('the books are wrong');
    expect(await ask(target, `select to_regnamespace('certo')::text as schema`)).toEqual([{ schema: null }]);
    await restored(path, folder, target);
  });

  test('of a file that changed since it was checked is taken back', async () => {
    const read = await readBackup(path);
    const target = await emptyDatabase();
    const other = { ...read, digest: read.digest.replace(/^./, (c) => (c === '0' ? '1' : '0')) };
    const work = restoreBackup({ connection: target }, { path, read: other, folder, settle: async () => undefined });
    expect(await refusal(work)).toMatchObject({ code: 'BACKUP_DAMAGED' });
    expect(await ask(target, `select to_regnamespace('certo')::text as schema`)).toEqual([{ schema: null }]);
  });
});

describe('a file', () => {
  let whole: Buffer;
  let path: string;
  beforeAll(async () => {
    const made = await backedUp(await folderOf({ '0001_first': first }));
    whole = await readFile(made.path);
    path = join(root, 'hostile.backup');
  });

  async function readOf(bytes: Buffer): Promise<Refusal> {
    await writeFile(path, bytes);
    return refusal(readBackup(path));
  }

  interface Frame {
    kind: string;
    bytes: Buffer;
  }
  function framesOf(file: Buffer): Frame[] {
    const frames: Frame[] = [];
    for (let at = firstLine.length; at < file.length; ) {
      const length = file.readUInt32BE(at + 1);
      frames.push({ kind: file.toString('latin1', at, at + 1), bytes: file.subarray(at + 5, at + 5 + length) });
      at += 5 + length;
    }
    return frames;
  }
  const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
  function endOf(digest: Buffer): Buffer {
    const end = Buffer.concat([digest, seal(digest.toString('hex'))]);
    return Buffer.concat([end, sha256(end)]);
  }
  /** A file of these frames, its last checksums made to fit. */
  function fileOf(frames: readonly Frame[]): Buffer {
    const parts: Buffer[] = [firstLine];
    for (const { kind, bytes } of frames) {
      const before = sha256(Buffer.concat(parts));
      const content = kind === 'Z' ? endOf(before) : bytes;
      const head = Buffer.alloc(5);
      head.write(kind, 'latin1');
      head.writeUInt32BE(content.length, 1);
      parts.push(head, content);
    }
    return Buffer.concat(parts);
  }
  /** A copy of the whole file with its frames changed. */
  function changed(change: (frames: Frame[]) => void): Buffer {
    const frames = framesOf(whole);
    change(frames);
    return fileOf(frames);
  }
  const manifestOf = (frames: readonly Frame[]) => JSON.parse(frames[0]!.bytes.toString());

  test('that was put together as it was is the same file', async () => {
    expect(changed(() => undefined)).toEqual(whole);
    await writeFile(path, whole);
    const { manifest, seal: found, digest } = await readBackup(path);
    expect(found).toEqual(seal(digest));
    expect(manifest).toMatchObject({ certo: '1.2.3', installation: { atMode: 'simulator' } });
    expect(manifest.tables.map(({ name, rows }) => [name, rows])).toEqual([
      ['clock', 1],
      ['installation', 1],
      ['signing_keys', 0],
      ['z_parents', 2],
      ['a_children', odd.length + 1],
    ]);
  });

  test('of the first form, whose seal has no checksum, is read as ever', async () => {
    const before = Buffer.concat([Buffer.from('CERTO BACKUP 1\n'), whole.subarray(firstLine.length, -(5 + 96))]);
    const digest = sha256(before);
    const head = Buffer.from([0x5a, 0, 0, 0, 64]);
    const end = Buffer.concat([digest, seal(digest.toString('hex'))]);
    await writeFile(path, Buffer.concat([before, head, end]));
    expect(await readBackup(path)).toMatchObject({ digest: digest.toString('hex'), seal: end.subarray(32) });
    // The end of one form is none of the other.
    for (const file of [
      Buffer.concat([before, Buffer.from([0x5a, 0, 0, 0, 96]), endOf(digest)]),
      Buffer.concat([whole.subarray(0, -(5 + 96)), head, whole.subarray(-96, -32)]),
    ])
      expect((await readOf(file)).facts['problem']).toMatch(/checksum does not fit/);
  });

  test('cut off anywhere is refused', async () => {
    for (let length = 0; length < whole.length; length += length < 100 ? 1 : 19) {
      const { code } = await readOf(whole.subarray(0, length));
      expect([length, code]).toEqual([length, length < firstLine.length ? 'NOT_A_BACKUP' : 'BACKUP_DAMAGED']);
    }
  });

  test('with one bit flipped anywhere is refused', async () => {
    for (let at = 0; at < whole.length; at += at < 100 ? 1 : 7) {
      const bytes = Buffer.from(whole);
      bytes[at] = bytes[at]! ^ (1 << (at % 8));
      const { code } = await readOf(bytes);
      expect([at, code]).toEqual([at, at < firstLine.length ? 'NOT_A_BACKUP' : 'BACKUP_DAMAGED']);
    }
  });

  /** Takes the frames of a table out, from its name to its end. */
  function take(frames: Frame[], name: string): Frame[] {
    const from = frames.findIndex(({ kind, bytes }) => kind === 'T' && bytes.toString() === name);
    const to = frames.findIndex(({ kind }, at) => at > from && kind === 'E');
    return frames.splice(from, to - from + 1);
  }
  const page = (frames: Frame[], text: string): void => {
    frames[0] = { kind: 'M', bytes: Buffer.from(text) };
  };
  /** Other rows for a table, packed in one piece, with its own checksum unless another is given. */
  function refill(frames: Frame[], name: string, rows: string, packed = gzipSync(rows), digest?: Buffer): void {
    const at = frames.findIndex(({ kind, bytes }) => kind === 'T' && bytes.toString() === name);
    const [head] = take(frames, name);
    const end = digest ?? createHash('sha256').update(rows).digest();
    frames.splice(at, 0, head!, { kind: 'D', bytes: packed }, { kind: 'E', bytes: end });
  }

  test.each<[string, RegExp, (frames: Frame[]) => void]>([
    ['with two tables in another order', /stands where/, (all) => void all.splice(1, 0, ...take(all, 'z_parents'))],
    ['without a table', /stands where/, (all) => void take(all, 'clock')],
    ['without its last table', /order/, (all) => void take(all, 'a_children')],
    ['with a table twice', /holds more/, (all) => void all.splice(-1, 0, ...take([...all], 'a_children'))],
    ['without its first page', /order/, (all) => void all.shift()],
    ['with two first pages', /order/, (all) => void all.unshift(all[0]!)],
    ['with rows outside a table', /order/, (all) => void all.splice(1, 0, all[2]!)],
    ['with a first page that is no JSON', /first page/, (all) => page(all, '{')],
    ['with an empty first page', /first page/, (all) => page(all, 'null')],
    [
      'with a first page of another shape',
      /first page/,
      (all) => page(all, JSON.stringify({ ...manifestOf(all), tables: [{ name: 1 }] })),
    ],
    [
      'that says more rows than it has',
      /2 rows instead of 3/,
      (all) => {
        const manifest = manifestOf(all);
        manifest.tables.find(({ name }: { name: string }) => name === 'z_parents').rows = 3;
        page(all, JSON.stringify(manifest));
      },
    ],
    [
      'with other rows under a checksum that is not theirs',
      /clock does not fit its checksum/,
      (all) => refill(all, 'clock', 't\t00:00:01\n', undefined, Buffer.alloc(32)),
    ],
    [
      'with rows that cannot be unpacked',
      /cannot be unpacked/,
      (all) => refill(all, 'clock', '', Buffer.from('no gzip')),
    ],
  ])('%s is refused, its last checksum made to fit', async (_what, problem, change) => {
    const { code, facts } = await readOf(changed(change));
    expect(code).toBe('BACKUP_DAMAGED');
    expect(facts['problem']).toMatch(problem);
  });

  test('with something behind its end, or a piece of four gigabytes, is refused', async () => {
    expect((await readOf(Buffer.concat([whole, Buffer.from([0])]))).facts['problem']).toMatch(/behind its end/);
    const huge = Buffer.from(whole);
    huge.writeUInt32BE(0xffffffff, firstLine.length + 1);
    expect((await readOf(huge)).facts['problem']).toMatch(/no known form/);
    expect((await readOf(Buffer.from('%PDF-1.7 and so on'))).code).toBe('NOT_A_BACKUP');
    await chmod(path, 0o600);
  });

  test('that was forged with rows that no table takes is taken back', async () => {
    const folder = await folderOf({ '0001_first': first });
    await writeFile(
      path,
      changed((all) => refill(all, 'z_parents', '1\t\\N\n2\t\\N\n')),
    );
    const target = await emptyDatabase();
    await expect(restored(path, folder, target)).rejects.toThrow('missing data for column "name"');
    expect(await ask(target, `select to_regnamespace('certo')::text as schema`)).toEqual([{ schema: null }]);
  });
});
