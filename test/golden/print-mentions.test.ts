/** What is decided before layout: mentions, figures and labels of a paper. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import type { DocumentType } from '../../src/fiscal/document.ts';
import { readFont } from '../../src/print/font.ts';
import type { PrintInput } from '../../src/print/input.ts';
import { paperOf } from '../../src/print/paper.ts';
import { line, sample, samples } from './print-samples.ts';

const file = createRequire(import.meta.url).resolve('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf');
const font = readFont(readFileSync(file));

/** The paper of an input, with plain spaces. */
function paper(input: PrintInput): ReturnType<typeof paperOf> {
  return JSON.parse(JSON.stringify(paperOf(input, font, undefined)).replace(/[\u00a0\u202f\u2002]/g, ' '));
}

describe('the program', () => {
  const certified = (certificateNumber: number) => {
    const input = samples.invoice();
    return paper({ ...input, issued: { ...input.issued, certificateNumber } }).program;
  };
  test('names its certificate', () =>
    expect(certified(1234)).toBe('jwwQ-Processado por programa certificado n.º 1234/AT'));
  test('does not claim to be certified when it is not', () => expect(certified(0)).toBeUndefined());
});

describe('the buyer', () => {
  const buyer = (customer: Partial<PrintInput['content']['customer']>) =>
    paper(
      sample({
        lines: [line({ name: 'Item', unitPrice: '1' })],
        content: { customer: { id: 'c', name: 'Rui Reis', ...customer } },
      }),
    ).customer;

  test('without NIF is the final consumer, in the place of the number', () => {
    expect(buyer({ city: 'Faro', country: 'PT' })).toMatchObject({
      name: 'Rui Reis',
      lines: ['Faro', 'Consumidor final'],
    });
  });
  test('unknown: the final consumer', () => {
    expect(buyer({ finalConsumer: true, country: 'Desconhecido' })).toMatchObject({
      name: 'Consumidor final',
      lines: [],
    });
  });
  test('abroad: number and country', () => {
    const lines = buyer({
      taxpayerNumber: 'EL123456789',
      country: 'GR',
      address: 'Ερμού 1',
      postalCode: '105 63',
      city: 'Αθήνα',
    }).lines;
    expect(lines).toEqual(['Ερμού 1', '105 63 Αθήνα', 'Grécia', 'N.º fiscal EL123456789']);
  });
});

describe('dates', () => {
  const facts = (content: Partial<PrintInput['content']>, more: Partial<PrintInput> = {}) =>
    paper(sample({ lines: [line({ name: 'Item', unitPrice: '1' })], content, ...more })).facts.map(
      ({ label, value }) => `${label.join('/')}: ${value}`,
    );

  test('those equal to the date of issue are not repeated', () => {
    expect(facts({ taxPointDate: '2026-03-06', payment: { method: 'NU', date: '2026-03-06' } })).toEqual([
      'Data de emissão: 06-03-2026',
      'Meio de pagamento: Numerário',
    ]);
  });
  test('those that differ are said', () => {
    expect(facts({ taxPointDate: '2026-03-01', payment: { method: 'Vale de oferta', date: '2026-03-05' } })).toEqual([
      'Data de emissão: 06-03-2026',
      'Data da operação: 01-03-2026',
      'Meio de pagamento: Vale de oferta',
      'Data de pagamento: 05-03-2026',
    ]);
  });
  test('only what is still owed has a due date', () => {
    const due = (type: DocumentType) => facts({ type, dueDate: '2026-04-05' }).length;
    expect([due('INVOICE'), due('DEBIT_NOTE'), due('INVOICE_RECEIPT'), due('CREDIT_NOTE')]).toEqual([2, 2, 1, 1]);
  });
  test('in two languages', () =>
    expect(facts({}, { language: 'en' })).toEqual(['Data de emissão/Issue date: 06-03-2026']));
});

