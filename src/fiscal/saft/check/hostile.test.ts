/** Files made to keep the checker busy: what it takes grows as they do, not with the square. */
import { describe, expect, test } from 'vitest';
import { growth, no_square } from '../../../../test/growth.ts';
import { namespace } from '../head.ts';
import { checkSaft, type SaftReport } from './check-saft.ts';

async function* portions(file: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; at += size) yield file.subarray(at, at + size);
}

const bytes = (file: string): Uint8Array => new TextEncoder().encode(file);
const check = (file: string): Promise<SaftReport> => checkSaft(portions(bytes(file), 65_536));

const many = (count: number, part: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => part(i)).join('');
const root = (inside: string, more = ''): string => `<AuditFile xmlns="${namespace}"${more}>${inside}</AuditFile>`;
const masters = (inside: string): string => root(`<MasterFiles>${inside}</MasterFiles>`);
const invoices = (inside: string): string =>
  root(`<SourceDocuments><SalesInvoices>${inside}</SalesInvoices></SourceDocuments>`);
const invoice = (number: string, lines = ''): string => `<Invoice><InvoiceNo>${number}</InvoiceNo>${lines}</Invoice>`;
const credit = (amount: string): string => `<Line><CreditAmount>${amount}</CreditAmount></Line>`;

describe('what it takes to check', () => {
  test.each<[string, number, (size: number) => string]>([
    ['a tag of brackets in quotes', 2_500, (size) => root('', ` a="${'>'.repeat(size)}"`)],
    [
      'a tag of quoted brackets',
      500,
      (size) =>
        root(
          '',
          many(size, (i) => ` a${i}=">"`),
        ),
    ],
    ['a tag that does not end', 5_000, (size) => `<AuditFile a="${'>'.repeat(size)}`],
    ['tags with a quote that never ends', 2_500, (size) => root(many(size, () => `<a>'</a>`))],
    ['a tag of spaces', 5_000, (size) => root('', `${' '.repeat(size)}x${' '.repeat(size)}`)],
    ['a tag of names', 5_000, (size) => root('', ` ${'x'.repeat(size)}`)],
    [
      'prefixes of one tag',
      200,
      (size) =>
        root(
          '',
          many(size, (i) => ` xmlns:a${i}="u"`),
        ),
    ],
    [
      'prefixes within prefixes',
      200,
      (size) =>
        root(
          many(size, () => '<b xmlns:c="u"/>'),
          many(size, (i) => ` xmlns:a${i}="u"`),
        ),
    ],
    ['comments', 2_500, (size) => root('<!-- - -->'.repeat(size))],
    ['a comment of brackets', 5_000, (size) => root(`<!-- ${'->'.repeat(size)} -->`)],
    ['data sections', 1_250, (size) => masters(`<TaxTable>${'<![CDATA[x]]>'.repeat(size)}</TaxTable>`)],
    ['a data section of brackets', 5_000, (size) => root(`<![CDATA[${']>'.repeat(size)}]]>`)],
    ['entities', 2_500, (size) => root('&amp;'.repeat(size))],
    ['instructions', 2_500, (size) => root('<?x ??>'.repeat(size))],
    ['unknown elements', 2_500, (size) => root('<x/>'.repeat(size))],
    ['tags within tags', 1_250, (size) => root(many(size, (i) => `<x${i} y="1"><z/></x${i}>`))],
    ['lines of text where none belongs', 2_500, (size) => root('x\n<y/>'.repeat(size))],
    ['customers', 625, (size) => masters(many(size, (i) => `<Customer><CustomerID>C${i}</CustomerID></Customer>`))],
    ['series', 625, (size) => invoices(many(size, (i) => invoice(`FT A${i}/1`)))],
    ['numbers that go back', 625, (size) => invoices(many(size, (i) => invoice(`FT A/${(size - i) * 2}`)))],
    [
      'numbers in no order',
      625,
      (size) => invoices(many(size, (i) => invoice(`FT A/${((i * 7_919) % 1_000_003) * 2 + 1}`))),
    ],
    [
      'parts of an invoice and its lines',
      250,
      (size) => invoices(invoice('FT A/1', `${'<WithholdingTax/>'.repeat(size)}${'<Line/>'.repeat(size)}`)),
    ],
    [
      'a long amount',
      300,
      (size) => invoices(invoice('FT A/1', credit('9'.repeat(size * 4)) + credit('1').repeat(size))),
    ],
  ])('%s', async (_what, size, file) => {
    const checked = (much: number) => {
      const given = bytes(file(much));
      return () => checkSaft(portions(given, 65_536));
    };
    expect(await growth(checked, size)).toBeLessThan(no_square);
  });
});

describe('what it tells', () => {
  test('an amount without end is none', async () => {
    const { counts } = await check(invoices(invoice('FT A/1', credit('9'.repeat(101)) + credit('9'.repeat(100)))));
    expect(counts).toMatchObject({ VALUE_TOO_LONG: 1 });
  });

  test('names and values are told as far as anybody reads them', async () => {
    const { findings } = await check(root(`<${'x'.repeat(5_000)}/>`) + ' '.repeat(10));
    const unknown = findings.find(({ code }) => code === 'ELEMENT_UNKNOWN');
    expect(unknown?.facts['name']).toBe(`${'x'.repeat(300)}…`);
  });

  test.each([
    ['a name', (odd: string) => root(`<${odd}/>`)],
    ['a text', (odd: string) => root(odd)],
    ['a value', (odd: string) => invoices(invoice('FT A/1', `<InvoiceDate>${odd}</InvoiceDate>`))],
    ['an ATCUD', (odd: string) => invoices(invoice('FT A/1', `<ATCUD>${odd}</ATCUD>`))],
    ['an element', (odd: string) => root(`<a-${odd}!/>`)],
    ['an attribute', (odd: string) => root('', ` a-${odd}!="1"`)],
    ['an end', (odd: string) => root(`</a-${odd}>`)],
    ['a start', (odd: string) => root(`<a-${odd}></b>`)],
    ['a reference', (odd: string) => root(`&${odd};`)],
  ])('%s is cut between characters', async (_what, of) => {
    for (const odd of ['', 'x'].map((first) => `${first}${'\u{10400}'.repeat(400)}`)) {
      const { findings } = await check(of(odd));
      const told = JSON.stringify(findings.map(({ facts }) => facts));
      expect(told).toContain('\u{10400}');
      // JSON writes a lone surrogate as an escape.
      expect(told).not.toMatch(/\\ud[89a-f]/);
    }
  });

  test('gaps are found whatever the order, and numbers that were there already', async () => {
    const gaps = async (...numbers: readonly number[]) => {
      const { findings } = await check(invoices(numbers.map((number) => invoice(`FT A/${number}`)).join('')));
      const of = (code: string) => findings.filter((finding) => finding.code === code).map(({ facts }) => facts);
      return [of('NUMBER_GAP').map(({ missing }) => missing), of('NUMBER_REPEATED').map(({ number }) => number)];
    };
    expect(await gaps(1, 2, 5, 9)).toEqual([['3–4', '6–8'], []]);
    expect(await gaps(9, 5, 2, 1)).toEqual([['3–4', '6–8'], []]);
    expect(await gaps(1, 9, 5, 7, 6, 8, 2, 3, 4)).toEqual([[], []]);
    expect(await gaps(9, 1, 5, 4, 5, 6, 6, 1, 9)).toEqual([
      ['2–3', '7–8'],
      ['FT A/5', 'FT A/6', 'FT A/1', 'FT A/9'],
    ]);
  });
});
