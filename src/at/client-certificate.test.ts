// legacy.pfx was packed by OpenSSL as the AT packs its files (RC2-40 and 3DES, with a chain), modern.pfx as OpenSSL 3
// does by itself (AES-256, SHA-256). Both hold the same throw-away key, passphrase "TESTEwebservice".
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { readPem, readPfx } from './client-certificate.ts';

const file = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url));
const passphrase = 'TESTEwebservice';

describe('PFX', () => {
  it.each([
    ['legacy.pfx', 2],
    ['modern.pfx', 1],
  ])('%s', async (name, certificates) => {
    const read = await readPfx(file(name), passphrase);
    expect(read.certPem.match(/BEGIN CERTIFICATE/g)).toHaveLength(certificates);
    const own = new X509Certificate(read.certPem);
    expect(own.subject).toBe('CN=599999993');
    expect(own.checkPrivateKey(createPrivateKey(read.keyPem))).toBe(true);
    expect(read.validTo).toEqual(new Date(own.validTo));
    expect(() => createSecureContext({ cert: read.certPem, key: read.keyPem })).not.toThrow();
  });

  it('says in one line what is wrong, without the passphrase', async () => {
    await expect(readPfx(file('legacy.pfx'), 'sesamo')).rejects.toThrow(
      /^the PFX file of the AT cannot be opened[^\n]*$/,
    );
    await expect(readPfx(file('legacy.pfx'), 'sesamo')).rejects.not.toThrow(/sesamo/);
    await expect(readPfx(Buffer.from('nonsense'), passphrase)).rejects.toThrow(/not a PFX file/);
  });
});

describe('PEM', () => {
  it('finds the certificate of the key among a chain and opens an encrypted key', async () => {
    const { certPem, keyPem } = await readPfx(file('legacy.pfx'), passphrase);
    const blocks = certPem.match(/-----BEGIN[\s\S]+?-----END CERTIFICATE-----/g)!;
    const reversed = [...blocks].reverse().join('\n');
    expect(new X509Certificate(readPem(reversed, keyPem).certPem).subject).toBe('CN=599999993');
    const encrypted = createPrivateKey(keyPem)
      .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'abc' })
      .toString();
    expect(readPem(certPem, encrypted, 'abc').keyPem).toBe(keyPem);
    expect(() => readPem(certPem, encrypted, 'abd')).toThrow(/wrong passphrase/);
    expect(() => readPem(blocks[1]!, keyPem)).toThrow(/belongs to its private key/);
    expect(() => readPem('', keyPem)).toThrow(/belongs to its private key/);
  });
});
