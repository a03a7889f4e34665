/** The runner of the simulation: plays parts, adds their counts up in a folder, and tells what is still missing. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { closeGrounds } from './ground.ts';
import type { Outcome, Part } from './part.ts';

const usage = `Breaks the service on purpose, again and again, and checks its books after each time.

  npm run sim                                   every part, up to its target
  npm run sim -- --part kill --rounds 20        twenty more rounds of one part
  npm run sim -- --part kill --rounds 1 --seed 7    one round again, from the seed that was printed

  --part NAME     this part; may be given several times
  --rounds N      rounds to play now (what is missing to the target)
  --seed N        where chance begins (by the clock); round i of a run begins at N + i
  --fresh         forget the counts of earlier runs of these parts
  --list          the parts and their targets
  --help          this text

Counts are kept and added up in artifacts/sim/. Ends with 1 when a round broke a rule or a target is not reached; a part
that can't be played on this machine is SKIPPED, and its target is not reached.`;

/** What is kept of a part between runs. */
interface Kept {
  rounds: number;
  counts: Record<string, number>;
  longest: Record<string, number>;
  /** Why the last run could not play it. */
  skipped?: string | undefined;
  violations: string[];
  seconds: number;
  runs: { readonly at: string; readonly seed: number; readonly rounds: number }[];
}

const flags = {
  part: { type: 'string', multiple: true },
  rounds: { type: 'string' },
  seed: { type: 'string' },
  fresh: { type: 'boolean' },
  list: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Exit code: 0 all targets reached, 1 not or a violation, 2 arguments. */
export async function simulate(args: readonly string[], folder: string): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void closeGrounds().finally(() => process.exit(130)));
  return simulateParts(await allParts(), args, folder);
}

/** The same with the parts handed in. */
export async function simulateParts(parts: readonly Part[], args: readonly string[], folder: string): Promise<number> {
  let asked: Asked;
  try {
    asked = readArguments(args, parts);
  } catch (error) {
    console.error(`sim: ${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  if (asked.only === 'help') {
    console.log(usage);
    return 0;
  }
  if (asked.only === 'list') {
    for (const { name, title, unit, target } of parts)
      console.log(`${name.padEnd(16)}${String(target).padStart(7)} ${unit.padEnd(12)}${title}`);
    return 0;
  }
  mkdirSync(folder, { recursive: true });
  if (asked.fresh) for (const { name } of asked.parts) rmSync(fileOf(folder, name), { force: true });
  for (const part of asked.parts) await play(part, asked, folder);
  return report(asked.parts, folder);
}

async function allParts(): Promise<Part[]> {
  const folder = fileURLToPath(new URL('./parts/', import.meta.url));
  const files = readdirSync(folder).filter((name) => /\.(js|ts)$/.test(name));
  const loaded = await Promise.all(
    files.sort().map((name) => import(new URL(`./parts/${name}`, import.meta.url).href) as Promise<{ part: Part }>),
  );
  return loaded.map(({ part }) => part);
}

interface Asked {
  readonly parts: readonly Part[];
  readonly rounds: number | undefined;
  readonly seed: number | undefined;
  readonly fresh: boolean;
  readonly only: 'help' | 'list' | undefined;
}

/** Throws with a sentence for whoever typed it. */
function readArguments(args: readonly string[], parts: readonly Part[]): Asked {
  const { values } = parseArgs({ args: [...args], options: flags });
  const names = new Set(values.part ?? []);
  const strange = [...names].filter((name) => !parts.some((part) => part.name === name));
  if (strange.length > 0) throw new Error(`there is no part ${strange.join(', ')}; see --list`);
  return {
    parts: parts.filter(({ name }) => names.size === 0 || names.has(name)),
    rounds: wholeOf('rounds', values.rounds, 1),
    seed: wholeOf('seed', values.seed, 0),
    fresh: values.fresh === true,
    only: values.help === true ? 'help' : values.list === true ? 'list' : undefined,
  };
}

function wholeOf(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text) || Number(text) < least) throw new Error(`--${name} is a whole number from ${least}`);
  return Number(text);
}

async function play(part: Part, asked: Asked, folder: string): Promise<void> {
  const kept = read(folder, part.name);
  const rounds = asked.rounds ?? part.target - kept.rounds;
  if (rounds <= 0) return;
  const seed = asked.seed ?? Math.floor(Date.now() / 1000) % 1_000_000_000;
  console.log(`${part.name}: ${rounds} ${part.unit} from seed ${seed}`);
  const begun = performance.now();
  const say = (words: string): void => {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${part.name}: ${words}`);
  };
  let outcome: Outcome;
  try {
    outcome = await part.run({ rounds, seed, say });
  } catch (error) {
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
    outcome = { rounds: 0, counts: {}, violations: [`it broke off (seed ${seed}): ${words}`] };
  } finally {
    await closeGrounds();
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }
  kept.rounds += outcome.rounds;
  for (const [name, count] of Object.entries(outcome.counts)) kept.counts[name] = (kept.counts[name] ?? 0) + count;
  for (const [name, value] of Object.entries(outcome.longest ?? {}))
    kept.longest[name] = Math.max(kept.longest[name] ?? 0, value);
  kept.skipped = outcome.skipped;
  kept.violations.push(...outcome.violations);
  kept.seconds += Math.round((performance.now() - begun) / 1000);
  kept.runs.push({ at: new Date().toISOString(), seed, rounds: outcome.rounds });
  writeFileSync(fileOf(folder, part.name), `${JSON.stringify(kept, null, 2)}\n`);
  for (const line of outcome.table ?? []) console.log(line);
  for (const violation of outcome.violations) console.error(`${part.name}: VIOLATION ${violation}`);
}

const fileOf = (folder: string, name: string): string => join(folder, `${name}.json`);

function read(folder: string, name: string): Kept {
  try {
    // Files of earlier versions have no longest.
    const kept = JSON.parse(readFileSync(fileOf(folder, name), 'utf8')) as Omit<Kept, 'longest'> & Partial<Kept>;
    return { ...kept, longest: kept.longest ?? {} };
  } catch {
    return { rounds: 0, counts: {}, longest: {}, violations: [], seconds: 0, runs: [] };
  }
}

/** The table of all parts that were asked for; 1 when something is missing or was broken. */
function report(parts: readonly Part[], folder: string): number {
  let ok = true;
  console.log(`\n${'part'.padEnd(16)}${'done'.padStart(8)} / ${'target'.padEnd(8)}violations  seconds  counts`);
  for (const part of parts) {
    const kept = read(folder, part.name);
    const good = kept.rounds >= part.target && kept.violations.length === 0;
    ok &&= good;
    const counts = [
      ...Object.entries(kept.counts).map(([name, count]) => `${count} ${name}`),
      ...Object.entries(kept.longest).map(([name, value]) => `longest ${value} ${name}`),
    ];
    const missing = kept.skipped === undefined ? 'NOT REACHED' : `SKIPPED: ${kept.skipped}`;
    const figures = `${String(kept.rounds).padStart(8)} / ${String(part.target).padEnd(8)}`;
    const violations = String(kept.violations.length).padStart(10);
    const seconds = String(kept.seconds).padStart(9);
    console.log(
      `${part.name.padEnd(16)}${figures}${violations}${seconds}  ${counts.join(', ')}${good ? '' : `  ${missing}`}`,
    );
  }
  return ok ? 0 : 1;
}
