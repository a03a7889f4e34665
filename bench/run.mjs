// Measures what docs/performance.md promises: one file per row in rows/, a table here, the figures in artifacts/bench.json.
//   npm run bench                 all rows
//   npm run bench -- pdf read     rows whose name begins so
// Ends with 1 when a floor is missed.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { machineWords, printTable, verdictOf } from './parts/report.mjs';
import { closeAll, openBench } from './parts/service.mjs';

const folder = new URL('./rows/', import.meta.url);
const wanted = process.argv.slice(2);
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -4))
  .filter((name) => wanted.length === 0 || wanted.some((start) => name.startsWith(start)))
  .sort();
if (names.length === 0) {
  console.error(`bench: there is no row that begins with ${wanted.join(' or ')}`);
  process.exit(2);
}

const machine = {
  processor: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memory_mib: Math.round(totalmem() / 2 ** 20),
  system: `${platform()} ${release()} ${arch()}`,
  node: process.version,
};
console.log(machineWords(machine));

const bench = openBench();
const rows = [];
try {
  for (const name of names) {
    const { title, unit, floor, goal, measure } = await import(new URL(`${name}.mjs`, folder).href);
    const say = (text) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${title}: ${text}`);
    say('…');
    const started = performance.now();
    const { value, details } = await measure({ bench, say }).catch((error) => {
      throw new Error(`${title}: ${error.message}`, { cause: error });
    });
    const row = { name, title, value, unit, floor, goal, details, seconds: (performance.now() - started) / 1000 };
    rows.push({ ...row, verdict: verdictOf(row) });
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }
} finally {
  await closeAll();
}

printTable(rows);
const artifacts = new URL('../artifacts/', import.meta.url);
mkdirSync(artifacts, { recursive: true });
writeFileSync(
  new URL('bench.json', artifacts),
  `${JSON.stringify({ at: new Date().toISOString(), machine, rows }, null, 2)}\n`,
);
process.exitCode = rows.some(({ verdict }) => verdict === 'missed') ? 1 : 0;
