import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import {
  appendFile,
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { eventually } from '../../test/eventually.ts';
import { canMount, mountSmall, type SmallDisk } from '../../test/small-disk.ts';
import { transpiled } from '../../test/transpiled.ts';
import { clusterFolder, isAlive } from './cluster.ts';
import { canReach, DataDirectoryInUse, DataDirectoryUnusable, unmarkRestore } from './data-directory.ts';
import { type Embedded, type ServiceOptions, startEmbedded, useEmbedded } from './embedded.ts';
import { identify, knock, readPidFile, stopPostmaster } from './postmaster.ts';

const uid = process.getuid?.() ?? 0;
/** An ordinary user, for tests that run as root: initdb wants one with a name. */
const ordinary = (() => {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const users = lines.map((line) => ({ uid: Number(line.split(':')[2]), gid: Number(line.split(':')[3]) }));
  return users.find((user) => user.uid > 0 && user.uid < 65534) ?? { uid: 1, gid: 1 };
})();
/** A database to begin with, where a test is not about making one. */
let made: string;
let code: ReturnType<typeof transpiled>;
let home: string;
let directory: string;
let lines: string[];
const children: ChildProcess[] = [];

beforeAll(async () => {
  code = transpiled('src/db', 'test/embedded-child.ts');
  made = await mkdtemp(join(tmpdir(), `certo-test-${process.pid}-made-`));
  await (await startEmbedded({ dataDirectory: made, uid, durable: false, log: () => undefined })).stop();
});
afterAll(async () => {
  code.remove();
  await rm(made, { recursive: true });
});
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), `certo-test-${process.pid}-`)));
  await chmod(home, 0o755);
  directory = join(home, 'data');
  lines = [];
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  // What a failed test leaves running; a test that went well leaves nothing.
  for (const name of await readdir(home)) {
    const cluster = clusterFolder(join(home, name));
    const file = await readPidFile(cluster);
    if (file === undefined) continue;
    const left = await identify(file.pid, cluster);
    await stopPostmaster(file.pid, cluster, () => undefined);
    expect(left, 'a server was left behind').not.toBe('ours');
  }
  await rm(home, { recursive: true });
});

/** Copied as whoever runs the tests: as root that also shows that a copy made by root works. */
async function seed(): Promise<void> {
  await mkdir(directory, { recursive: true });
  await cp(join(made, 'CERTO'), join(directory, 'CERTO'));
  await cp(clusterFolder(made), clusterFolder(directory), { recursive: true });
}

function options(change: Partial<ServiceOptions> = {}): ServiceOptions {
  return { dataDirectory: directory, uid, durable: false, log: (line) => lines.push(line), ...change };
}

async function ask(held: Pick<Embedded, 'connection'>, sql: string): Promise<unknown[]> {
  const client = new Client({ ...held.connection, ssl: false });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/**
 * A server as PostgreSQL was after its disk had been full: it has the folder and its socket, says "not yet accepting" to all who
 * come (57P03), and does nothing. SIGQUIT does not end it.
 */
const stuckServer = `
  const { writeFileSync } = require('node:fs');
  const { createServer } = require('node:net');
  const [folder, socket] = process.argv.slice(1);
  const fields = ['SFATAL', 'VFATAL', 'C57P03', 'Mthe database system is not yet accepting connections', ''];
  const body = Buffer.from(fields.join('\\0') + '\\0');
  const head = Buffer.alloc(5, 'E');
  head.writeInt32BE(body.length + 4, 1);
  process.on('SIGQUIT', () => undefined);
  createServer((caller) => {
    caller.on('error', () => undefined);
    caller.once('data', () => caller.end(Buffer.concat([head, body])));
  }).listen(socket + '/.s.PGSQL.5432', () => {
    writeFileSync(folder + '/postmaster.pid', [process.pid, folder, '1700000000', '5432', socket, '', '1 1', 'starting', ''].join('\\n'));
    console.log('it runs');
  });
`;

async function serverPid(): Promise<number> {
  const file = await readPidFile(clusterFolder(directory));
  if (file === undefined) throw new Error('no server runs');
  return file.pid;
}

async function isRunning(): Promise<boolean> {
  return (await readPidFile(clusterFolder(directory))) !== undefined;
}

interface Holder {
  readonly child: ChildProcess;
  readonly said: Record<string, unknown>;
}

/** Another process with the embedded database; `said` is its first line. */
async function another(
  mode: 'service' | 'command',
  as: { uid: number; gid: number } | undefined = undefined,
): Promise<Holder> {
  const child = spawn(process.execPath, [join(code.folder, 'test', 'embedded-child.js'), mode, directory], {
    ...as,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', () => reject(new Error('it ended without a word')));
  });
  return { child, said: JSON.parse(line) as Record<string, unknown> };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) =>
    (child.exitCode ?? child.signalCode) === null ? child.once('exit', () => resolve()) : resolve(),
  );
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000;
  while (performance.now() < end) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it did not happen in 30 s');
}

