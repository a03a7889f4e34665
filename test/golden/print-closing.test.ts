/** The end of an A4 paper: the tax summary and the total stand whole on its last page, however many rates there are. */
import { afterAll, describe, expect, test } from 'vitest';
import type { LineInput, Region } from '../../src/fiscal/document.ts';
import { exemptionOn, exemptions } from '../../src/fiscal/exemptions.ts';
import { openPrint } from '../../src/print/print.ts';
import { linesOf, openPdf, pagesOf } from './print-reading.ts';
import { line, receipt, sample } from './print-samples.ts';

const print = openPrint({ workers: 0 });
afterAll(print.close);

const taxPointDate = '2026-07-06';
const inForce = exemptions.filter(({ code }) => exemptionOn(code, taxPointDate) !== undefined);
const regions: readonly Region[] = ['PT', 'PT-MA', 'PT-AC'];

interface Asked {
  readonly codes?: number;
  readonly rates?: number;
  /** Ordinary lines besides those of codes and rates. */
  readonly more?: number;
  readonly withholdings?: number;
  readonly footer?: string;
  readonly notes?: string;
  /** The head of a further page has as much to say as can be. */
  readonly saysMuch?: boolean;
}

/** A line per exemption code (those of Madeira and the Azores after all of the mainland), one per rate. */
function crowded({ codes = 0, rates = 0, more = 0, withholdings = 0, footer, notes, saysMuch }: Asked) {
  const each = (count: number, of: (index: number) => LineInput) => Array.from({ length: count }, (_, i) => of(i));
  const lines = [
    ...each(codes, (i) =>
      line({
        name: 'Isento',
        unitPrice: '10.50',
        vatRate: 'EXEMPT',
        exemptionCode: inForce[i % inForce.length]!.code,
        region: regions[Math.floor(i / inForce.length)]!,
      }),
    ),
    ...each(rates, (i) =>
      line({
        name: 'Tributado',
        unitPrice: '20',
        vatRate: (['NORMAL', 'INTERMEDIATE', 'REDUCED'] as const)[i % 3]!,
        region: regions[Math.floor(i / 3)]!,
      }),
    ),
    ...each(withholdings, (i) =>
      line({
        name: 'Retido',
        unitPrice: '100',
        withholding: { type: 'IRS', percent: `${i + 1}`, reason: 'Artigo 101.º' },
      }),
    ),
    ...each(more, () => line({ name: 'Outro', unitPrice: '5' })),
  ];
  const print = sample({ lines, content: { taxPointDate, notes }, style: { footer } });
  if (saysMuch !== true) return print;
  const name = 'Sociedade de Comercialização e Distribuição de Equipamentos Hoteleiros do Norte e Centro, Lda.';
  const [original, issuer] = ['ABCDEFGHIJKLMNOPQRSTUVWXYZ-ABCDEFGH/123456789', { ...print.content.issuer, name }];
  const content = { ...print.content, issuer, cashVat: true, recovered: { kind: 'M', original } as const };
  return { ...print, content, environment: 'test' as const };
}

async function pagesOfPrint(asked: Asked): Promise<string[][]> {
  const document = await openPdf(await print.render(crowded(asked)));
  const pages = await Promise.all((await pagesOf(document)).map(linesOf));
  await document.destroy();
  return pages;
}

const isSummary = (one: string) => one.startsWith('Taxa de IVA |');
const isRate = (one: string) => /^\d+ %/.test(one);
const isTotal = (one: string) => / ?Total(?: a pagar)? \| [\d ]+,\d\d €$/.test(one);
const isCode = (one: string) => one.startsWith('ATCUD:AAJFF6XZ-1');
const isMention = (one: string) => /^M\d\d /.test(one);
/** How many lines of each page are such. */
const counts = (pages: readonly string[][], is: (one: string) => boolean) =>
  pages.map((lines) => lines.filter(is).length);
const onlyLast = (count: number, pages: readonly unknown[]) => [...Array(pages.length - 1).fill(0), count];

