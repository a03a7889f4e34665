/** What commands on companies share: the house entered as a guest, and the company that was named. */
import type { Pool } from 'pg';
import { type Config, readConfig } from '../config.ts';
import { openDb } from '../db/open.ts';
import type { Db } from '../db/transact.ts';
import { isUuid } from '../fiscal/identifiers.ts';
import { Refusal } from '../fiscal/refusal.ts';
import { CommandError, exit } from './exit.ts';
import { dataDirectory, type House, openHouse } from './house.ts';
import { type Common, type Outside, remark } from './outside.ts';

export interface OfCompany extends Common {
  readonly company: string;
}

/** `anyVersion`: for a command that works also with the tables of an earlier version. */
export async function enterHouse(outside: Outside, anyVersion = false): Promise<House & { readonly config: Config }> {
  const config = readConfig(outside.env);
  const directory = await dataDirectory(outside, config);
  return openHouse(outside, config, directory, { as: 'guest', anyVersion, log: (line) => remark(outside, line) });
}

/** A small pool of the service's role, closed when the process ends. */
export async function openGuestDb(outside: Outside, house: House): Promise<Db> {
  const db = await openDb({ ...house.target, max: 4, applicationName: 'certo command' });
  outside.atEnd(() => db.close());
  return db;
}

export interface NamedCompany {
  readonly id: string;
  readonly name: string;
  readonly nif: string;
}

/** A company by its id or NIF. Throws COMPANY_NOT_FOUND. */
export async function findCompany(owner: Pool, idOrNif: string): Promise<NamedCompany> {
  const byNif = /^\d{9}$/.test(idOrNif);
  if (!byNif && !isUuid(idOrNif)) {
    throw new CommandError(exit.usage, `"${idOrNif}" is neither the id nor the NIF of a company.`);
  }
  const { rows } = await owner.query<NamedCompany>(
    `select id, name, taxpayer_number as nif from certo.companies where ${byNif ? 'taxpayer_number = $1' : 'id = $1::uuid'}`,
    [idOrNif],
  );
  if (rows[0] === undefined) throw new Refusal('COMPANY_NOT_FOUND');
  return rows[0];
}

/** Throws CommandError when the text can't be an id. */
export function needId(text: string, what: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new CommandError(
    exit.usage,
    `"${text}" is not the id of ${what}: it has the form of 0197a5c2-0000-7000-8000-000000000000.`,
  );
}
