/** `certo api-key`: made and shown once, listed without secrets, revoked at once. */
import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import type { Db } from '../db/transact.ts';
import { type ApiKeyRow, createApiKey, listApiKeys, revokeApiKey } from '../identity/api-keys.ts';
import { entryOfCompany } from '../identity/principal.ts';
import { CommandError, exit } from './exit.ts';
import { enterHouse, findCompany, needId, type OfCompany, openGuestDb } from './guest.ts';
import { type Outside, remark, tell, tellJson } from './outside.ts';
import { table } from './table.ts';

const longest_name = 100;

export async function create(outside: Outside, options: OfCompany & { name: string }): Promise<number> {
  const { name } = options;
  if (name.trim() === '' || name.length > longest_name) {
    throw new CommandError(exit.usage, `A key's name has 1 to ${longest_name} characters.`);
  }
  const { db, entry } = await enterCompany(outside, options);
  const id = uuidv7();
  const key = await db.transact(entry, (tx) => createApiKey(tx, { id, name, random: randomBytes(32) }));
  return showOnce(outside, options, id, key);
}

export async function list(outside: Outside, options: OfCompany): Promise<number> {
  const { db, entry } = await enterCompany(outside, options);
  const keys = await listApiKeys(db.read(entry));
  if (options.json === true) tellJson(outside, keys.map(shown));
  else {
    const rows = keys.map((key) => [
      key.name,
      `${key.prefix}…`,
      key.created_at.toISOString().slice(0, 10),
      key.revoked_at === null ? 'active' : `revoked ${key.revoked_at.toISOString().slice(0, 10)}`,
      key.id,
    ]);
    tell(outside, table(['Name', 'Key', 'Made', 'State', 'Id'], rows, 'The company has no API key.'));
  }
  return exit.ok;
}

export async function revoke(outside: Outside, options: OfCompany, keyId: string): Promise<number> {
  const id = needId(keyId, 'an API key');
  const { db, entry } = await enterCompany(outside, options);
  if (!(await db.transact(entry, (tx) => revokeApiKey(tx, id)))) throw noSuchKey();
  if (options.json === true) tellJson(outside, { id, revoked: true });
  else tell(outside, 'The key is revoked: the next request with it is refused.');
  return exit.ok;
}

/** A new key of the same lineage: idempotency keys used with the old one still count. */
export async function rotate(outside: Outside, options: OfCompany, keyId: string): Promise<number> {
  const old = needId(keyId, 'an API key');
  const { db, entry } = await enterCompany(outside, options);
  const id = uuidv7();
  const key = await db.transact(entry, async (tx) => {
    const found = (await listApiKeys(tx)).find((row) => row.id === old);
    if (found === undefined || !(await revokeApiKey(tx, old))) throw noSuchKey();
    return createApiKey(tx, { id, name: found.name, lineage: found.lineage, random: randomBytes(32) });
  });
  return showOnce(outside, options, id, key);
}

async function enterCompany(outside: Outside, options: OfCompany) {
  const house = await enterHouse(outside);
  const { id } = await findCompany(house.owner, options.company);
  const db: Db = await openGuestDb(outside, house);
  return { db, entry: entryOfCompany(id, 'operator') };
}

function showOnce(outside: Outside, options: OfCompany, id: string, apiKey: string): number {
  if (options.json === true) tellJson(outside, { id, apiKey });
  else {
    remark(outside, `the key ${id} is shown only now`);
    tell(outside, apiKey);
  }
  return exit.ok;
}

function noSuchKey(): CommandError {
  return new CommandError(exit.no, 'The company has no such active key: see certo api-key list.');
}

function shown(key: ApiKeyRow) {
  const { id, name, prefix, created_at, revoked_at } = key;
  return { id, name, prefix, createdAt: created_at.toISOString(), revokedAt: revoked_at?.toISOString() ?? null };
}
