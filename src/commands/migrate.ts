/** `certo migrate`: brings the database to this version; makes the embedded one when there is none. */
import { readConfig } from '../config.ts';
import { exit } from './exit.ts';
import { dataDirectory, openHouse } from './house.ts';
import { type Common, type Outside, remark, tell, tellJson } from './outside.ts';

/** Applies what is missing and names it. */
export async function migrateCommand(outside: Outside, options: Common): Promise<number> {
  const config = readConfig(outside.env);
  const directory = await dataDirectory(outside, config);
  const { migrated } = await openHouse(outside, config, directory, {
    as: 'maker',
    log: (line) => remark(outside, line),
  });
  if (options.json === true) tellJson(outside, { applied: migrated });
  else tell(outside, migrated.length === 0 ? 'The database is up to date.' : `Applied: ${migrated.join(', ')}`);
  return exit.ok;
}
