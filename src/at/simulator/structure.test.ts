// Holds the hand-written structural validator against the AT's real schemas: both must say the same about any body.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as s from '../fixtures/samples.ts';
import { schemaFault } from '../fixtures/xsd.ts';
import { bodies } from '../messages.ts';
import { documentsNamespace } from '../messages-documents.ts';
import type { XmlElement } from '../read-xml.ts';
import { readXml } from '../read-xml.ts';
import { escapeText } from '../write-xml.ts';
import { documentSchemas } from './schema-documents.ts';
import { seriesSchemas } from './schema-series.ts';
import { transportSchemas } from './schema-transport.ts';
import { check } from './structure.ts';

const key = { series: 'A2026', documentCode: 'FT' as const, validationCode: 'CSDF7T5H' };
const withheld = s.mixedLines.map((l, i) =>
  i === 0 ? { ...l, withholding: { type: 'IRS' as const, percent: '23' } } : l,
);
const samples = {
  series: [
    bodies.registerSeries({
      series: 'A2026',
      documentCode: 'FT',
      firstNumber: 1,
      startDate: '2026-11-21',
      certificateNumber: 9999,
    }),
    bodies.finalizeSeries({ ...key, lastNumber: 3, justification: 'fim' }),
    bodies.annulSeries(key),
    bodies.listSeries({ ...key, kind: 'N', registeredFrom: '2026-01-01', registeredTo: '2026-12-31', state: 'A' }),
  ],
  documents: [
    bodies.reportInvoice(
      s.sales('INVOICE', {
        content: s.content('INVOICE', { input: withheld }),
        eac: '10711',
        origins: { '1': [{ number: 'PF A2026/7', date: '2026-11-01' }] },
      }),
    ),
    bodies.reportInvoice(s.sales('CREDIT_NOTE')),
    bodies.changeInvoiceStatus(s.change('INVOICE', 'A')),
    bodies.reportWork(s.sales('PROFORMA', { eac: '10711' })),
    bodies.changeWorkStatus(s.change('PROFORMA', 'F')),
    bodies.reportPayment(s.payment()),
    bodies.changePaymentStatus({ ...s.change('RECEIPT', 'A'), issued: s.issued('RECEIPT', { code: 'RC' }) }),
  ],
  transport: [
    bodies.reportTransport(
      s.transport({ atDocCode: '1', end: '2026-11-21T20:00:00', origins: { '1': [{ number: 'FT A/1' }] } }),
    ),
  ],
};
const schemas = { series: seriesSchemas, documents: documentSchemas, transport: transportSchemas };
type Name = keyof typeof schemas;

interface Loose {
  name: string;
  namespace: string;
  children: Loose[];
  text: string;
}

function write(element: Loose, qualified: boolean, root = true): string {
  const name = root || qualified ? `p:${element.name}` : element.name;
  const declaration = root ? ` xmlns:p="${element.namespace}"` : '';
  const inside = element.children.map((child) => write(child, qualified, false)).join('');
  return `<${name}${declaration}>${escapeText(element.text)}${inside}</${name}>`;
}

function every(element: Loose): Loose[] {
  return [element, ...element.children.flatMap(every)];
}

// White space around dates is left out: libxml2 refuses it, XML Schema collapses it.
const texts = [
  '', ' ', '0', '1', '-1', '+5', '007', '2', '1.5', '1e3', '.5', '5.', '-0.00', '100', '100.01', '9999999999999.99', '10000000000000',
  '999999999', '1000000000', ' 500000000 ', 'abc', 'FT', 'PF', 'RC', 'N', 'A', 'F', 'S', 'C', 'D', 'IVA', 'IRS', 'PT', 'PT-AC', 'pt', 'Desconhecido',
  '2026-02-29', '2028-02-29', '2026-11-21', '2026-11-21Z', '2026-11-21+14:00', '2026-11-21+14:30', '2026-13-01', '26-11-21',
  '2026-11-21T10:00:00', '2026-11-21T10:00:00.123Z', '2026-11-21T24:00:00', '2026-11-21T24:00:01', '2026-11-21T10:00', '2026-11-21T25:00:00',
  'FT A/1', 'FT A 1', 'FT  A/1', 'FT A/', 'FT/A 1/2', 'F^T A/1', 'FT A^/1', 'M07', 'M07M16', 'M7', '10711', '1071', 'abcd', 'ab^d', 'a\nbc', 'true', 'TRUE',
  '1.04_01', '1x04_01', '0.0.1', '0x0y1', '1000-001', '10000001', 'x'.repeat(20), 'x'.repeat(21), 'x'.repeat(61), 'x'.repeat(101), 'x'.repeat(201),
  'x'.repeat(4001), '😀'.repeat(60), '12345678', '123456789', '9'.repeat(25), '9'.repeat(26), '9999', '10000', 'NS', 'a.b', 'a-b', '12345678901',
]; // biome-ignore format: a table

const mutation = fc.record({
  kind: fc.constantFrom('text', 'text', 'text', 'delete', 'duplicate', 'swap', 'rename', 'stray', 'move'),
  pick: fc.nat(),
  other: fc.nat(),
});

function mutate(root: Loose, { kind, pick, other }: { kind: string; pick: number; other: number }): void {
  const nodes = every(root);
  const parents = nodes.filter((node) => node.children.length > 0);
  const leaves = nodes.filter((node) => node.children.length === 0);
  const parent = parents[pick % parents.length];
  const leaf = leaves[pick % leaves.length]!;
  if (kind === 'text') leaf.text = texts[other % texts.length]!;
  if (parent === undefined) return;
  const at = other % parent.children.length;
  if (kind === 'delete') parent.children.splice(at, 1);
  if (kind === 'duplicate') parent.children.splice(at, 0, structuredClone(parent.children[at]!));
  if (kind === 'swap') parent.children.push(...parent.children.splice(at, 1));
  if (kind === 'rename') parent.children[at]!.name = leaf.name;
  if (kind === 'stray') parent.text = other % 2 === 0 ? 'stray' : ' \n ';
  if (kind === 'move') leaf.children.push(structuredClone(parent.children[at]!));
}

function ours(name: Name, root: XmlElement): boolean {
  return check(root, schemas[name][root.name]!, name === 'documents' ? documentsNamespace : '') === undefined;
}

describe.each(Object.keys(samples) as Name[])('%s', (name) => {
  it('accepts what the client sends', () => {
    for (const xml of samples[name])
      expect(
        check(readXml(xml)!, schemas[name][readXml(xml)!.name]!, name === 'documents' ? documentsNamespace : ''),
      ).toBeUndefined();
  });

  it('agrees with the real schema about mutated bodies', () => {
    let refused = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...samples[name]),
        fc.array(mutation, { minLength: 1, maxLength: 2 }),
        (xml, mutations) => {
          const root = structuredClone(readXml(xml)) as unknown as Loose;
          for (const each of mutations) mutate(root, each);
          const mutated = write(root, name === 'documents');
          const fault = schemaFault(name, mutated);
          if (fault !== undefined) refused += 1;
          expect({ mutated, valid: ours(name, readXml(mutated)!) }).toEqual({ mutated, valid: fault === undefined });
        },
      ),
      { numRuns: 1500 },
    );
    expect(refused).toBeGreaterThan(300);
  });
});
