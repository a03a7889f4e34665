/**
 * Where a part plays: a data folder of its own with a real database, the built program as processes that can be killed,
 * and a company that can issue. The database does not wait for the disk unless a part is about that.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Pool } from 'pg';
import { clusterFolder } from '../../src/db/cluster.ts';
import { type Embedded, useEmbedded } from '../../src/db/embedded.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openOwner, type SocketConnection } from '../../src/db/open.ts';
import { readPidFile, stopPostmaster } from '../../src/db/postmaster.ts';
import { openWire, type Wire } from '../client.ts';

/** What `certo demo` remembers of its company. */
export interface SimCompany {
  readonly id: string;
  readonly taxpayerNumber: string;
  readonly apiKey: string;
  readonly cae: readonly string[];
  readonly customers: readonly string[];
  readonly items: Readonly<Record<string, string>>;
}

/** A process of the service. */
export interface Running {
  readonly pid: number;
  readonly port: number;
  readonly wire: Wire;
  /** What it has written so far. */
  said(): string;
  /** Whether it still runs. */
  lives(): boolean;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; its exit code. */
  end(): Promise<number | null>;
}

export interface Ground {
  /** The data folder. */
  readonly directory: string;
  readonly connection: SocketConnection;
  /** Sees and may do everything. */
  readonly owner: Pool;
  /** `certo serve` on the folder; resolves when it answers. */
  serve(options?: ServeOptions): Promise<Running>;
  /** One of the demo's companies, made by the first start. */
  company(letter?: 'A' | 'B' | 'Z'): Promise<SimCompany>;
  /** `certo` with arguments, to its end. */
  run(args: readonly string[]): Promise<{ code: number | null; out: string; err: string }>;
  /** Moves certo.now() by so many milliseconds from real time. */
  shiftClock(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

export interface ServeOptions {
  /** Database as the service reaches it: through a proxy, or beside another process. Default: the folder's own. */
  readonly through?: SocketConnection;
  /** Connections to the database, at most. */
  readonly connections?: number;
  /** More of its environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface GroundOptions {
  /** The database starts with the service, which waits for the disk; without it the harness holds one that does not. */
  readonly ownDatabase?: boolean;
  /** Parent of the data folder. */
  readonly within?: string;
}

const grounds = new Set<Ground>();

/** Ends every process and removes every folder that parts have left. */
export async function closeGrounds(): Promise<void> {
  await Promise.all([...grounds].map((ground) => ground.close()));
}

// Beside five other test runs on two cores a demo company was not there after a minute, in five parts of twelve.
const patience_ms = 300_000;
const makes_again_ms = 20_000;

export async function openGround(options: GroundOptions = {}): Promise<Ground> {
  const folder = mkdtempSync(join(options.within ?? realpathSync(tmpdir()), 'certo-sim-'));
  // The database's user has to pass through.
  chmodSync(folder, 0o711);
  const directory = join(folder, 'data');
  const children = new Set<ChildProcess>();
  const held = options.ownDatabase === true ? undefined : await holdDatabase(directory);
  const connection = held?.connection ?? socketIn(directory);
  let owner: Pool | undefined =
    held === undefined ? undefined : await openOwner({ connection, applicationName: 'simulation' });

  function start(args: readonly string[], env: Record<string, string>): ChildProcess {
    const { PATH = '' } = process.env;
    const common = { CERTO_DATA_DIR: directory, CERTO_METRICS_PORT: '0', CERTO_LOG_LEVEL: 'error' };
    const limits = { CERTO_API_KEY_RATE: '0', CERTO_IP_RATE: '0', CERTO_AT_DEADLINE_SECONDS: '1' };
    const child = spawn(process.execPath, [script(), ...args], {
      cwd: folder,
      env: { PATH, ...common, ...limits, ...env },
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  }

  // One for all starts of the service: it finds it running on the folder, and a round is spared its start. An empty
  // folder belongs to whoever makes the database first.
  if (held !== undefined) start(['at-simulator', '--json', '--directory', join(directory, 'simulator')], {});
  const ground: Ground = {
    directory,
    connection,
    get owner() {
      if (owner === undefined) throw new Error('the database of this ground starts with its first service');
      return owner;
    },
    async serve({ through, connections, environment } = {}) {
      const env = {
        PORT: '0',
        ...(through === undefined ? {} : { DATABASE_URL: urlOf(through) }),
        ...(connections === undefined ? {} : { CERTO_DB_CONNECTIONS: String(connections) }),
        ...environment,
      };
      // A port that was free a moment ago may be another one's by the time it is listened on.
      const running = await served(start(['serve'], env)).catch((error: Error) => {
        if (!error.message.includes('is taken by another program')) throw error;
        return served(start(['serve'], env));
      });
      owner ??= await openOwner({
        connection: existsSync(connection.host) ? connection : socketIn(directory),
        applicationName: 'simulation',
      });
      return running;
    },
    company: (letter = 'A') => readCompany(directory, letter, () => ground.run(['demo'])),
    async run(args) {
      const child = start(args, {});
      const heard = listen(child);
      const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
      return { code, ...heard };
    },
    async shiftClock(milliseconds) {
      await ground.owner.query(`update certo.clock set shift = $1 * interval '1 millisecond'`, [milliseconds]);
    },
    async close() {
      if (!grounds.delete(ground)) return;
      for (const child of children) child.kill('SIGKILL');
      await owner?.end().catch(() => undefined);
      await held?.stop();
      const file = await readPidFile(clusterFolder(directory));
      if (file !== undefined) await stopPostmaster(file.pid, clusterFolder(directory), () => undefined);
      await removed(folder);
    },
  };
  grounds.add(ground);
  return ground;
}

async function holdDatabase(directory: string): Promise<Embedded> {
  const held = await useEmbedded({
    dataDirectory: directory,
    uid: process.getuid?.() ?? 0,
    durable: false,
    log: () => undefined,
  });
  await migrate(held);
  return held;
}

const socketIn = (directory: string): SocketConnection => ({
  host: join(directory, 'socket'),
  port: 5432,
  database: 'certo',
  user: 'postgres',
});

function urlOf({ host, port, database, user }: SocketConnection): string {
  return `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
}

/** dist/main.js of the project: this file may stand in a copy inside it. */
function script(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return join(folder, 'dist', 'main.js');
}

async function served(child: ChildProcess): Promise<Running> {
  const heard = listen(child);
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const lives = (): boolean => child.exitCode === null && child.signalCode === null;
  const until = performance.now() + patience_ms;
  let port: number | undefined;
  while (port === undefined) {
    const found = /^Address +\S+:(\d+)$/m.exec(heard.out);
    if (found !== null) port = Number(found[1]);
    else if (!lives() || performance.now() > until)
      throw new Error(`the service did not start:\n${heard.out}\n${heard.err}`);
    else await sleep(10);
  }
  const wire = openWire(port, 1_000);
  return {
    pid: child.pid!,
    port,
    wire,
    said: () => heard.out + heard.err,
    lives,
    async kill() {
      child.kill('SIGKILL');
      await exited;
      wire.close();
    },
    async end() {
      wire.close();
      child.kill('SIGTERM');
      return exited;
    },
  };
}

function listen(child: ChildProcess): { out: string; err: string } {
  const heard = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    heard.out = (heard.out + text).slice(-100_000);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    heard.err = (heard.err + text).slice(-100_000);
  });
  return heard;
}

/** On a busy machine the authority may not answer the first start in time, which then leaves its company to `certo demo`. */
async function readCompany(
  directory: string,
  letter: 'A' | 'B' | 'Z',
  makeIt: () => Promise<unknown>,
): Promise<SimCompany> {
  const until = performance.now() + patience_ms;
  for (let again = performance.now() + makes_again_ms; ; ) {
    const file = join(directory, 'demo.json');
    const demo = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
    const company = demo?.companies?.[letter] as SimCompany | undefined;
    if (company !== undefined) return company;
    if (performance.now() > until) throw new Error(`there is no demo company ${letter}`);
    if (performance.now() > again) {
      await makeIt();
      again = performance.now() + makes_again_ms / 2;
    } else await sleep(50);
  }
}

/** Processes that were just killed may still be writing into it. */
async function removed(folder: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (attempt === 20) throw error;
      await sleep(100);
    }
  }
}