describe('a service', () => {
  test('makes its database once, keeps it, and leaves nothing running', async () => {
    const first = await startEmbedded(options({ durable: true }));
    expect(first).toMatchObject({
      adopted: false,
      directory,
      connection: { host: join(directory, 'socket'), database: 'certo' },
    });
    await ask(first, 'create table kept as select 1 as n');
    await first.stop();
    await first.stop();
    expect(await isRunning()).toBe(false);
    const second = await startEmbedded(options({ durable: true }));
    expect(await ask(second, 'select * from kept')).toEqual([{ n: 1 }]);
    await second.stop();
    expect(lines.filter((line) => line.includes('creating'))).toHaveLength(1);
    expect((await readdir(directory)).sort()).toEqual(['CERTO', 'postgres', 'postgres.log', 'socket']);
  });

  test('waits for the disk and listens on its socket only, whatever is configured', async () => {
    const held = await startEmbedded(options({ durable: true }));
    await ask(held, `alter system set fsync = off`);
    await ask(held, `alter system set synchronous_commit = off`);
    await ask(held, `alter system set listen_addresses = '*'`);
    await ask(held, `alter system set shared_buffers = '64MB'`);
    await ask(held, `alter system set log_error_verbosity = 'verbose'`);
    await ask(held, `alter system set log_min_error_statement = 'error'`);
    await ask(held, `alter system set wal_init_zero = 'off'`);
    await held.stop();
    const again = await startEmbedded(options({ durable: true }));
    const settings = await ask(
      again,
      `select name, setting from pg_settings where name in
       ('fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses', 'shared_buffers', 'jit', 'data_checksums', 'server_encoding', 'unix_socket_permissions',
        'log_error_verbosity', 'log_min_error_statement', 'wal_init_zero', 'max_active_replication_origins') order by 1`,
    );
    await again.stop();
    expect(
      Object.fromEntries((settings as { name: string; setting: string }[]).map(({ name, setting }) => [name, setting])),
    ).toEqual({
      data_checksums: 'on',
      fsync: 'on',
      full_page_writes: 'on',
      jit: 'off',
      listen_addresses: '',
      log_error_verbosity: 'terse',
      log_min_error_statement: 'panic',
      max_active_replication_origins: '0',
      server_encoding: 'UTF8',
      // The operator's own choice, in pages of 8 kB.
      shared_buffers: '8192',
      synchronous_commit: 'on',
      unix_socket_permissions: '0700',
      wal_init_zero: 'on',
    });
  });

  test('keeps the log of its server short while it runs', async () => {
    const held = await startEmbedded(options());
    const log = join(directory, 'postgres.log');
    const complain = (words: string) => ask(held, `do $$ begin raise warning '${words}'; end $$`);
    await complain('before');
    await appendFile(log, '.'.repeat(10_000_001));
    await expect.poll(async () => (await stat(log)).size, { timeout: 20_000 }).toBeLessThan(10_000);
    await complain('after');
    expect(await readFile(`${log}.1`, 'utf8')).toContain('WARNING:  before');
    expect(await readFile(log, 'utf8')).toMatch(/^[^\0]*WARNING: {2}after\n/);
    expect((await readdir(directory)).filter((name) => name.startsWith('postgres.log'))).toHaveLength(2);
    await held.stop();
  });

  test('lets nobody else in', async () => {
    await seed();
    const held = await startEmbedded(options());
    await writeFile(join(directory, 'master.key'), 'secret', { mode: 0o600 });
    const modes = await Promise.all(
      ['', 'postgres', 'socket', 'postgres.log'].map(async (name) => {
        const { mode, uid: owner } = await stat(join(directory, name));
        return [name, (mode & 0o777).toString(8), owner];
      }),
    );
    await held.stop();
    const server = uid === 0 ? 65534 : uid;
    expect(modes).toEqual([
      ['', uid === 0 ? '711' : '700', uid],
      ['postgres', '700', server],
      ['socket', '700', server],
      ['postgres.log', '600', uid],
    ]);
  });

  test('has its folder to itself', async () => {
    await seed();
    const held = await startEmbedded(options());
    const refusal = startEmbedded(options());
    await expect(refusal).rejects.toThrow(DataDirectoryInUse);
    await expect(refusal).rejects.toThrow(
      `The data folder ${directory} is in use by a running Certo (process ${process.pid}): stop that one, or choose another CERTO_DATA_DIR.`,
    );
    const { said } = await another('service');
    expect(said).toMatchObject({ error: 'DataDirectoryInUse' });
    expect(await ask(held, 'select 1 as n')).toEqual([{ n: 1 }]);
    await held.stop();
    expect(await isRunning()).toBe(false);
  });

  test('does not share its terminal with the server', async () => {
    await seed();
    const held = await startEmbedded(options());
    const pid = await serverPid();
    // Field 5 of /proc/…/stat is the process group, which Ctrl-C goes to.
    const group = (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => `${pid} (postgres) S 1 ${pid}`))
      .split(') ')[1]
      ?.split(' ')[2];
    await held.stop();
    expect(group).toBe(String(pid));
  });
});

