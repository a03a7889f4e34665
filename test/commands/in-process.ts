/** A command line in the test's own process, as main.ts runs it, on a database and a folder of the test's. */
import { join } from 'node:path';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { endingOf } from '../../src/commands/exit.ts';
import { inSigns, type Outside } from '../../src/commands/outside.ts';
import { runCommandLine } from '../../src/commands/program.ts';
import type { TestDatabase } from '../database.ts';
import { script } from './built.ts';
import { type CommandLine, urlOf } from './command-line.ts';

/** Where it stands: the data folder is in `folder`, which is also its working directory. */
export interface Ground {
  readonly database: Pick<TestDatabase, 'connection'>;
  readonly folder: string;
}

export interface More {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: AsyncIterable<Uint8Array> | string;
  /** Instead of what is collected into `out`. */
  readonly stdout?: Writable;
}

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * The same command line, but its commands run in the test's process. For what commands do and say: to start a program
 * takes most of a second, what it does some milliseconds. What a process has of its own (exit codes that arrive, signals,
 * its streams, what it leaves running) is tested by programs.
 */
export function inside(line: CommandLine): CommandLine {
  return {
    ...line,
    async run(args, env = {}, input = '') {
      const ended = await runIn(line.folder('.'), args, { env, input });
      return { ...ended, json: () => JSON.parse(ended.out) };
    },
  };
}

export function runInProcess(ground: Ground, args: readonly string[], more: More = {}): Promise<Ended> {
  const env = { DATABASE_URL: urlOf(ground.database.connection), CERTO_DATA_DIR: join(ground.folder, 'data') };
  return runIn(ground.folder, args, { ...more, env: { ...env, ...more.env } });
}

async function runIn(cwd: string, args: readonly string[], { env = {}, input = '', ...more }: More): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  // Read as they are written: a command that writes much waits for its reader.
  const [out, err] = [textOf(stdout), textOf(stderr)];
  const ends: (() => Promise<unknown>)[] = [];
  const outside: Outside = {
    env,
    cwd,
    uid: 1,
    pid: 1,
    node: process.execPath,
    script,
    stdin: Readable.from(typeof input === 'string' ? [Buffer.from(input)] : input),
    stdout: more.stdout ?? stdout,
    stderr,
    atEnd: (work) => void ends.push(work),
    serves: () => undefined,
    end: () => undefined,
  };
  let code: number;
  try {
    code = await runCommandLine(outside, args);
  } catch (error) {
    const ending = endingOf(error);
    code = ending.code;
    for (const line of ending.lines) stderr.write(`certo: ${inSigns(line)}\n`);
  }
  for (const end of ends.reverse()) await end();
  stdout.end();
  stderr.end();
  return { code, out: await out, err: await err };
}

async function textOf(stream: PassThrough): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
