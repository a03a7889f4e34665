/** The gateway to the tax authority as configured: files for the real one, the simulator's own for the simulator. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readPem, readPfx } from '../at/client-certificate.ts';
import { type AtGateway, operations } from '../at/gateway.ts';
import { openSoapGateway, type SoapGateway } from '../at/soap-gateway.ts';
import type { TlsMaterial } from '../at/soap-post.ts';
import { readAtPublicKey } from '../at/wsse.ts';
import type { Config } from '../config.ts';
import { CommandError, exit } from './exit.ts';
import { readGiven, secret as secretFile } from './given-file.ts';

/** A gateway that may not be there yet, or is there no more: calls then end as unknown, and are retried. */
export interface LaterGateway extends AtGateway {
  /** Uses this one from now on and closes the one before; undefined: there is none. */
  use(gateway: SoapGateway | undefined): void;
  /** None from now on. */
  hangUp(): void;
}

/** Until `use`, every call ends as unknown with this `problem`, and nothing was sent. */
export function laterGateway(problem: string): LaterGateway {
  let current: SoapGateway | undefined;
  let hungUp = false;
  const unknown = { kind: 'unknown', problem, sent: false } as const;
  const calls = operations.map((operation) => [
    operation,
    (...args: readonly unknown[]) => {
      const call = current?.[operation] as ((...args: readonly unknown[]) => Promise<unknown>) | undefined;
      return call === undefined ? Promise.resolve(unknown) : call(...args);
    },
  ]);
  return {
    ...(Object.fromEntries(calls) as AtGateway),
    use(gateway) {
      current?.close();
      current = hungUp ? undefined : gateway;
    },
    hangUp() {
      hungUp = true;
      this.use(undefined);
    },
  };
}

/** To the AT itself. Throws CommandError when a file is missing, wrong or out of date. */
export async function realGateway(config: Config, warn: (line: string) => void): Promise<SoapGateway> {
  const tls = await clientTls(config, warn);
  const atPublicKey = await cipherKey(config, warn);
  return openSoapGateway({ ...common(config), mode: config.atMode, tls, atPublicKey });
}

/** To a simulator with its files in `directory`/keys; files named in the environment come first. */
export async function simulatorGateway(config: Config, directory: string, url: string): Promise<SoapGateway> {
  const own = (name: string): string => join(directory, 'keys', name);
  const { certificate, certificateKey, publicKey, ca } = config.at;
  if (certificate === undefined && !existsSync(own('client.pem'))) {
    throw new CommandError(
      exit.usage,
      `The simulator at ${url} needs its certificates: set CERTO_AT_CERTIFICATE_FILE, CERTO_AT_CERTIFICATE_KEY_FILE, CERTO_AT_PUBLIC_KEY_FILE and CERTO_AT_CA_FILE to files of its folder keys.`,
    );
  }
  const [certPem, keyPem, caPem, atKey] = await Promise.all([
    textOf(certificate ?? own('client.pem')),
    textOf(certificateKey ?? certificate ?? own('client.key')),
    textOf(ca ?? own('ca.pem')),
    readGiven(publicKey ?? own('at-public.pem'), secretFile),
  ]);
  return openSoapGateway({
    ...common(config),
    mode: 'simulator',
    simulatorUrl: url,
    tls: { certPem, keyPem, caPem },
    atPublicKey: readAtPublicKey(atKey).key,
  });
}

async function textOf(path: string): Promise<string> {
  return (await readGiven(path, secretFile)).toString('utf8');
}

function common(config: Config) {
  return { now: () => new Date(), randomBytes, deadlineMilliseconds: config.atDeadline_seconds * 1000 };
}

async function clientTls(config: Config, warn: (line: string) => void): Promise<TlsMaterial> {
  const { certificate, certificateKey, passphrase, ca } = config.at;
  const file = await readGiven(certificate!, secretFile);
  const secret = passphrase === undefined ? undefined : (await textOf(passphrase)).replace(/\r?\n$/, '');
  const isPem = file.includes('-----BEGIN ');
  const read = async () => {
    if (!isPem) return readPfx(file, secret ?? '');
    const keyFile = certificateKey === undefined ? file : await readGiven(certificateKey, secretFile);
    return readPem(file.toString('utf8'), keyFile.toString('utf8'), secret);
  };
  const made = await read().catch((error: NodeJS.ErrnoException) => {
    if (error instanceof CommandError || (error.code !== undefined && error.path !== undefined)) throw error;
    throw new CommandError(exit.usage, `CERTO_AT_CERTIFICATE_FILE: ${error.message}.`);
  });
  checkEnd(made.validTo, "The AT's client certificate", warn);
  return {
    certPem: made.certPem,
    keyPem: made.keyPem,
    ...(ca === undefined ? {} : { caPem: await textOf(ca) }),
  };
}

async function cipherKey(config: Config, warn: (line: string) => void) {
  const file = await readGiven(config.at.publicKey!, secretFile);
  try {
    const { key, validTo } = readAtPublicKey(file);
    if (validTo !== undefined) checkEnd(validTo, "The AT's cipher key", warn);
    return key;
  } catch (error) {
    throw new CommandError(
      exit.usage,
      `CERTO_AT_PUBLIC_KEY_FILE holds no certificate or public key that can be used: ${(error as Error).message}.`,
    );
  }
}

/** Said a month ahead, since the AT takes its time; what has ended is the AT's to refuse. */
function checkEnd(validTo: Date, what: string, warn: (line: string) => void): void {
  const days = Math.floor((validTo.getTime() - Date.now()) / 86_400_000);
  if (days < 0) warn(`${what} ended on ${validTo.toISOString().slice(0, 10)}: ask the AT for a new one.`);
  else if (days < 31)
    warn(`${what} ends on ${validTo.toISOString().slice(0, 10)}: ask the AT for a new one in good time.`);
}
