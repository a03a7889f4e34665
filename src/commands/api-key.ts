/** `certo api-key`: made and shown once, listed without secrets, revoked at once. */
import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import type { Db } from '../db/transact.ts';
import { type ApiKeyRow, createApiKey, listApiKeys, revokeApiKey } from '../identity/api-keys.ts';
import { entryOfCompany } from '../identity/principal.ts';
import { actCall } from '../operations/operator.ts';
import { CommandError, exit } from './exit.ts';
import { checkText } from './given-text.ts';
import { enterHouse, findCompany, needId, type OfCompany, openGuestDb } from './guest.ts';
import { whyNot } from './output.ts';
import { type Outside, remark, show, tell, tellJson } from './outside.ts';
import { table } from './table.ts';

const longest_name = 100;

/** A name has 1 to 100 characters. The key is shown before it is committed: one that nobody saw is not there. */
export async function create(outside: Outside, options: OfCompany & { name: string }): Promise<number> {
  const { name } = options;
  if (name.trim() === '' || name.length > longest_name) {
    throw new CommandError(exit.usage, `A key's name has 1 to ${longest_name} characters.`);
  }
  checkText('--name', name);
  const { db, entry } = await enterCompany(outside, options);
  const id = uuidv7();
  return madeAndShown(outside, options, id, (show) =>
    db.transact(entry, async (tx) => {
      const apiKey = await createApiKey(tx, { id, name, random: randomBytes(32) });
      await tx.batch([actCall('createApiKey', id)]);
      await show(apiKey);
    }),
  );
}

/** Prefix, name and state of each, revoked ones too; never the key. */
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

/** Ends with 1 when the company has no such active key. */
export async function revoke(outside: Outside, options: OfCompany, keyId: string): Promise<number> {
  const id = needId(keyId, 'an API key');
  const { db, entry } = await enterCompany(outside, options);
  await db.transact(entry, async (tx) => {
    if (!(await revokeApiKey(tx, id))) throw noSuchKey();
    await tx.batch([actCall('revokeApiKey', id)]);
  });
  if (options.json === true) tellJson(outside, { id, revoked: true });
  else tell(outside, 'The key is revoked: the next request with it is refused.');
  return exit.ok;
}

/** A new key of the same lineage: idempotency keys used with the old one still count. */
export async function rotate(outside: Outside, options: OfCompany, keyId: string): Promise<number> {
  const old = needId(keyId, 'an API key');
  const { db, entry } = await enterCompany(outside, options);
  const id = uuidv7();
  return madeAndShown(outside, options, id, (show) =>
    db.transact(entry, async (tx) => {
      const found = (await listApiKeys(tx)).find((row) => row.id === old);
      if (found === undefined || !(await revokeApiKey(tx, old))) throw noSuchKey();
      const { name, lineage } = found;
      const apiKey = await createApiKey(tx, { id, name, lineage, random: randomBytes(32) });
      await tx.batch([actCall('rotateApiKey', old)]);
      await show(apiKey);
    }),
  );
}

async function enterCompany(outside: Outside, options: OfCompany) {
  const house = await enterHouse(outside);
  const { id } = await findCompany(house.owner, options.company);
  const db: Db = await openGuestDb(outside, house);
  return { db, entry: entryOfCompany(id, 'operator') };
}

/**
 * Nobody can use a key that was not shown, so it is shown before the commit: else there is none, and the one that it
 * would have replaced holds.
 */
async function madeAndShown(
  outside: Outside,
  options: OfCompany,
  id: string,
  make: (show: (apiKey: string) => Promise<void>) => Promise<void>,
): Promise<number> {
  if (outside.stdout.goesNowhere === true) throw notShown('standard output is closed, or the null device');
  let isShown = false;
  try {
    await make(async (apiKey) => {
      await show(outside, options.json === true ? JSON.stringify({ id, apiKey }) : apiKey).catch((error) => {
        throw notShown(whyNot(error));
      });
      isShown = true;
    });
  } catch (error) {
    if (isShown) remark(outside, `certo api-key list tells whether there is the key ${id} that was just shown`);
    throw error;
  }
  if (options.json !== true) remark(outside, `the key ${id} is shown only now`);
  return exit.ok;
}

function notShown(why: string): CommandError {
  return new CommandError(
    exit.environment,
    `The key could not be shown (${why}), so nothing was changed: run it again.`,
  );
}

function noSuchKey(): CommandError {
  return new CommandError(exit.no, 'The company has no such active key: see certo api-key list.');
}

function shown(key: ApiKeyRow) {
  const { id, name, prefix, created_at, revoked_at } = key;
  return { id, name, prefix, createdAt: created_at.toISOString(), revokedAt: revoked_at?.toISOString() ?? null };
}
