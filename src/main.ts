#!/usr/bin/env node
/** The command line. The only file that touches `process`: everything else gets what it needs handed in. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { endingOf, exit } from './commands/exit.ts';
import { hasLeft, isReaderGone, outputLost, outputOf } from './commands/output.ts';
import { inSigns, type Outside } from './commands/outside.ts';
import { setV8ForService } from './commands/v8.ts';

const atEnd: (() => Promise<unknown>)[] = [];
const longest_end_ms = 20_000;
let ending: Promise<never> | undefined;
let serving = false;
const stdout = outputOf(1, process.stdout);
let unwritten: NodeJS.ErrnoException | undefined;

const outside: Outside = {
  env: process.env,
  // Asked for when it is needed: the folder may be gone.
  get cwd() {
    return process.cwd();
  },
  uid: process.getuid?.() ?? 1,
  pid: process.pid,
  node: process.execPath,
  script: fileURLToPath(import.meta.url),
  stdin: process.stdin,
  stdout,
  stderr: process.stderr,
  atEnd: (work) => void atEnd.push(work),
  serves: () => {
    serving = true;
    watchParent();
  },
  end: (code) => void end(code),
};

/** Undoes what was opened, the latest first, and ends. Asked twice (npm passes Ctrl-C on once more), it goes on. */
function end(code: number): Promise<never> {
  ending ??= (async () => {
    setTimeout(() => {
      process.stderr.write('certo: not everything could be closed in time\n');
      process.exit(code || exit.environment);
    }, longest_end_ms).unref();
    for (let work = atEnd.pop(); work !== undefined; work = atEnd.pop()) {
      await work().catch((error) => complain(error));
    }
    return process.exit(code);
  })();
  return ending;
}

/** `npm start` passes a signal on to its shell, which dies of it and tells nobody: who lost that parent ends as well. */
function watchParent(): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && void end(exit.ok), 500).unref();
}

function complain(error: unknown): number {
  const { code, lines } = endingOf(error);
  for (const line of lines) process.stderr.write(`certo: ${inSigns(line)}\n`);
  return code;
}

/** An answer that nobody got is none, unless whoever asked has gone. */
async function answered(code: number): Promise<number> {
  await hasLeft(stdout);
  return unwritten === undefined || code > exit.no ? code : complain(outputLost(unwritten));
}

stdout.on('error', (error) => {
  if (!isReaderGone(error)) unwritten ??= error;
});
// A service goes on without its terminal.
process.stderr.on('error', () => undefined);

for (const [signal, number] of [
  // The terminal has gone.
  ['SIGHUP', 1],
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const) {
  const isIgnored = signal === 'SIGHUP' && isUnderNohup();
  process.on(signal, () => void (isIgnored || end(serving ? exit.ok : 128 + number)));
}

/**
 * Whoever ignores SIGHUP goes on ignoring it. Node takes back what was ignored before any of our code runs (SigIgn of
 * /proc/self/status has nothing of nohup's), so that nobody can be asked about it but the environment: a shell leaves the
 * program that it has started in `_`, and nohup becomes ours without changing it. Where `_` does not tell, we end in order.
 */
function isUnderNohup(): boolean {
  return /(^|\/)nohup$/.test(process.env['_'] ?? '');
}

// What nobody waits for, Node ends with 1, which says that the answer is no.
process.on('uncaughtException', (error) => process.exit(complain(error)));

// What a library will do otherwise in its next major version is nothing to an operator, and between the lines of the log.
process.noDeprecation = true;

try {
  if (process.argv[2] === 'serve') setV8ForService(process.versions.v8, availableParallelism());
  // Not before: what is in the way of loading it (no file may be opened) is told like anything else.
  const { runCommandLine } = await import('./commands/program.ts');
  await end(await answered(await runCommandLine(outside, process.argv.slice(2))));
} catch (error) {
  // While it is ending, what was closed under a command is no news.
  await end(ending === undefined ? await answered(complain(error)) : exit.ok);
}
