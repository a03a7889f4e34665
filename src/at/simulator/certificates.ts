/**
 * Keys and certificates of the simulated AT, made once per directory: its own CA, the server's certificate, the client
 * certificate that the AT would issue to the producer, and the AT's cipher key. Keys come from node:crypto (node-forge's
 * pure JavaScript takes seconds for each), certificates from node-forge. Folder 0700, files 0600.
 */
import { generateKeyPair, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface SimulatorIdentity {
  readonly caPem: string;
  /** Missing in a folder made before it was kept. */
  readonly caKeyPem: string | undefined;
  readonly serverCertPem: string;
  readonly serverKeyPem: string;
  readonly clientCertPem: string;
  readonly clientKeyPem: string;
  readonly clientCertPath: string;
  readonly clientKeyPath: string;
  readonly atPublicKeyPem: string;
  readonly atPrivateKeyPem: string;
  /** Chance of validation codes: the same directory always gives the same codes. */
  readonly seed: string;
}

const files = {
  caPem: 'ca.pem',
  serverCertPem: 'server.pem',
  serverKeyPem: 'server.key',
  clientCertPem: 'client.pem',
  clientKeyPem: 'client.key',
  atPublicKeyPem: 'at-public.pem',
  atPrivateKeyPem: 'at-private.key',
  seed: 'seed',
} as const;
const caKeyFile = 'ca.key';
type Made = Record<keyof typeof files, string>;

/** Reads what is there; makes everything anew when the folder has none. `seed` counts only then. */
export async function identityIn(directory: string, seed?: string): Promise<SimulatorIdentity> {
  const folder = join(directory, 'keys');
  if (!existsSync(folder)) {
    const { made, caKeyPem } = await make(seed ?? randomBytes(16).toString('hex'));
    // Written aside and renamed: a crash in between must not leave half of them.
    const aside = `${folder}.${randomBytes(4).toString('hex')}`;
    mkdirSync(aside, { recursive: true, mode: 0o700 });
    for (const name of Object.keys(files) as (keyof Made)[])
      writeFileSync(join(aside, files[name]), made[name], { mode: 0o600 });
    writeFileSync(join(aside, caKeyFile), caKeyPem, { mode: 0o600 });
    if (existsSync(folder)) rmSync(aside, { recursive: true });
    else renameSync(aside, folder);
  }
  const read = (name: keyof Made): string => readFileSync(join(folder, files[name]), 'utf8');
  const texts = Object.fromEntries((Object.keys(files) as (keyof Made)[]).map((name) => [name, read(name)])) as Made;
  return {
    ...texts,
    caKeyPem: existsSync(join(folder, caKeyFile)) ? readFileSync(join(folder, caKeyFile), 'utf8') : undefined,
    clientCertPath: join(folder, files.clientCertPem),
    clientKeyPath: join(folder, files.clientKeyPem),
  };
}

const newPair = promisify(generateKeyPair);

async function pair(): Promise<{ publicPem: string; privatePem: string }> {
  const made = await newPair('rsa', { modulusLength: 2048 });
  return {
    publicPem: made.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privatePem: made.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
  };
}

async function make(seed: string): Promise<{ made: Made; caKeyPem: string }> {
  // Loaded only where certificates are made: 40 ms that later starts must not pay for.
  const { default: forge } = await import('node-forge');
  const [ca, server, client, cipher] = await Promise.all([pair(), pair(), pair(), pair()]);
  const caName = [{ name: 'commonName', value: 'Certo AT simulator CA' }];
  const caKey = forge.pki.privateKeyFromPem(ca.privatePem);

  function certificate(publicPem: string, commonName: string, extensions: object[]): string {
    const made = forge.pki.createCertificate();
    made.publicKey = forge.pki.publicKeyFromPem(publicPem);
    // RFC 5280: positive and at most 20 bytes.
    made.serialNumber = `01${randomBytes(8).toString('hex')}`;
    // Wide on purpose: TLS judges by the machine's clock, which a simulated clock may be years away from.
    made.validity.notBefore = new Date('2020-01-01T00:00:00Z');
    made.validity.notAfter = new Date('2049-12-31T00:00:00Z');
    made.setSubject([{ name: 'commonName', value: commonName }]);
    made.setIssuer(caName);
    made.setExtensions(extensions);
    made.sign(caKey, forge.md.sha256.create());
    return forge.pki.certificateToPem(made);
  }

  const usage = { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true };
  const names = [
    { type: 7, ip: '127.0.0.1' },
    { type: 2, value: 'localhost' },
  ];
  const made = {
    caPem: certificate(ca.publicPem, 'Certo AT simulator CA', [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ]),
    serverCertPem: certificate(server.publicPem, 'localhost', [
      usage,
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: names },
    ]),
    serverKeyPem: server.privatePem,
    clientCertPem: certificate(client.publicPem, '599999993', [usage, { name: 'extKeyUsage', clientAuth: true }]),
    clientKeyPem: client.privatePem,
    atPublicKeyPem: cipher.publicPem,
    atPrivateKeyPem: cipher.privatePem,
    seed,
  };
  return { made, caKeyPem: ca.privatePem };
}

/** The server's certificate as it would be after its end, or signed by its own key instead of the CA's. */
export async function worseCertificate(identity: SimulatorIdentity, how: 'ended' | 'own'): Promise<string> {
  const { default: forge } = await import('node-forge');
  const certificate = forge.pki.certificateFromPem(identity.serverCertPem);
  const key = how === 'ended' ? (identity.caKeyPem ?? identity.serverKeyPem) : identity.serverKeyPem;
  if (how === 'ended') certificate.validity.notAfter = new Date('2021-12-31T00:00:00Z');
  else certificate.setIssuer(certificate.subject.attributes);
  certificate.sign(forge.pki.privateKeyFromPem(key), forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate);
}
