/** What the service says when it starts, for people and as JSON. */
import type { AtMode } from '../at/gateway.ts';
import type { Config } from '../config.ts';
import type { Demo, DemoCompany } from './demo-file.ts';
import { pairs } from './table.ts';

export interface Said {
  readonly words: string;
  readonly facts: Record<string, unknown>;
}

/** The first line. */
export function whereTheDataIs(config: Config, directory: string): Said {
  const embedded = config.databaseUrl === undefined;
  return {
    words: embedded
      ? `Data        ${directory} (embedded PostgreSQL)`
      : `Data        PostgreSQL at DATABASE_URL; keys and files in ${directory}`,
    facts: { data: directory, database: embedded ? 'embedded' : 'DATABASE_URL' },
  };
}

const modeWords: Readonly<Record<AtMode, string>> = {
  simulator: 'simulator: documents have no fiscal value',
  test: "the AT's test environment: documents have no fiscal value",
  production: 'PRODUCTION: documents are real',
};

/**
 * `metricsPort` undefined: there are no figures. `local`: where this machine reaches the service, which a proxy before it has
 * to know. `control` null: it is no simulator, or its control address is not known.
 */
export function describeService(service: {
  readonly atMode: AtMode;
  readonly metricsPort: number | undefined;
  readonly baseUrl: string;
  readonly local: string;
  readonly control: string | null;
}): Said {
  const { atMode, metricsPort, baseUrl, local, control } = service;
  const metrics = metricsPort === undefined ? null : `http://127.0.0.1:${metricsPort}/metrics`;
  const rows: [string, string][] = [
    ['Address', baseUrl],
    ...(local === baseUrl ? [] : [['Listening', local] satisfies [string, string]]),
    ['Reference', `${baseUrl}/docs`],
    ['Authority', modeWords[atMode]],
  ];
  if (control !== null) rows.push(['Simulator', control]);
  if (metrics !== null) rows.push(['Metrics', metrics]);
  return {
    // The width of "Authority" and of the first line's "Data".
    words: pairs(rows.map(([name, value]) => [name.padEnd(10), value])),
    facts: { baseUrl, local, docs: `${baseUrl}/docs`, atMode, simulator: { control }, metrics },
  };
}

/** The demo company with its key and lines to paste into a shell. */
export function describeDemo(made: Demo, baseUrl: string): Said {
  const company = made.companies.A!;
  const lines = issueLines(company, baseUrl);
  const words = [
    '',
    `A demo company was made, ready to issue: ${company.name}, NIF ${company.taxpayerNumber}.`,
    'Its API key, shown only this once:',
    '',
    `  ${company.apiKey}`,
    '',
    'Issue an invoice (paste all of it):',
    '',
    ...lines.map((line) => `  ${line}`),
    '',
    'More companies, and all ids: certo demo',
  ];
  return { words: words.join('\n'), facts: { demo: company, issue: lines } };
}

export const noCompany: Said = {
  words: '\nThere is no company yet: certo company create --help',
  facts: { companies: 0 },
};

/** Shell lines that make a draft and issue it; they need curl and node. */
export function issueLines(company: DemoCompany, baseUrl: string): string[] {
  const draft = {
    type: 'INVOICE',
    cae: company.cae[0],
    customerId: company.customers[0],
    items: [{ id: company.items.NORMAL, quantity: 2 }],
  };
  const post = `curl -sS -H "x-api-key: $key" -H 'content-type: application/json' ${baseUrl}/invoices`;
  const member = (name: string): string => `$(node -p 'JSON.parse(process.argv[1]).${name}' "$draft")`;
  return [
    `key=${company.apiKey}`,
    `draft=$(${post} -d '${JSON.stringify(draft)}')`,
    `${post}/${member('id')}/issue -d "{\\"expectedUpdatedAt\\":\\"${member('updatedAt')}\\"}"`,
  ];
}
