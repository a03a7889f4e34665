/** `certo demo`: three companies to try things with, made once and printed each time. */
import { join } from 'node:path';
import { readConfig } from '../config.ts';
import { connectAuthority } from './connect-authority.ts';
import { type DemoWorld, ensureDemoCompany } from './demo-company.ts';
import { type Demo, type Letter, letters, readDemo, writeDemo } from './demo-file.ts';
import { CommandError, exit } from './exit.ts';
import { dataDirectory, openHouse } from './house.ts';
import { bindMode } from './installation.ts';
import { openLog } from './logging.ts';
import { masterKeyFile, openMasterKey } from './master-key.ts';
import { openApp } from './open-app.ts';
import { type Common, type Outside, remark, tell, tellJson } from './outside.ts';
import { baseUrlOf, runningBaseUrl } from './running.ts';
import { pairs, table } from './table.ts';

/** Works beside a running service; what is missing of the three companies is made. Only against the simulator. */
export async function demo(outside: Outside, options: Common): Promise<number> {
  const config = readConfig(outside.env);
  if (config.atMode === 'production') {
    throw new CommandError(exit.usage, 'There is no demo in production: its documents would be real ones.');
  }
  if (config.atMode === 'test') {
    throw new CommandError(
      exit.usage,
      "The demo needs the simulator: the AT's test environment knows none of its companies.",
    );
  }
  const say = (line: string): void => remark(outside, line);
  const directory = await dataDirectory(outside, config);
  const house = await openHouse(outside, config, directory, { as: 'maker', log: () => undefined, waits: say });
  await bindMode(house.owner, config.atMode);
  const master = await openMasterKey(masterKeyFile(config.masterKeyFile, house.directory), house.owner);
  const authority = await connectAuthority(outside, house, say);
  const running = await runningBaseUrl(house.directory);
  const expected = running ?? baseUrlOf(config, config.port);
  // With any free port there is no address before the service has one.
  const baseUrl = running === undefined && config.baseUrl === undefined && config.port === 0 ? null : expected;
  const log = openLog('silent', outside.stderr);
  const app = await openApp(outside, house, { at: authority.at, master, baseUrl: expected, log, limited: false });
  const world = { owner: house.owner, http: app.http, series: app.series, simulatorUp: () => authority.up() };
  const made = await ensureDemo(world, house.directory, letters, { baseUrl, control: authority.control });
  if (options.json === true) tellJson(outside, made);
  else tell(outside, describe(made, join(house.directory, 'demo.json')));
  return exit.ok;
}

// One of many possible numbers: one process at a time makes the demo of a database.
const lock_key = '7305809142370414';

/** Makes those of the companies that are missing; remembers each as soon as it is complete. */
export async function ensureDemo(
  world: DemoWorld,
  directory: string,
  wanted: readonly Letter[],
  addresses: { readonly baseUrl: string | null; readonly control: string | null },
): Promise<Demo> {
  const client = await world.owner.connect();
  try {
    await client.query(`select pg_advisory_lock(${lock_key})`);
    const { baseUrl, control } = addresses;
    const known = (await readDemo(directory))?.companies ?? {};
    let made: Demo = { baseUrl, simulator: { control }, companies: known };
    await writeDemo(directory, made);
    for (const letter of wanted) {
      const company = await ensureDemoCompany(world, letter, known[letter]);
      made = { ...made, companies: inOrder({ ...made.companies, [letter]: company }) };
      await writeDemo(directory, made);
    }
    return made;
  } finally {
    await client.query(`select pg_advisory_unlock(${lock_key})`).catch(() => undefined);
    client.release();
  }
}

function inOrder(companies: Demo['companies']): Demo['companies'] {
  return Object.fromEntries(
    letters.flatMap((letter) => (companies[letter] === undefined ? [] : [[letter, companies[letter]]])),
  );
}

function describe(made: Demo, file: string): string {
  const blocks = Object.entries(made.companies).map(([letter, company]) => {
    const head = pairs([
      ['Company', `${letter}  ${company.name}`],
      ['Id', company.id],
      ['NIF', company.taxpayerNumber],
      ['CAE', company.cae.join(', ')],
      ['API key', company.apiKey],
      ['Customers', company.customers.join('  ')],
    ]);
    const series = table(['Series of', 'Id'], Object.entries(company.series), '');
    const items = table(['Item', 'Id'], Object.entries(company.items), '');
    return `${head}\n\n${items}\n\n${series}`;
  });
  const places = pairs([
    ['Service', made.baseUrl ?? '-'],
    ['Simulator', made.simulator.control ?? '-'],
    ['Kept in', file],
  ]);
  return [places, ...blocks].join('\n\n');
}