describe('the tax summary and the total stand on the last page, with the QR code', () => {
  const cases: readonly Asked[] = [
    ...[12, 13, 20, 31, inForce.length].flatMap((codes) => [1, 2, 3, 30].map((more) => ({ codes, more }))),
    { codes: 9, rates: 9 },
    { codes: 31, rates: 9, more: 1 },
    { codes: inForce.length, rates: 9 },
    ...[8, 10, 12, 14, 16, 18].map((codes) => ({
      codes,
      more: 20,
      notes: 'Entregue em bom estado.\n'.repeat(8).trim(),
      footer: 'Banco do Norte\n'.repeat(12).trim(),
    })),
    { withholdings: 12 },
    ...[4, 6, 8].map((lines) => ({
      codes: 16,
      more: 12,
      saysMuch: true,
      notes: 'Entregue em bom estado.\n'.repeat(8).trim(),
      footer: 'Banco do Norte\n'.repeat(lines).trim(),
    })),
  ];
  test.each(cases)('%o', async (asked) => {
    const pages = await pagesOfPrint(asked);
    const rates =
      (asked.codes ?? 0) + (asked.rates ?? 0) + ((asked.more ?? asked.withholdings ?? 0) > 0 && !asked.rates ? 1 : 0);
    expect(counts(pages, isSummary)).toEqual(onlyLast(1, pages));
    expect(counts(pages, isRate)).toEqual(onlyLast(rates, pages));
    expect(
      counts(pages, isTotal)
        .slice(0, -1)
        .every((count) => count === 0),
    ).toBe(true);
    expect(counts(pages, isTotal).at(-1)).toBeGreaterThan(0);
    expect(counts(pages, isCode)).toEqual(onlyLast(1, pages));
    expect(counts(pages, isMention).reduce((sum, count) => sum + count, 0)).toBe(asked.codes ?? 0);
    expect(counts(pages, (one) => one.includes('A transportar')).at(-1)).toBe(0);
  });
});

test('mentions that go on over a page are whole, and at least two stand on each', async () => {
  for (let codes = 17; codes <= 31; codes++) {
    const pages = await pagesOfPrint({ codes, more: codes % 4 });
    const printed = pages.map((lines) => lines.join(' '));
    for (const { code, mention } of inForce.slice(0, codes))
      expect(printed.filter((page) => page.includes(`${code} ${mention}`)).length, code).toBe(1);
    for (const count of counts(pages, isMention)) expect([codes, count]).not.toEqual([codes, 1]);
    expect(counts(pages, isMention).at(-1)).toBeGreaterThanOrEqual(2);
  }
});

describe('beside a large total its words are whole, or they stand above it', () => {
  const currency = { currency: 'IDR', exchangeRate: '0.00006' };
  const withholding = { type: 'IRS', percent: '1' } as const;
  const largest = [line({ name: 'Consultoria', quantity: '999999', unitPrice: '8100000' })];
  const withheld = largest.map((one) => ({ ...one, withholding }));
  const tight = [line({ name: 'Consultoria', quantity: '10000', unitPrice: '8100000' })];
  test.each([
    [['Total'], sample({ lines: largest, content: currency })],
    [['Total a pagar'], sample({ lines: withheld, content: currency })],
    [['Total pago'], sample({ type: 'INVOICE_RECEIPT', lines: withheld, content: currency })],
    [['Total a creditar'], sample({ type: 'CREDIT_NOTE', lines: withheld, content: currency })],
    [['Total recebido'], receipt({ lines: largest, content: currency })],
    [['Total recebido', 'Amount received'], receipt({ lines: largest, content: currency, language: 'en' })],
    [['Total recebido'], receipt({ lines: tight, content: currency })],
  ])('%o', async (words, input) => {
    const document = await openPdf(await print.render(input));
    const printed = (await Promise.all((await pagesOf(document)).map(linesOf))).flat();
    await document.destroy();
    const at = printed.findIndex((one) => /^\d[\d ]+,\d\d IDR$/.test(one));
    expect(printed.slice(at - words.length, at), printed.join('\n')).toEqual(words);
  });
});

test('the words of the company are counted by characters, as where they are set', async () => {
  const pages = await pagesOfPrint({ more: 1, footer: `${'😀 '.repeat(497)}até ao fim e mais` });
  expect(pages.flat().join(' ')).toContain('até ao');
  expect(pages.flat().join(' ')).not.toContain('fim');
});

describe('more than a page holds', () => {
  test('rates: the table goes on under its heads, the total stands on the last page', async () => {
    const pages = await pagesOfPrint({ codes: 3 * inForce.length, rates: 9 });
    expect(counts(pages, isRate).reduce((sum, count) => sum + count, 0)).toBe(3 * inForce.length + 9);
    expect(counts(pages, isSummary)).toEqual(counts(pages, isRate).map((count) => (count > 0 ? 1 : 0)));
    expect(counts(pages, isTotal)).toEqual(onlyLast(1, pages));
    expect(counts(pages, isCode)).toEqual(onlyLast(1, pages));
  });

  test('withholdings: each is printed, what is to be paid stands on the last page', async () => {
    const pages = await pagesOfPrint({ withholdings: 60 });
    const withheld = pages.flat().filter((one) => one.startsWith('Retenção na fonte IRS'));
    expect(withheld.length).toBe(60);
    expect(counts(pages, (one) => one.startsWith('Total a pagar'))).toEqual(onlyLast(1, pages));
  });
});
