// What a run's figures look like: the charts and the table of docs/performance, made of the rows that were measured.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { barChart, distributionChart, readable } from './chart.mjs';
import { markdownOf } from './report.mjs';

const titles = {
  'issue.svg': 'Invoices issued on one series',
  'latency.svg': 'How long an issue takes at 64 in flight',
  'stack.svg': 'Create and issue, beside the usual stack',
};

/** Writes a chart for each group of rows that has figures, and the table behind them. The names of what was written. */
export function publish(report, folder) {
  mkdirSync(folder, { recursive: true });
  const charts = chartsOf(report.rows);
  const shown = Object.fromEntries(Object.keys(charts).map((file) => [file, titles[file]]));
  const files = { ...charts, 'figures.md': markdownOf(report, shown) };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return Object.keys(files);
}

/** SVG by file name. */
export function chartsOf(rows) {
  const figuresOf = (name) => {
    const row = rows.find((one) => one.name === name);
    return row?.value === undefined || row.broken !== undefined ? undefined : { ...row, ...row.details };
  };
  const [issue, stack] = [figuresOf('issue-rsa'), figuresOf('stack-crowd')];
  return {
    ...(issue === undefined ? {} : { 'issue.svg': issueChart(issue), 'latency.svg': latencyChart(issue) }),
    ...(stack === undefined ? {} : { 'stack.svg': stackChart(stack) }),
  };
}

function issueChart({ rsa, sevenTrips, oneStatement, perSecond, floor, goal }) {
  const marks = [
    { value: floor.least * rsa, label: 'floor' },
    { value: goal.least * rsa, label: 'goal' },
  ];
  const bars = [
    { label: 'RSA signatures of one core', value: rsa },
    { label: 'Certo, 64 in flight', value: perSecond[64], own: true, marks },
    { label: 'Certo, 8 in flight', value: perSecond[8], own: true },
    { label: 'Certo, 1 in flight', value: perSecond[1], own: true },
    { label: 'pgbench, one statement', value: oneStatement },
    { label: 'pgbench, seven round trips', value: sevenTrips },
  ];
  return barChart({
    title: titles['issue.svg'],
    subtitle: 'Per second: Certo over HTTP with signature, claim and audit; pgbench with 32 clients, unsigned',
    groups: [{ bars: bars.filter(({ value }) => value !== undefined) }],
  });
}

function latencyChart({ histogram, p50_ms, p99_ms }) {
  return distributionChart({
    title: titles['latency.svg'],
    subtitle: 'Requests by the milliseconds until their answer, all rounds together',
    buckets: histogram,
    marks: [
      { at_ms: p50_ms, label: `half within ${readable(p50_ms)} ms` },
      { at_ms: p99_ms, label: `99 % within ${readable(p99_ms)} ms` },
    ],
  });
}

function stackChart({ certo, stack }) {
  const group = (name, width) => ({
    name,
    bars: [
      { label: 'Certo', value: certo[width], own: true, words: `${readable(certo[width] / stack[width])} ×` },
      { label: 'Express and Sequelize', value: stack[width] },
    ],
  });
  return barChart({
    title: titles['stack.svg'],
    subtitle: 'Invoices per second over HTTP, each a draft and its issue, the same work on both sides',
    groups: [group('One client', 1), group('32 clients', 32)],
  });
}
