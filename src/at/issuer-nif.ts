/** The issuer as the AT's messages name it. */
import type { DocumentReport } from './reports.ts';

/** Nine digits: an issuer without is a fault of ours, and no message is made. */
export function issuerNif({ content }: DocumentReport): string {
  const nif = content.issuer.taxpayerNumber ?? '';
  if (!/^\d{9}$/.test(nif)) throw new Error('assertion failed: the issuer has a NIF of nine digits');
  return nif;
}
