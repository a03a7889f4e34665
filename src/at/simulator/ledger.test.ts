import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { canMount, mountSmall } from '../../../test/small-disk.ts';
import { readXml } from '../read-xml.ts';
import { amountsAgree } from './amounts.ts';
import type { DocumentEntry } from './ledger.ts';
import { openLedger } from './ledger.ts';
import { emptyRanges, gapsOf, include } from './ranges.ts';

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});
function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'certo-ledger-'));
  directories.push(directory);
  return directory;
}

const entry = (sequence: number): DocumentEntry => ({
  nif: '500000000',
  number: `FT A2026/${sequence}`,
  service: 'invoice',
  documentCode: 'FT',
  atcud: `CSDF7T5H-${sequence}`,
  date: '2026-11-21',
  customer: '511234562',
  country: 'PT',
  gross: '123.00',
  digest: 'x'.repeat(22),
  history: [{ status: 'N', date: '2026-11-21T10:00:00', at: '2026-11-21T10:00:00.000Z' }],
});

describe('ledger', () => {
  it('holds 100,000 documents in little memory and reloads them', () => {
    const directory = folder();
    const ledger = openLedger(directory);
    const before = process.memoryUsage().heapUsed;
    for (let sequence = 1; sequence <= 100_000; sequence += 1) ledger.putDocument(entry(sequence));
    expect(ledger.count()).toBe(100_000);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(60 << 20);
    expect(ledger.document('500000000', 'FT A2026/77777')).toEqual(entry(77_777));
    const history = [...entry(5).history, { status: 'A', date: '2026-11-21T11:00:00', at: '2026-11-21T11:00:00.000Z' }];
    ledger.putDocument({ ...entry(5), history });
    ledger.close();
    const again = openLedger(directory);
    expect(again.count()).toBe(100_000);
    expect(again.document('500000000', 'FT A2026/5')).toEqual({ ...entry(5), history });
    expect(again.document('500000000', 'FT A2026/100000')).toEqual(entry(100_000));
    expect(again.document('500000000', 'FT A2026/100001')).toBeUndefined();
    expect([...again.documents({ number: 'FT A2026/9' })]).toEqual([entry(9)]);
    again.close();
  });
});

it('is not written where a link leads', () => {
  const directory = folder();
  const theirs = join(directory, 'theirs');
  writeFileSync(theirs, 'kept');
  symlinkSync(theirs, join(directory, 'ledger.jsonl'));
  expect(() => openLedger(directory)).toThrow('ELOOP');
  expect(readFileSync(theirs, 'utf8')).toBe('kept');
});

it.runIf(canMount())('has whole lines, also of a disk that was full', () => {
  const disk = mountSmall('256k')!;
  try {
    const ledger = openLedger(disk.folder);
    // What is left of the last page holds some lines and a part of one.
    ledger.putDocument(entry(1));
    disk.fill();
    let sequence = 1;
    expect(() => {
      for (;;) ledger.putDocument(entry(++sequence));
    }).toThrow(/no room|ENOSPC/);
    expect(sequence).toBeGreaterThan(2);
    expect(() => ledger.putDocument(entry(sequence))).toThrow(/no room|ENOSPC/);
    disk.free();
    ledger.putDocument(entry(sequence));
    ledger.close();
    const again = openLedger(disk.folder);
    expect([...again.documents({})].map(({ number }) => number)).toEqual(
      Array.from({ length: sequence }, (_, i) => `FT A2026/${i + 1}`),
    );
    again.close();
  } finally {
    disk.remove();
  }
});

describe('ranges', () => {
  it('know what arrived and what is missing, in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 })), (numbers) => {
        const seen = new Set(numbers);
        const known = numbers.reduce(include, emptyRanges);
        expect(known.count).toBe(seen.size);
        const missing: number[] = [];
        for (const [from, to] of gapsOf(known, 1)) for (let n = from; n <= to; n += 1) missing.push(n);
        const highest = Math.max(0, ...numbers);
        expect(missing).toEqual(Array.from({ length: highest }, (_, i) => i + 1).filter((n) => !seen.has(n)));
        for (const [i, range] of known.ranges.entries())
          if (i > 0) expect(known.ranges[i - 1]![1]).toBeLessThan(range[0] - 1);
      }),
    );
  });
});

describe('amounts', () => {
  const data = (lines: [side: string, amount: string, rate: string][], tax: string, net: string, gross: string) =>
    readXml(
      `<d>${lines
        .map(
          ([side, amount, rate]) =>
            `<LineSummary><DebitCreditIndicator>${side}</DebitCreditIndicator><Amount>${amount}</Amount><Tax><TaxType>IVA</TaxType><TaxCountryRegion>PT</TaxCountryRegion><TaxCode>X</TaxCode><TaxPercentage>${rate}</TaxPercentage></Tax></LineSummary>`,
        )
        .join(
          '',
        )}<DocumentTotals><TaxPayable>${tax}</TaxPayable><NetTotal>${net}</NetTotal><GrossTotal>${gross}</GrossTotal></DocumentTotals></d>`,
    )!;

  it.each([
    [[['C', '135.14', '23.00']], '31.08', '135.14', '166.22', 'C', true],
    // A cent of VAT more or less is what the last of several notes may carry; two are not.
    [[['C', '135.14', '23.00']], '31.09', '135.14', '166.23', 'C', true],
    [[['C', '135.14', '23.00']], '31.10', '135.14', '166.24', 'C', false],
    [[['C', '135.14', '23.00']], '31.08', '135.13', '166.21', 'C', false],
    [[['C', '135.14', '23.00']], '31.08', '135.14', '166.23', 'C', false],
    [[['D', '135.14', '23.00']], '31.08', '135.14', '166.22', 'D', true],
    [[['D', '135.14', '23.00']], '31.08', '135.14', '166.22', 'C', false],
    [
      [
        ['C', '20', '23'],
        ['D', '10.00', '23'],
      ],
      '2.30',
      '10.00',
      '12.30',
      'C',
      true,
    ],
    [[['C', '20.001', '23']], '4.60', '20.00', '24.60', 'C', false],
    [[['C', '9999999999999.99', '0']], '0', '9999999999999.99', '9999999999999.99', 'C', true],
  ] as [[string, string, string][], string, string, string, 'C' | 'D', boolean][])(
    '%j',
    (lines, tax, net, gross, own, agrees) => {
      expect(amountsAgree(data(lines, tax, net, gross), own)).toBe(agrees);
    },
  );
});
