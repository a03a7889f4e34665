// What the command line asks for.
import { parseArgs } from 'node:util';

export const help = `npm run bench -- [rows] [options]

  rows           rows whose name begins so, e.g. "issue pdf"; all without any
  --rounds N     rounds of each comparison, 1 to 20 (default 3); medians are told
  --quick        one short round, to see that everything runs: its figures are worth nothing
  --list         names and titles of the rows
  --help         this

Ends with 0, with 1 when a floor is missed or a row failed, with 2 when it was asked for what there is not.
Figures go to artifacts/bench.json. A run of all rows that is not quick writes its charts and table to docs/performance,
any other to artifacts/performance.
`;

/** What was typed can't be done; the message says why. */
export class Unusable extends Error {}

/** { help } | { list } | { names, rounds, quick, whole }. Throws Unusable. */
export function readAsked(argv, rowNames) {
  const { values, positionals } = parse(argv);
  if (values.help) return { help: true };
  if (values.list) return { list: true };
  const unknown = positionals.filter((start) => !rowNames.some((name) => name.startsWith(start)));
  if (unknown.length > 0) {
    throw new Unusable(`there is no row that begins with ${unknown.join(' or ')}. There are: ${rowNames.join(', ')}`);
  }
  const names = rowNames.filter(
    (name) => positionals.length === 0 || positionals.some((start) => name.startsWith(start)),
  );
  if (values.quick && values.rounds !== undefined) throw new Unusable('--quick is one round: leave --rounds out');
  const quick = values.quick ?? false;
  const rounds = quick ? 1 : roundsOf(values.rounds ?? '3');
  return { names, rounds, quick, whole: names.length === rowNames.length };
}

function parse(argv) {
  const options = {
    rounds: { type: 'string' },
    quick: { type: 'boolean' },
    list: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  };
  try {
    return parseArgs({ args: argv, options, allowPositionals: true });
  } catch (error) {
    throw new Unusable(error.message);
  }
}

function roundsOf(text) {
  if (!/^\d{1,2}$/.test(text) || Number(text) < 1 || Number(text) > 20) {
    throw new Unusable(`--rounds is a whole number from 1 to 20, not "${text}"`);
  }
  return Number(text);
}
