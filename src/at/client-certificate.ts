/**
 * The client certificate the AT issues to the producer of the program, from a PFX file or from PEM.
 * PFX goes through node-forge, since the AT's files are packed with RC2-40, which OpenSSL 3 (Node's) no longer reads.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';

export interface ClientCertificate {
  /** The certificate, followed by the chain where the file has one. */
  readonly certPem: string;
  /** PKCS#8, not encrypted: keep it in memory only. */
  readonly keyPem: string;
  /** The certificate lasts 24 months; renew one month ahead. */
  readonly validTo: Date;
}

/** Throws a one-line error without the passphrase when the file or the passphrase is wrong, or key and certificate differ. */
export async function readPfx(file: Uint8Array, passphrase: string): Promise<ClientCertificate> {
  // Loaded only here: 40 ms that a start with PEM files must not pay for.
  const { default: forge } = await import('node-forge');
  const bags = (() => {
    try {
      const der = forge.asn1.fromDer(Buffer.from(file).toString('latin1'));
      return forge.pkcs12.pkcs12FromAsn1(der, false, passphrase).safeContents.flatMap((content) => content.safeBags);
    } catch {
      throw new Error('the PFX file of the AT cannot be opened: wrong passphrase, or not a PFX file');
    }
  })();
  const key = bags.find((bag) => bag.key !== undefined && bag.key !== null)?.key;
  const certificates = bags.flatMap((bag) =>
    bag.cert === undefined || bag.cert === null ? [] : [forge.pki.certificateToPem(bag.cert)],
  );
  if (key === undefined || key === null) throw new Error('the PFX file of the AT holds no private key');
  return readPem(certificates.join(''), forge.pki.privateKeyToPem(key));
}

/** `keyPem` may be encrypted with `passphrase`. */
export function readPem(certificates: string, keyPem: string, passphrase?: string): ClientCertificate {
  const blocks = certificates.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  const key = (() => {
    try {
      return createPrivateKey({ key: keyPem, format: 'pem', ...(passphrase === undefined ? {} : { passphrase }) });
    } catch {
      throw new Error('the private key of the AT certificate cannot be read: wrong passphrase, or not PEM');
    }
  })();
  const own = blocks.find((block) => new X509Certificate(block).checkPrivateKey(key));
  if (own === undefined) throw new Error('no certificate of the AT file belongs to its private key');
  const chain = [own, ...blocks.filter((block) => block !== own)];
  return {
    certPem: `${chain.join('\n')}\n`,
    keyPem: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    validTo: new Date(new X509Certificate(own).validTo),
  };
}
