/** The SAF-T of a period as an auditor takes it: valid, without findings, every signature verified with the public key. */
import { createPublicKey } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect } from 'vitest';
import { checkSaft } from '../../src/fiscal/saft/check/check-saft.ts';
import { findingSentence } from '../../src/fiscal/saft/check/findings.ts';
import { exportSaft } from '../../src/operations/saft/export-saft.ts';
import { schemaFaults } from '../golden/saft-schema.ts';
import type { Service } from '../service.ts';

const program = { producerTaxId: '508025095', productId: 'Certo/Certo', version: '1', certificateNumber: 9999 };

export async function saftOf(service: Service, company: { readonly id: string }, from: string, to: string) {
  const portions: Uint8Array[] = [];
  const asked = { companyId: company.id, from, to, program };
  const written = await exportSaft(service.db, asked, (bytes) => void portions.push(bytes));
  const xml = Buffer.concat(portions).toString('utf8');
  expect(schemaFaults(xml)).toEqual([]);
  const publicKey = createPublicKey(service.publicPem);
  const report = await checkSaft(Readable.from([Buffer.from(xml)]), { publicKeys: () => publicKey });
  const told = report.findings.map((one) => `${one.document ?? one.line}: ${findingSentence(one, 'en')}`);
  expect(told).toEqual([]);
  expect(report.hashes.unverified).toBe(0);
  return { xml, written, report };
}
