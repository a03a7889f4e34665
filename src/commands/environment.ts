/** `certo help environment`: every variable with its meaning and default, as the README has it. */
import { type Variable, variables } from '../config.ts';
import { exit } from './exit.ts';
import { type Common, type Outside, tell, tellJson } from './outside.ts';

/** A Markdown table, which the README holds letter by letter; with `--json` a list. */
export function environment(outside: Outside, options: Common): Promise<number> {
  const rows = Object.entries<Variable>(variables).map(([name, { schema, defaultText, description }]) => ({
    name,
    default: String(schema.default ?? defaultText ?? ''),
    description,
  }));
  if (options.json === true) tellJson(outside, rows);
  else tell(outside, markdown(rows));
  return Promise.resolve(exit.ok);
}

/** A Markdown table, readable as it is: the README holds the same text. */
function markdown(rows: readonly { name: string; default: string; description: string }[]): string {
  const cells = rows.map((row) => [`\`${row.name}\``, row.default, row.description.replaceAll('|', '\\|')]);
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...cells.map((row) => `| ${row.join(' | ')} |`)].join(
    '\n',
  );
}
