// Measures what docs/performance.md promises: one file per row in rows/, a table here, the figures in artifacts/bench.json.
// `npm run bench -- --help` says how it is asked.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { help, readAsked, Unusable } from './parts/asked.mjs';
import { publish } from './parts/charts.mjs';
import { idle_load, isBad, machineWords, tableOf, verdictOf } from './parts/report.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const rowNames = readdirSync(at('rows'))
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -4))
  .sort();

try {
  process.exitCode = await main(readAsked(process.argv.slice(2), rowNames));
} catch (error) {
  if (!(error instanceof Unusable)) throw error;
  console.error(`bench: ${error.message}`);
  process.exitCode = 2;
}

async function main(asked) {
  if (asked.help) {
    process.stdout.write(help);
    return 0;
  }
  if (!existsSync(at('../dist/main.js'))) throw new Unusable('the program is not built: npm run build');
  const all = await Promise.all(rowNames.map(async (name) => ({ name, ...(await import(`./rows/${name}.mjs`)) })));
  if (asked.list) {
    for (const { name, title } of all) console.log(`${name.padEnd(18)}${title}`);
    return 0;
  }
  const machine = describeMachine();
  console.log(`${machineWords(machine)}\n`);
  if (machine.load > idle_load) console.error('bench: this machine does other work: figures are not worth much\n');
  const rows = await measureRows(
    all.filter(({ name }) => asked.names.includes(name)),
    asked,
  );
  return report({ at: new Date().toISOString(), version: version(), machine, ...asked, rows });
}

async function measureRows(wanted, { rounds, quick }) {
  const { closeAll, openBench } = await import('./parts/service.mjs');
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      console.error('\nbench: ending what was started');
      closeAll().finally(() => process.exit(130));
    });
  }
  const bench = openBench();
  const rows = [];
  try {
    // What is told of the others' traces comes last.
    for (const row of [...wanted.filter(({ last }) => !last), ...wanted.filter(({ last }) => last)]) {
      rows.push(await measureRow(row, { bench, rounds, quick }));
    }
  } finally {
    await closeAll();
  }
  return rows;
}

async function measureRow({ name, title, unit, floor, goal, measure }, tools) {
  const terminal = process.stderr.isTTY;
  const say = (text) => terminal && process.stderr.write(`\r\x1b[K${title}: ${text}`);
  if (terminal) say('…');
  else console.error(`${name} …`);
  const started = performance.now();
  const measured = await measure({ ...tools, say }).catch((error) => ({ failed: error.message }));
  if (terminal) process.stderr.write('\r\x1b[K');
  const row = { name, title, unit, floor, goal, ...measured, seconds: (performance.now() - started) / 1000 };
  if (row.failed !== undefined) console.error(`bench: ${name} FAILED: ${row.failed}`);
  if (row.broken !== undefined)
    console.error(`bench: ${name}: THE BOOKS ARE BROKEN, the run counts as zero: ${row.broken}`);
  return { ...row, verdict: verdictOf(row) };
}

function report({ whole, quick, names: _names, ...told }) {
  console.log(tableOf(told.rows));
  mkdirSync(at('../artifacts'), { recursive: true });
  writeFileSync(at('../artifacts/bench.json'), `${JSON.stringify({ ...told, quick }, null, 2)}\n`);
  const folder = whole && !quick ? 'docs/performance' : 'artifacts/performance';
  publish(told, at(`../${folder}`));
  const note = quick ? ' Quick: the figures are worth nothing.' : '';
  console.log(`\nFigures: artifacts/bench.json; charts: ${folder}.${note}`);
  return told.rows.some(isBad) ? 1 : 0;
}

function describeMachine() {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memory_mib: Math.round(totalmem() / 2 ** 20),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    load: loadavg()[0],
  };
}

function version() {
  return JSON.parse(readFileSync(at('../package.json'), 'utf8')).version;
}
