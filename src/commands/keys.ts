/** `certo keys`: the versions of the key that signs documents. */
import { open, rm } from 'node:fs/promises';
import { addSigningKey, listSigningKeys, type SigningKey, SigningKeyKnown } from '../keys/signing-keys.ts';
import { CommandError, exit } from './exit.ts';
import { checkPlace, readGiven, secret } from './given-file.ts';
import { enterHouse } from './guest.ts';
import { bindMode } from './installation.ts';
import { masterKeyFile, openMasterKey } from './master-key.ts';
import { type Common, type Outside, tell, tellJson } from './outside.ts';
import { table } from './table.ts';

/** Version, origin and day of each, from the first one. */
export async function list(outside: Outside, options: Common): Promise<number> {
  const { owner } = await enterHouse(outside);
  const keys = await listSigningKeys(owner);
  if (options.json === true) tellJson(outside, keys.map(shown));
  else {
    const rows = keys.map((key) => [key.version, key.origin, key.createdAt.toISOString().slice(0, 10)]);
    tell(outside, table(['Version', 'Origin', 'Made'], rows, 'There is no signing key yet.'));
  }
  return exit.ok;
}

/** The public half as PEM, of the newest version unless another is asked for; a file to write must not be there yet. */
export async function exportKey(
  outside: Outside,
  options: Common & { out?: string; keyVersion?: number },
): Promise<number> {
  const { owner } = await enterHouse(outside);
  const keys = await listSigningKeys(owner);
  const wanted = options.keyVersion ?? keys.at(-1)?.version;
  const key = keys.find(({ version }) => version === wanted);
  if (key === undefined) throw new CommandError(exit.no, 'There is no such signing key: see certo keys list.');
  if (options.out !== undefined) {
    await writeNew(options.out, key.publicPem);
  }
  if (options.json === true)
    tellJson(outside, { ...shown(key), publicPem: key.publicPem, ...(options.out && { out: options.out }) });
  else
    tell(outside, options.out === undefined ? key.publicPem.trimEnd() : `Version ${key.version} is in ${options.out}.`);
  return exit.ok;
}

/** A file that was not there; on a full disk nothing of it is left. */
async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx').catch(async (error: unknown) => {
    await checkPlace(path);
    throw error;
  });
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** Makes a private key (PEM without passphrase) the newest version. Ends with 1 when it is known already. */
export async function importKey(outside: Outside, options: Common, file: string): Promise<number> {
  const pem = (await readGiven(file, secret)).toString('utf8');
  const house = await enterHouse(outside);
  const { config, owner, directory } = house;
  await bindMode(owner, config.atMode);
  const master = await openMasterKey(masterKeyFile(config.masterKeyFile, directory), owner);
  const key = await addSigningKey(owner, master, pem).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof SigningKeyKnown) throw new CommandError(exit.no, `${file} holds ${error.message}.`);
    if (/^[0-9A-Z]{5}$/.test(error.code ?? '')) throw error;
    // Node's own words on a PEM it can't read help nobody, and ours on the length do.
    const why = error.message.startsWith('the signing key')
      ? error.message
      : 'it is not a private key in PEM without passphrase';
    throw new CommandError(exit.usage, `${file} cannot be imported: ${why}.`);
  });
  return tellNew(outside, options, key);
}

/** Makes a new version with a generated key; not in production, where the AT has to know the key first. */
export async function rotate(outside: Outside, options: Common): Promise<number> {
  const { config, owner, directory } = await enterHouse(outside);
  if (config.atMode === 'production') {
    throw new CommandError(
      exit.usage,
      'A generated key cannot sign in production: make one, declare it to the AT and import it (certo keys import).',
    );
  }
  await bindMode(owner, config.atMode);
  const master = await openMasterKey(masterKeyFile(config.masterKeyFile, directory), owner);
  return tellNew(outside, options, await addSigningKey(owner, master));
}

function tellNew(outside: Outside, options: Common, key: SigningKey): number {
  if (options.json === true) tellJson(outside, shown(key));
  else tell(outside, `Version ${key.version} is the signing key: running services take it with their next document.`);
  return exit.ok;
}

function shown(key: SigningKey) {
  const { version, origin, createdAt } = key;
  return { version, origin, createdAt: createdAt.toISOString() };
}
