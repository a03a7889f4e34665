// The table, and what a figure is worth against its bounds.

/** A bound is `{ least }` (the figure must not be below) or `{ most }` (not above). */
const holds = (value, bound) =>
  bound === undefined || (value >= (bound.least ?? -Infinity) && value <= (bound.most ?? Infinity));

/**
 * "goal", "floor", "missed", or "told" where there is no bound. "failed" when measuring ended with an error, "absent" when
 * something it needs is not on this machine. Broken books miss any bound.
 */
export function verdictOf({ value, floor, goal, broken, failed }) {
  if (failed !== undefined) return 'failed';
  if (broken !== undefined) return 'missed';
  if (value === undefined) return 'absent';
  if (floor === undefined && goal === undefined) return 'told';
  if (!holds(value, floor)) return 'missed';
  return holds(value, goal) ? 'goal' : 'floor';
}

/** A run with such a row ends with 1. */
export const isBad = ({ verdict }) => verdict === 'missed' || verdict === 'failed';

const figure = (value) => {
  if (value === undefined) return '–';
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
};
const boundWords = (bound) =>
  bound === undefined ? '' : bound.least === undefined ? `≤ ${bound.most}` : `≥ ${bound.least}`;
const wordsOf = (row) => row.failed ?? row.details?.words ?? '';

export function machineWords({ processor, cores, memory_mib, system, node, load }) {
  const busy = load > idle_load ? `, busy with other work (load ${load.toFixed(1)} at the start)` : '';
  return `${processor}, ${cores} cores, ${memory_mib} MiB, ${system}, Node ${node}${busy}`;
}

/** Processes that ran on average in the minute before: more than this is other work. */
export const idle_load = 0.5;

const headings = ['', 'figure', 'unit', 'floor', 'goal', 'verdict', ''];
const cellsOf = (row) => [
  row.title,
  figure(row.value),
  row.unit,
  boundWords(row.floor),
  boundWords(row.goal),
  row.verdict,
  wordsOf(row),
];

/** The table for a terminal. */
export function tableOf(rows) {
  const cells = [headings, ...rows.map(cellsOf)];
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => (column === 1 ? cell.padStart(widths[column]) : cell.padEnd(widths[column])))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The page of a run: the day and the machine, its charts (title by file name), and the table behind them. */
export function markdownOf({ at, version, machine, rounds, rows }, charts) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    '# Figures of one run',
    '',
    `Written by \`npm run bench\`; what the rows mean stands in [performance.md](../performance.md).`,
    '',
    `${at.slice(0, 10)}, version ${version}, ${rounds} rounds. ${machineWords(machine)}.`,
    '',
    ...Object.entries(charts).flatMap(([file, title]) => [`![${title}](${file})`, '']),
    line(headings),
    '|---|--:|---|---|---|---|---|',
    ...rows.map((row) => line(cellsOf(row))),
    '',
  ].join('\n');
}