describe('lines', () => {
  const figures = (...lines: Parameters<typeof line>[0][]) =>
    paper(sample({ lines: lines.map(line) })).table.rows.map((row) => row.figures.join(' · '));

  test('units: words in the plural from two on, abbreviations as they are, none for none', () => {
    expect(
      figures(
        { name: 'a', unitPrice: '1', unit: 'DAY', quantity: '1.5' },
        { name: 'b', unitPrice: '1', unit: 'MONTH', quantity: '2' },
        { name: 'c', unitPrice: '1', unit: 'HOUR', quantity: '10' },
        { name: 'd', unitPrice: '1', unit: 'NA', quantity: '3' },
      ),
    ).toEqual([
      '1,5 dia · 1,00 · 23 % · 1,50 €',
      '2 meses · 1,00 · 23 % · 2,00 €',
      '10 h · 1,00 · 23 % · 10,00 €',
      '3 · 1,00 · 23 % · 3,00 €',
    ]);
  });

  test('discounts: the percentage agreed, or the money taken off the line; nothing where there is none', () => {
    expect(
      figures(
        { name: 'a', unitPrice: '10', quantity: '2', discount: { type: 'PERCENT', value: '12.5' } },
        { name: 'b', unitPrice: '10', quantity: '2', discount: { type: 'AMOUNT', value: '1.25' } },
        { name: 'c', unitPrice: '10' },
      ),
    ).toEqual([
      '2 un · 10,00 · 12,5 % · 23 % · 17,50 €',
      '2 un · 10,00 · 2,50 € · 23 % · 17,50 €',
      '1 un · 10,00 ·  · 23 % · 10,00 €',
    ]);
  });

  test('the official example: 100 at 0.55 less 8.8 %, 1 at 100.00, 10 % off all: 166.22', () => {
    const { table, totals } = paper(
      sample({
        lines: [
          line({ name: 'a', unitPrice: '0.55', quantity: '100', discount: { type: 'PERCENT', value: '8.8' } }),
          line({ name: 'b', unitPrice: '100' }),
        ],
        content: { globalDiscount: { type: 'PERCENT', value: '10' } },
      }),
    );
    expect(table.rows.map((row) => [row.figures[2], row.figures.at(-1), row.carried])).toEqual([
      ['8,8 % + 10 %', '45,14 €', '45,14 €'],
      ['10 %', '90,00 €', '135,14 €'],
    ]);
    expect(totals.sums.map(({ label, value }) => `${label}: ${value}`)).toEqual([
      'Total ilíquido: 155,00 €',
      'Descontos nas linhas: 4,84 €',
      'Desconto global 10 %: 15,02 €',
      'Total sem IVA: 135,14 €',
      'IVA: 31,08 €',
    ]);
    expect(totals.final).toEqual({ label: 'Total', value: '166,22 €' });
  });
});

describe('VAT', () => {
  const totals = (...lines: Parameters<typeof line>[0][]) => paper(sample({ lines: lines.map(line) })).totals;

  test('regions are named as soon as one is not the mainland; mentions follow their codes', () => {
    const { vat, exemptions } = totals(
      { name: 'a', unitPrice: '100', region: 'PT-MA' },
      { name: 'b', unitPrice: '100', vatRate: 'REDUCED' },
      { name: 'c', unitPrice: '100', vatRate: 'EXEMPT', exemptionCode: 'M15' },
      { name: 'd', unitPrice: '100', vatRate: 'EXEMPT', exemptionCode: 'M05' },
    );
    expect(vat?.rows.map(([rate]) => rate)).toEqual([
      '6 % Continente',
      '0 % M05 Continente',
      '0 % M15 Continente',
      '22 % Madeira',
    ]);
    expect(exemptions).toEqual([
      { code: 'M05', mention: 'Isento artigo 14.º do CIVA' },
      { code: 'M15', mention: 'Regime da margem de lucro - Objetos de coleção e antiguidades' },
    ]);
  });

  test('an ended exemption keeps its mention on old documents', () => {
    const input = sample({
      lines: [line({ name: 'Pão', unitPrice: '1', vatRate: 'EXEMPT', exemptionCode: 'M26' })],
      content: { taxPointDate: '2023-06-01' },
    });
    expect(paper(input).totals.exemptions[0]?.mention).toBe('Isenção de IVA com direito à dedução no cabaz alimentar');
  });

  test('withholding stands after the total with VAT, then what is to be paid', () => {
    const { sums, afterGross, final } = totals({
      name: 'a',
      unitPrice: '1000',
      withholding: { type: 'IRS', percent: '23', reason: 'Artigo 101.º do CIRS' },
    });
    expect(sums.map(({ label }) => label)).toEqual(['Total sem IVA', 'IVA']);
    expect(afterGross).toEqual([
      { label: 'Total', value: '1 230,00 €' },
      { label: 'Retenção na fonte IRS 23 %', value: '230,00 €', note: 'Artigo 101.º do CIRS' },
    ]);
    expect(final).toEqual({ label: 'Total a pagar', value: '1 000,00 €' });
  });
});

test('a receipt lists what it settles', () => {
  const settles = [
    { number: 'FT A2026/1', date: '2026-02-27', total: '1500.00', settled: '1500.00' },
    { number: 'FT A2026/7', date: '2026-03-01', settled: '1070.23' },
  ];
  const { table, totals } = paper({ ...samples.receipt(), settles });
  expect(table.rows.map(({ name, figures }) => [name, ...figures])).toEqual([
    ['FT A2026/1', '27-02-2026', '1 500,00 €', '1 500,00 €'],
    ['FT A2026/7', '01-03-2026', '', '1 070,23 €'],
  ]);
  expect(totals.vat).toBeUndefined();
  expect(totals.final).toEqual({ label: 'Total recebido', value: '2 570,23 €' });
});
