import { constants, createDecipheriv, generateKeyPairSync, privateDecrypt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { childrenOf, readXml, textOf } from './read-xml.ts';
import { encrypt, readAtPublicKey, securityHeader } from './wsse.ts';

const key = Uint8Array.from({ length: 16 }, (_, i) => i);
const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const input = {
  username: '599999993/37',
  password: 'senha <é> & "secreta"',
  atPublicKey: pair.publicKey,
  now: new Date('2026-11-21T10:00:00.123Z'),
  sessionKey: key,
};

describe('security header', () => {
  it('gives the check values of the AT manual', () => {
    expect(encrypt(key, 'senhaPF')).toBe('WfT/ld3hzHElA34wqu0IvQ==');
    expect(encrypt(key, '2013-01-01T19:20:30.45Z')).toBe('JedSyYULlnj8FWB8lgcoipCZo45xyONQBFKkCra24F4=');
  });

  it('holds user, password, key and time in order, each readable with the right key only', () => {
    const header = readXml(securityHeader(input))!;
    expect([header.name, header.namespace]).toEqual(['Security', 'http://schemas.xmlsoap.org/ws/2002/12/secext']);
    const [token] = childrenOf(header, 'UsernameToken');
    expect(token!.children.map((child) => child.name)).toEqual(['Username', 'Password', 'Nonce', 'Created']);
    expect(textOf(token!, 'Username')).toBe('599999993/37');
    const nonce = Buffer.from(textOf(token!, 'Nonce')!, 'base64');
    expect(textOf(token!, 'Nonce')).toHaveLength(344);
    const block = privateDecrypt({ key: pair.privateKey, padding: constants.RSA_NO_PADDING }, nonce);
    expect([...block.subarray(0, 2)]).toEqual([0, 2]);
    expect([...block.subarray(-17)]).toEqual([0, ...key]);
    const decipher = (name: string) => {
      const aes = createDecipheriv('aes-128-ecb', key, null);
      return aes.update(textOf(token!, name)!, 'base64', 'utf8') + aes.final('utf8');
    };
    expect(decipher('Password')).toBe(input.password);
    expect(decipher('Created')).toBe('2026-11-21T10:00:00.123Z');
  });

  it('never shows the password', () => {
    expect(securityHeader({ ...input, password: 'hunter2' })).not.toContain('hunter2');
    expect(() => securityHeader({ ...input, sessionKey: new Uint8Array(15) })).toThrow(/16 bytes/);
  });
});

describe("the AT's cipher key", () => {
  it('comes from a public key in PEM', () => {
    const pem = pair.publicKey.export({ type: 'spki', format: 'pem' });
    expect(readAtPublicKey(Buffer.from(pem)).key.equals(pair.publicKey)).toBe(true);
  });

  it('comes from a certificate in PEM or DER, with the day it ends', async () => {
    const { default: forge } = await import('node-forge');
    const certificate = forge.pki.createCertificate();
    certificate.publicKey = forge.pki.publicKeyFromPem(
      pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    );
    certificate.serialNumber = '01';
    certificate.validity.notBefore = new Date('2025-01-01T00:00:00Z');
    certificate.validity.notAfter = new Date('2027-06-30T00:00:00Z');
    certificate.setSubject([{ name: 'commonName', value: 'Chave Cifra' }]);
    certificate.setIssuer([{ name: 'commonName', value: 'Chave Cifra' }]);
    certificate.sign(
      forge.pki.privateKeyFromPem(pair.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()),
      forge.md.sha256.create(),
    );
    const pem = forge.pki.certificateToPem(certificate);
    const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
    for (const file of [Buffer.from(pem), der]) {
      const read = readAtPublicKey(file);
      expect(read.key.equals(pair.publicKey)).toBe(true);
      expect(read.validTo?.toISOString()).toBe('2027-06-30T00:00:00.000Z');
    }
  });

  it('is RSA of 2048 bits or more', () => {
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ type: 'spki', format: 'pem' });
    expect(() => readAtPublicKey(Buffer.from(short))).toThrow(/2048/);
    const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' });
    expect(() => readAtPublicKey(Buffer.from(curve))).toThrow(/2048/);
    expect(() => readAtPublicKey(Buffer.from('nonsense'))).toThrow();
  });
});
