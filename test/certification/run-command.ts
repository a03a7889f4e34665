/** A command line on the service's database, in this process, as main.ts runs it. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { endingOf } from '../../src/commands/exit.ts';
import type { Outside } from '../../src/commands/outside.ts';
import { runCommandLine } from '../../src/commands/program.ts';
import { urlOf } from '../commands/command-line.ts';
import type { Service } from '../service.ts';

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function runCommand(service: Service, args: readonly string[]): Promise<Ended> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-command-'));
  const masterKey = join(folder, 'master.key');
  writeFileSync(masterKey, service.masterKeyHex, { mode: 0o600 });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [textOf(stdout), textOf(stderr)];
  const ends: (() => Promise<unknown>)[] = [];
  const outside: Outside = {
    env: {
      DATABASE_URL: urlOf(service.connection),
      CERTO_DATA_DIR: join(folder, 'data'),
      CERTO_MASTER_KEY_FILE: masterKey,
    },
    cwd: folder,
    uid: 1,
    pid: 1,
    node: 'node',
    script: 'main.js',
    stdin: Readable.from([]),
    stdout,
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
    for (const line of ending.lines) stderr.write(`certo: ${line}\n`);
  }
  for (const end of ends.reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
  stdout.end();
  stderr.end();
  return { code, out: await out, err: await err };
}

async function textOf(stream: PassThrough): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