/** With the data folder, and a database in it, on a file system of 130 MB of its own. */
async function onSmallDisk(use: (disk: SmallDisk) => Promise<void>): Promise<void> {
  const disk = mountSmall('130m')!;
  const usual = directory;
  try {
    directory = join(disk.folder, 'data');
    await seed();
    await use(disk);
  } finally {
    directory = usual;
    disk.remove();
  }
}

describe('after a crash', () => {
  test('of the service, the next one adopts the server with all that was committed', async () => {
    await seed();
    const { child, said } = await another('service');
    expect(said['adopted']).toBe(false);
    await ask(said as unknown as Embedded, 'create table kept as select 1 as n');
    const pid = await serverPid();
    child.kill('SIGKILL');
    await ended(child);
    expect(isAlive(pid)).toBe(true);
    const next = await startEmbedded(options());
    expect(next.adopted).toBe(true);
    expect(await serverPid()).toBe(pid);
    expect(await ask(next, 'select * from kept')).toEqual([{ n: 1 }]);
    await next.stop();
    expect(await isRunning()).toBe(false);
  });

  test('of the server, the service starts it again and keeps its folder', async () => {
    await seed();
    const held = await startEmbedded(options({ durable: true }));
    await ask(held, 'create table kept as select 1 as n');
    const pid = await serverPid();
    process.kill(pid, 'SIGKILL');
    await until(
      async () => (await readPidFile(clusterFolder(directory)))?.ready === true && (await serverPid()) !== pid,
    );
    // The server takes connections before the service has its place in it again, and until then the folder is anybody's.
    await until(() =>
      ask(held, `select from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock'`).then(
        (found) => found.length === 1,
        () => false,
      ),
    );
    expect(await ask(held, 'select * from kept')).toEqual([{ n: 1 }]);
    expect(lines).toContain('the database went away; joining or starting it again');
    await expect(startEmbedded(options())).rejects.toThrow(DataDirectoryInUse);
    await held.stop();
    expect(await isRunning()).toBe(false);
  });

  test('of nobody: a server that was told to stop the smart way is stopped at once, and started again', async () => {
    await seed();
    const held = await startEmbedded(options());
    const pooled = new Client({ ...held.connection, ssl: false });
    const cut = new Promise((resolve) => pooled.on('error', resolve));
    await pooled.connect();
    const pid = await serverPid();
    // It lets nobody in from now on, and waits until the last connection is closed.
    process.kill(pid, 'SIGTERM');
    await cut;
    await until(() =>
      ask(held, 'select 1').then(
        () => true,
        () => false,
      ),
    );
    expect(await serverPid()).not.toBe(pid);
    // A command that comes meanwhile does not wait for anybody to notice.
    const again = new Client({ ...held.connection, ssl: false });
    again.on('error', () => undefined);
    await again.connect();
    process.kill(await serverPid(), 'SIGTERM');
    const command = await useEmbedded(options());
    expect(await ask(command, 'select 1 as n')).toEqual([{ n: 1 }]);
    await command.stop();
    await held.stop();
    expect(await isRunning()).toBe(false);
  });

  test('of everything, a pid file that now names another process is no obstacle', async () => {
    await seed();
    // A process of the server's own user: the server would take it for a server (miscinit.c, CreateLockFile).
    const user = uid === 0 ? { uid: 65534, gid: 65534 } : {};
    const stranger = spawn('sleep', ['60'], { ...user, stdio: 'ignore' });
    children.push(stranger);
    const text = `${stranger.pid}\n${clusterFolder(directory)}\n1700000000\n5432\n${join(directory, 'socket')}\n\n  1 1\nready   \n`;
    const pidFile = join(clusterFolder(directory), 'postmaster.pid');
    await writeFile(pidFile, text, { mode: 0o600 });
    if (uid === 0) await chown(pidFile, 65534, 65534);
    const held = await startEmbedded(options());
    expect(held.adopted).toBe(false);
    await held.stop();
    expect(stranger.exitCode ?? stranger.signalCode).toBe(null);
  });

  test('that left empty lock files, they are removed when nobody can be writing them any more', async () => {
    await seed();
    await (await startEmbedded(options())).stop();
    const user = uid === 0 ? 65534 : uid;
    for (const path of [
      join(clusterFolder(directory), 'postmaster.pid'),
      join(directory, 'socket', '.s.PGSQL.5432.lock'),
    ]) {
      await writeFile(path, '');
      await chown(path, user, user).catch(() => undefined);
    }
    const held = await startEmbedded(options());
    expect(held.adopted).toBe(false);
    await held.stop();
  });

  test('of a backend: the server that comes up again by itself is not left behind by a service that stops meanwhile', async () => {
    await seed();
    for (let round = 0; round < 3; round += 1) {
      const held = await startEmbedded(options());
      const first = await serverPid();
      const [backend] = await ask(held, `select pid from pg_stat_activity where application_name like 'certo %'`);
      process.kill((backend as { pid: number }).pid, 'SIGKILL');
      // At once, while the server recovers, and when it may have.
      if (round > 0) await until(async () => lines.includes('the database went away; joining or starting it again'));
      await held.stop();
      expect(isAlive(first) && (await identify(first, clusterFolder(directory))) === 'ours').toBe(false);
      expect(await isRunning()).toBe(false);
    }
  });

  test('a server that lets nobody in and recovers nothing is ended by whoever waits for it, and started again', async () => {
    await seed();
    await (await startEmbedded(options())).stop();
    // What is seen of a postmaster without a startup process: it runs in the folder, has its file, and answers this.
    const stuck = spawn(process.execPath, ['-e', stuckServer, clusterFolder(directory), join(directory, 'socket')], {
      ...(uid === 0 ? { uid: 65534, gid: 65534 } : {}),
      cwd: clusterFolder(directory),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(stuck);
    await new Promise((resolve) => stuck.stdout!.once('data', resolve));
    expect(await serverPid()).toBe(stuck.pid);
    const [service, command] = await Promise.all([startEmbedded(options()), useEmbedded(options())]);
    await ended(stuck);
    expect(lines.join('\n')).toMatch(/gets nowhere \(it says "the database system is not yet accepting connections"\)/);
    expect(await ask(service, 'select 1 as n')).toEqual([{ n: 1 }]);
    await command.stop();
    await service.stop();
    expect(await isRunning()).toBe(false);
  });

  test.runIf(canMount())(
    'on a full disk: who is in reads on, the log has room, a checkpoint ends nobody, and who comes later is told why not',
    async () => {
      await onSmallDisk(async (disk) => {
        const held = await startEmbedded(options({ durable: true }));
        await ask(held, 'create table kept as select 1 as n');
        await ask(held, 'checkpoint');
        expect(await ask(held, 'show max_wal_size')).toEqual([{ max_wal_size: '32MB' }]);
        const pid = await serverPid();
        const client = new Client({ ...held.connection, ssl: false });
        await client.connect();
        disk.fill();
        await client.query(`select pg_logical_emit_message(true, 'certo', repeat('x', 1000000))`);
        // It may fail, and ends nobody.
        await client.query('checkpoint').catch(() => undefined);
        expect((await client.query('select * from kept')).rows).toEqual([{ n: 1 }]);
        // As a change of the catalogue does: who connects next writes them anew.
        const cluster = clusterFolder(directory);
        for (const name of await readdir(cluster, { recursive: true }))
          if (name.endsWith('pg_internal.init')) await rm(join(cluster, name));
        disk.fill();
        await expect(useEmbedded(options())).rejects.toThrow(
          /takes no connection: could not write init file.*its disk is full: make room, and try again/,
        );
        expect((await client.query('select * from kept')).rows).toEqual([{ n: 1 }]);
        expect(await serverPid()).toBe(pid);
        await client.end();
        disk.free();
        await held.stop();
      });
    },
  );

  test.runIf(canMount())(
    'on a full disk: the service goes on, and has its server again when there is room',
    async () => {
      await onSmallDisk(async (disk) => {
        const lost: Error[] = [];
        const held = await startEmbedded(options({ durable: true, onLost: (error) => lost.push(error) }));
        await ask(held, 'create table kept as select 1 as n');
        const pid = await serverPid();
        disk.fill();
        process.kill(pid, 'SIGKILL');
        const cluster = clusterFolder(directory);
        await eventually(async () => {
          // One that found room after all is killed again, and its lock file goes: the next has to write one.
          const file = await readPidFile(cluster);
          if (file !== undefined && (await identify(file.pid, cluster)) === 'ours') process.kill(file.pid, 'SIGKILL');
          else await rm(join(cluster, 'postmaster.pid'), { force: true });
          disk.fill();
          expect(lines.join('\n')).toMatch(/does not come back yet.*its disk is full: make room/);
        }, 30_000);
        await expect(useEmbedded(options())).rejects.toThrow(/its disk is full: make room|no space left|ENOSPC/);
        disk.free();
        await eventually(async () => expect(await ask(held, 'select * from kept')).toEqual([{ n: 1 }]), 30_000);
        expect(lost).toEqual([]);
        await held.stop();
        expect(await isRunning()).toBe(false);
      });
    },
  );

  test('in the middle of making the database, it is made anew', async () => {
    const child = spawn(process.execPath, [join(code.folder, 'test', 'embedded-child.js'), 'service', directory]);
    children.push(child);
    await until(async () =>
      (await readdir(directory).catch(() => [])).some((name) => name.startsWith('postgres.new-')),
    );
    child.kill('SIGKILL');
    await ended(child);
    const draft = (await readdir(directory)).find((name) => name.startsWith('postgres.new-')) ?? '';
    const held = await startEmbedded(options());
    expect(await ask(held, 'select 1 as n')).toEqual([{ n: 1 }]);
    await held.stop();
    // A young draft may be another container's; an old one is removed. The killed one's initdb may still be making it young.
    const long = new Date(Date.now() - 120_000);
    await mkdir(join(directory, draft), { recursive: true });
    await until(async () => {
      await utimes(join(directory, draft), long, long);
      await (await startEmbedded(options())).stop();
      return !(await readdir(directory)).includes(draft);
    });
  });
});

describe('a command', () => {
  test('joins the service and leaves it running', async () => {
    await seed();
    const service = await startEmbedded(options());
    const pid = await serverPid();
    const command = await useEmbedded(options());
    expect(command.adopted).toBe(true);
    await command.stop();
    expect(await serverPid()).toBe(pid);
    expect(await ask(service, 'select 1 as n')).toEqual([{ n: 1 }]);
    await service.stop();
  });

  test('starts the server when there is none, and stops it', async () => {
    const command = await useEmbedded(options());
    expect(command.adopted).toBe(false);
    await command.stop();
    expect(await isRunning()).toBe(false);
  });

  test('that started the server leaves it to a service that came meanwhile, and the other way round', async () => {
    await seed();
    const command = await useEmbedded(options());
    const service = await startEmbedded(options());
    await command.stop();
    expect(await ask(service, 'select 1 as n')).toEqual([{ n: 1 }]);
    const late = await useEmbedded(options());
    await service.stop();
    expect(await ask(late, 'select 1 as n')).toEqual([{ n: 1 }]);
    await late.stop();
    expect(await isRunning()).toBe(false);
  });

  test('may begin together with others on an empty folder', async () => {
    const crowd = await Promise.all([
      useEmbedded(options()),
      useEmbedded(options()),
      startEmbedded(options()),
      useEmbedded(options()),
    ]);
    expect(await Promise.all(crowd.map((one) => ask(one, 'select current_database()::text as d')))).toEqual(
      crowd.map(() => [{ d: 'certo' }]),
    );
    await Promise.all(crowd.map((one) => one.stop()));
    await until(async () => !(await isRunning()));
    expect((await readdir(directory)).sort()).toEqual(['CERTO', 'postgres', 'postgres.log', 'socket']);
  });

  test('tells of a long wait, gives up with a sentence, and is broken off at once', async () => {
    await seed();
    // A server that follows another one, and lets nobody in: it starts for ever.
    await writeFile(join(clusterFolder(directory), 'standby.signal'), '');
    await writeFile(join(clusterFolder(directory), 'postgresql.auto.conf'), 'hot_standby = off\n');
    const [first, second] = [new AbortController(), new AbortController()];
    const starter = useEmbedded(options({ signal: first.signal })).catch((error) => error);
    await until(isRunning);
    const waits: string[] = [];
    // Longer than until it tells of its wait, and shorter than until a server that gets nowhere is ended (progress.ts).
    const waiter = useEmbedded(options({ waits: (line) => waits.push(line), patience_ms: 6_000 }));
    const pid = await serverPid();
    const broken = useEmbedded(options({ signal: second.signal })).catch((error) => error);
    second.abort();
    expect((await broken).name).toBe('AbortError');
    await expect(waiter).rejects.toThrow(
      /^The database in \S+ let nobody in for \d+ s \(it says "the database system is [^"]+"\): see \S+postgres\.log, and try again\.$/,
    );
    expect(waits).toEqual([expect.stringMatching(/^waiting for the database in \S+ \(it says "/)]);
    // It is at its recovery all the while: nobody has ended it.
    expect(await serverPid()).toBe(pid);
    first.abort();
    expect((await starter).name).toBe('AbortError');
    expect(await isRunning()).toBe(false);
  });

  test('begins again when the server that it starts is stopped by somebody before it is ready', async () => {
    await seed();
    let stopped = 0;
    const stopper = (async () => {
      while (stopped < 2) {
        const file = await readPidFile(clusterFolder(directory));
        if (file !== undefined && !file.ready && isAlive(file.pid)) {
          process.kill(file.pid, 'SIGINT');
          stopped += 1;
          while (isAlive(file.pid)) await new Promise(setImmediate);
        }
        await new Promise(setImmediate);
      }
    })();
    const held = await useEmbedded(options());
    await stopper;
    expect(await ask(held, 'select 1 as n')).toEqual([{ n: 1 }]);
    await held.stop();
    expect(await isRunning()).toBe(false);
  });

  test('may come and go with others at any moment', async () => {
    await seed();
    const visitor = async (): Promise<void> => {
      for (let visit = 0; visit < 8; visit += 1) {
        const held = await useEmbedded(options());
        expect(await ask(held, 'select 1 as n')).toEqual([{ n: 1 }]);
        await held.stop();
      }
    };
    await Promise.all([visitor(), visitor(), visitor()]);
    expect(await isRunning()).toBe(false);
  });
});

describe('a folder that cannot be used is told in one line', () => {
  async function problem(): Promise<string> {
    const error = await startEmbedded(options()).then(
      (held) => held.stop(),
      (reason: Error) => reason,
    );
    if (!(error instanceof DataDirectoryUnusable)) throw new Error(`expected DataDirectoryUnusable, got ${error}`);
    expect(error.message).not.toContain('\n');
    return error.message;
  }

  test('other files in the place of the database', async () => {
    await mkdir(clusterFolder(directory), { recursive: true });
    await writeFile(join(directory, 'CERTO'), '');
    await writeFile(join(clusterFolder(directory), 'something'), '');
    expect(await problem()).toMatch(/is not a PostgreSQL database: move it away/);
  });

  test('another version of PostgreSQL', async () => {
    await mkdir(clusterFolder(directory), { recursive: true });
    await writeFile(join(directory, 'CERTO'), '');
    await writeFile(join(clusterFolder(directory), 'PG_VERSION'), '17\n');
    expect(await problem()).toMatch(/holds a PostgreSQL 17 database and this Certo brings PostgreSQL 18/);
  });

  test('a database that is damaged, in the words of the server', async () => {
    await seed();
    await rm(join(clusterFolder(directory), 'global', 'pg_control'));
    expect(await problem()).toMatch(/does not start: .*could not .*pg_control.*\(see .*postgres.log\)\.$/);
  });

  test('a database that was made and is not there: nothing is begun anew but by a restore', async () => {
    await (await startEmbedded(options())).stop();
    const gone =
      /^The database of \S+ is missing: \S+postgres is empty or not there, .* load a backup with "certo restore"; to begin/;
    for (const how of ['not there', 'empty']) {
      await rm(clusterFolder(directory), { recursive: true, force: true });
      if (how === 'empty') await mkdir(clusterFolder(directory));
      expect(await problem()).toMatch(gone);
      await expect(useEmbedded(options())).rejects.toThrow(gone);
      expect(existsSync(join(clusterFolder(directory), 'PG_VERSION'))).toBe(false);
    }
    // The mark of an earlier program said nothing: what the books left beside them does.
    await writeFile(join(directory, 'CERTO'), 'The data of a Certo service, layout 1.\n');
    expect(await problem()).toMatch(gone);
    await rm(join(directory, 'postgres.log'));
    await writeFile(join(directory, 'master.key'), '');
    expect(await problem()).toMatch(gone);
    const restoring = await startEmbedded(options({ anew: true }));
    await restoring.stop();
    expect(await problem()).toMatch(/^The restore into \S+ was begun and is not finished/);
    await unmarkRestore(directory);
    await rm(clusterFolder(directory), { recursive: true });
    expect(await problem()).toMatch(gone);
  });

  test('its own connection is as every session of ours, whatever is set for others', async () => {
    await seed();
    vi.stubEnv('PGOPTIONS', '--foo');
    try {
      const held = await startEmbedded(options());
      const cluster = clusterFolder(directory);
      const file = (await readPidFile(cluster))!;
      const { uid: owner, gid } = await stat(cluster);
      const answer = await knock(file, cluster, uid === 0 ? { uid: owner, gid } : undefined, 'test');
      if (answer.state !== 'open') throw new Error(`it is ${answer.state}`);
      await answer.client.query(`alter system set idle_session_timeout = '5s'`);
      await answer.client.query('select pg_reload_conf()');
      const shown = await answer.client.query('show idle_session_timeout');
      await answer.client.end();
      expect(shown.rows).toEqual([{ idle_session_timeout: '0' }]);
      await held.stop();
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('a server that takes connections and says nothing hangs, and is not said to be silent', async () => {
    await seed();
    const held = await startEmbedded(options());
    const file = (await readPidFile(clusterFolder(directory)))!;
    const { uid: owner, gid } = await stat(clusterFolder(directory));
    process.kill(file.pid, 'SIGSTOP');
    const answer = await knock(file, clusterFolder(directory), { uid: owner, gid }, 'test');
    process.kill(file.pid, 'SIGCONT');
    expect(answer).toEqual({ state: 'hung', words: 'nothing for 5 s' });
    await held.stop();
  });

  test('a server that lets nobody in says why, and is not said to be silent', async () => {
    await seed();
    const held = await startEmbedded(options());
    const hba = join(clusterFolder(directory), 'pg_hba.conf');
    const before = await readFile(hba, 'utf8');
    await writeFile(hba, 'local all all reject\n');
    await ask(held, 'select pg_reload_conf()');
    await eventually(() => expect(ask(held, 'select 1')).rejects.toThrow(/pg_hba/));
    await expect(useEmbedded(options())).rejects.toThrow(
      /^The PostgreSQL server on \S+ \(process \d+\) does not let Certo in: pg_hba.conf rejects connection/,
    );
    await writeFile(hba, before);
    await held.stop();
  });

  test('a folder in which nothing can be made, and a file above it', async () => {
    directory = '/proc/certo/data';
    expect(await problem()).toMatch(/^The data folder \/proc\/certo\/data cannot be made there/);
    await writeFile(join(home, 'file'), '');
    directory = join(home, 'file', 'data');
    expect(await problem()).toMatch(/is not a folder/);
  });

  test('a server that runs and cannot be reached', async () => {
    await seed();
    const held = await startEmbedded(options());
    const pid = await serverPid();
    const moved = join(home, 'moved');
    await rename(directory, moved);
    directory = moved;
    // It takes 15 s to be sure of it: the server might be on its way up or down.
    expect(await problem()).toMatch(new RegExp(`process ${pid}\\) runs on ${moved}/postgres but does not answer`));
    await rename(moved, join(home, 'data'));
    await held.stop();
  });
});

describe('places', () => {
  test('a path too long for a socket has its socket in /tmp', async () => {
    directory = join(home, 'long'.repeat(30));
    await seed();
    const held = await startEmbedded(options());
    const { host } = held.connection;
    expect(dirname(host)).toBe('/tmp');
    expect((await stat(host)).mode & 0o777).toBe(0o700);
    const command = await another('command');
    expect(command.said).toMatchObject({ adopted: true, connection: { host } });
    expect(await ask(held, 'select 1 as n')).toEqual([{ n: 1 }]);
    command.child.stdin?.end('stop\n');
    await ended(command.child);
    await held.stop();
    // Somebody else's folder there is not used.
    await chmod(host, 0o777);
    await expect(startEmbedded(options())).rejects.toThrow(
      `${host} is not a folder that only the database's user can enter`,
    );
    await rm(host, { recursive: true });
  });

  test.runIf(uid === 0)('an ordinary user has all of it as himself, and root may join him', async ({ skip }) => {
    if (!(await canReach(code.folder, ordinary))) skip('the project is not open to other users');
    await mkdir(directory);
    await chown(directory, ordinary.uid, ordinary.gid);
    const { child, said } = await another('service', ordinary);
    expect(said).toMatchObject({ adopted: false });
    const owners = await Promise.all(
      ['', 'postgres', 'socket', 'CERTO', 'postgres.log'].map(async (name) => (await stat(join(directory, name))).uid),
    );
    expect(owners).toEqual(owners.map(() => ordinary.uid));
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    const command = await useEmbedded(options());
    expect(command.adopted).toBe(true);
    await command.stop();
    child.stdin?.end('stop\n');
    await ended(child);
    expect(await isRunning()).toBe(false);
    // Root starts it as its owner, so that the owner can go on afterwards.
    await (await startEmbedded(options())).stop();
    const again = await another('service', ordinary);
    expect(again.said).toMatchObject({ adopted: false });
    again.child.stdin?.end('stop\n');
    await ended(again.child);
  });

  test.runIf(uid === 0)("another user's folder is refused", async ({ skip }) => {
    await seed();
    if (!(await canReach(code.folder, ordinary))) skip('the project is not open to other users');
    await (await startEmbedded(options())).stop();
    expect((await another('service', ordinary)).said).toMatchObject({ error: 'DataDirectoryUnusable' });
  });

  test.runIf(uid === 0)('a user without a name is told what to do', async ({ skip }) => {
    const nameless = { uid: 1_234_567, gid: 1_234_567 };
    if (!(await canReach(code.folder, nameless))) skip('the project is not open to other users');
    await mkdir(directory);
    await chown(directory, nameless.uid, nameless.gid);
    const { said } = await another('service', nameless);
    expect(said['message']).toMatch(/user does not exist; add it to \/etc\/passwd, or set DATABASE_URL\.$/);
    expect(await readdir(directory)).toEqual(['CERTO', 'socket']);
  });
});
