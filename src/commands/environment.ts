/** `certo help environment`: every variable with its meaning and default; the README has the same as a table. */
import { type Variable, variables } from '../config.ts';
import { exit } from './exit.ts';
import { type Common, type Outside, tell, tellJson } from './outside.ts';

/** What a terminal shows of a line without folding it. */
const width = 80;

/** For people a paragraph each; with `--json` a list. */
export function environment(outside: Outside, options: Common): Promise<number> {
  const rows = Object.entries<Variable>(variables).map(([name, { schema, defaultText, description }]) => ({
    name,
    default: String(schema.default ?? defaultText ?? ''),
    description,
  }));
  if (options.json === true) tellJson(outside, rows);
  else tell(outside, rows.map(paragraph).join('\n\n'));
  return Promise.resolve(exit.ok);
}

function paragraph(row: { name: string; default: string; description: string }): string {
  const meaning = folded(row.description, width - 2);
  const otherwise = row.default === '' ? [] : folded(`Default: ${row.default}`, width - 2);
  return [row.name, ...[...meaning, ...otherwise].map((line) => `  ${line}`)].join('\n');
}

/** Lines of at most so many characters, broken between words. */
function folded(text: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > most) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
