/** Starts the built program as a user would, in folders of its own, and leaves no process behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { clusterFolder } from '../../src/db/cluster.ts';
import type { SocketConnection } from '../../src/db/open.ts';
import { readPidFile, stopPostmaster } from '../../src/db/postmaster.ts';
import { ensureBuilt, script } from './built.ts';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** `out` as one JSON value. */
  json<T>(): T;
}

export interface Service {
  readonly pid: number;
  readonly baseUrl: string;
  /** Everything it has said so far. */
  out(): string;
  err(): string;
  /** Resolves when standard output has the text. */
  says(text: RegExp): Promise<RegExpExecArray>;
  /** SIGTERM by default; the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface CommandLine {
  /** A folder whose name is new; nothing is in it yet. */
  folder(name: string): string;
  run(args: readonly string[], env?: Environment, input?: string): Promise<Ended>;
  serve(env: Environment): Promise<Service>;
  /** The simulated AT of a data folder. Commands use the one that runs; else each starts its own, a process more. */
  simulator(env: Environment): Promise<void>;
  /** Ends what still runs, and removes the folders. */
  close(): Promise<void>;
}

export type Environment = Readonly<Record<string, string>>;

/** What a command says with `--json`; it has to pass without a word on standard error. */
export async function jsonOf<T>(
  line: CommandLine,
  env: Environment,
  args: readonly string[],
  input?: string,
): Promise<T> {
  const ended = await line.run([...args, '--json'], env, input);
  expect([ended.err, ended.code]).toEqual(['', 0]);
  return ended.json<T>();
}

// Of a program that starts a database in a second or two on a machine of its own.
const patience_ms = 120_000;

export async function openCommandLine(): Promise<CommandLine> {
  await ensureBuilt();
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'certo-commands-'));
  // The database's user has to pass through.
  chmodSync(root, 0o711);
  const children = new Set<ChildProcess>();

  function start(args: readonly string[], env: Environment): ChildProcess {
    const child = spawn(process.execPath, [script, ...args], {
      cwd: root,
      // Nothing of the runner's environment but the way to programs.
      env: { PATH: process.env['PATH'], CERTO_METRICS_PORT: '0', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    child.stdin?.on('error', () => undefined);
    return child;
  }

  return {
    folder: (name) => join(root, name),
    run: (args, env = {}, input) => ended(start(args, env), input),
    serve: (env) => served(start(['serve'], { PORT: '0', ...env })),
    async simulator(env) {
      await heardFrom(start(['at-simulator', '--json'], env));
    },
    async close() {
      for (const child of children) child.kill('SIGKILL');
      for (const name of readdirSync(root)) {
        const cluster = clusterFolder(join(root, name));
        const file = await readPidFile(cluster);
        if (file !== undefined) await stopPostmaster(file.pid, cluster, () => undefined);
      }
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function ended(child: ChildProcess, input = ''): Promise<Ended> {
  const heard = listen(child);
  child.stdin?.end(input);
  const late = setTimeout(() => child.kill('SIGKILL'), patience_ms);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(late);
  const { out, err } = heard;
  return { code, out, err, json: () => JSON.parse(out) };
}

/** Resolves with its first word on standard output. */
async function heardFrom(child: ChildProcess): Promise<void> {
  const heard = listen(child);
  await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]);
  if (heard.out === '') throw new Error(`it said nothing\n${heard.err}`);
}

async function served(child: ChildProcess): Promise<Service> {
  const heard = listen(child);
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const says = async (text: RegExp): Promise<RegExpExecArray> => {
    for (let waited = 0; waited < patience_ms; waited += 10) {
      const found = text.exec(heard.out);
      if (found !== null) return found;
      if (child.exitCode !== null || child.signalCode !== null) break;
      await sleep(10);
    }
    throw new Error(`the service never said ${text}\n${heard.out}\n${heard.err}`);
  };
  const address = await says(/^Address +(\S+)$/m);
  return {
    pid: child.pid!,
    baseUrl: address[1]!,
    out: () => heard.out,
    err: () => heard.err,
    says,
    end(signal = 'SIGTERM') {
      child.kill(signal);
      return exited;
    },
  };
}

function listen(child: ChildProcess): { out: string; err: string } {
  const heard = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    heard.out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    heard.err += text;
  });
  return heard;
}

/** DATABASE_URL of a database behind a unix socket. */
export function urlOf({ host, port, database, user }: SocketConnection): string {
  return `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
}

/** Holds a port of loopback until `release`. */
export async function takenPort(): Promise<{ readonly port: number; release(): void }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { port: typeof address === 'object' ? address!.port : 0, release: () => void server.close() };
}
