// The table, and what a figure is worth against its bounds.

/** A bound is `{ least }` (the figure must not be below) or `{ most }` (not above). */
const holds = (value, bound) =>
  bound === undefined || (value >= (bound.least ?? -Infinity) && value <= (bound.most ?? Infinity));

/** "goal", "floor", "missed", or "told" where there is no bound. */
export function verdictOf({ value, floor, goal }) {
  if (floor === undefined && goal === undefined) return 'told';
  if (!holds(value, floor)) return 'missed';
  return holds(value, goal) ? 'goal' : 'floor';
}

const figure = (value) =>
  Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
const boundWords = (bound) =>
  bound === undefined ? '' : bound.least === undefined ? `≤ ${bound.most}` : `≥ ${bound.least}`;

export function machineWords({ processor, cores, memory_mib, system, node }) {
  return `${processor}, ${cores} cores, ${memory_mib} MiB, ${system}, Node ${node}\n`;
}

export function printTable(rows) {
  const cells = [
    ['', 'figure', 'unit', 'floor', 'goal', 'verdict', ''],
    ...rows.map((row) => [
      row.title,
      figure(row.value),
      row.unit,
      boundWords(row.floor),
      boundWords(row.goal),
      row.verdict,
      row.details?.words ?? '',
    ]),
  ];
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  for (const row of cells) {
    const line = row.map((cell, column) =>
      column === 1 ? cell.padStart(widths[column]) : cell.padEnd(widths[column]),
    );
    console.log(line.join('  ').trimEnd());
  }
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
