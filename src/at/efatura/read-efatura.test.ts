import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { longest_line } from './lines.ts';
import { type EfaturaProblem, problemSentence, problemWords } from './problems.ts';
import { readEfatura } from './read-efatura.ts';
import { type EfaturaDocument, typeWords } from './record.ts';
import { efaturaHead, efaturaLine } from './write-efatura.ts';

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(
  file: string | Uint8Array,
  size = 7,
): Promise<{ documents: EfaturaDocument[]; problems: EfaturaProblem[] }> {
  const documents: EfaturaDocument[] = [];
  const problems: EfaturaProblem[] = [];
  for await (const portion of readEfatura(inChunks(typeof file === 'string' ? Buffer.from(file) : file, size))) {
    documents.push(...portion.documents);
    problems.push(...portion.problems);
  }
  return { documents, problems };
}
const wrong = async (file: string | Uint8Array) =>
  (await read(file)).problems.map(({ line, code }) => `${line} ${code}`).join(' ');

const head = 'Nº Documento / ATCUD;NIF Adquirente;Tipo do Documento;Data Emissão;Total;IVA;Base Tributável;Situação\n';
const row = (over: Record<string, string> = {}) => {
  const values = {
    number: 'FT FA.2026/462 / J6NTT56K-462',
    acquirer: '508025095',
    type: 'Fatura',
    date: '2026-01-22',
    gross: '1.169,68 €',
    tax: '218,72 €',
    net: '950,96 €',
    situation: 'Registado',
    ...over,
  };
  return `${Object.values(values).join(';')}\n`;
};
const document = {
  line: 2,
  number: 'FT FA.2026/462',
  atcud: 'J6NTT56K-462',
  type: 'INVOICE',
  date: '2026-01-22',
  canceled: false,
  situation: 'Registado',
  acquirerNif: '508025095',
  acquirerName: undefined,
  net: '950.96',
  tax: '218.72',
  gross: '1169.68',
};

describe('a file', () => {
  const text = head + row();
  test.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a byte order mark and CRLF', Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`)],
    ['Latin-1', Buffer.from(text.replaceAll('€', ''), 'latin1')],
    ['Windows-1252', Buffer.from(text.replaceAll('€', '\u0080'), 'latin1')],
    ['without accents', Buffer.from(text.normalize('NFKD').replace(/[^\n\x20-\x7e]/g, ''))],
    ['with quotation marks, the last without a line break', Buffer.from(text.trimEnd().replace(/[^;\n]+/g, '"$&"'))],
    ['with empty lines', Buffer.from(`${head}\n${row()}\n\n`)],
  ])('in %s', async (_how, bytes) => {
    for (const size of [1, 2, 3, 5, 64, 100_000]) {
      const { documents, problems } = await read(bytes, size);
      expect(problems).toEqual([]);
      expect(documents).toEqual([{ ...document, line: documents[0]?.line }]);
    }
  });

  test('that is something else is told so', async () => {
    expect(await wrong('')).toBe('1 FILE_EMPTY');
    expect(await wrong('\ufeff \r\n\n')).toBe('1 FILE_EMPTY');
    expect(await wrong('PK\u0003\u0004…')).toBe('1 FILE_WORKBOOK');
    expect(await wrong('  <!DOCTYPE html><html>')).toBe('1 FILE_PAGE');
    expect(await wrong(Buffer.from(`\ufeff${head}`, 'utf16le'))).toBe('1 FILE_UTF16');
    expect(await wrong(head.replaceAll(';', ','))).toBe('1 SEPARATOR');
    expect(await wrong(head.replace('NIF Adquirente', 'Emitente'))).toBe('1 PURCHASES');
    expect(await wrong('Setor;Emitente;Nº Fatura / ATCUD;Tipo;Data Emissão;Total;IVA;Base Tributável;Situação\n')).toBe(
      '1 PURCHASES',
    );
    expect(await wrong('a;b;IVA;iva\n')).toBe(`1 COLUMN_TWICE${' 1 COLUMN_MISSING'.repeat(6)}`);
  });

  test('without a document is one too', async () => {
    expect(await read(head)).toEqual({ documents: [], problems: [] });
    // Who names issuer and acquirer may be either: only where the acquirer is missing these are purchases.
    expect(await read(head.replace('NIF Adquirente', 'Emitente;NIF Adquirente'))).toEqual({
      documents: [],
      problems: [],
    });
  });

  test('in two encodings ends there', async () => {
    const mixed = Buffer.concat([Buffer.from(head + row()), Buffer.from(row({ situation: 'Situação' }), 'latin1')]);
    const { documents, problems } = await read(mixed, 1000);
    expect([documents.length, problems]).toEqual([0, [{ line: 1, code: 'ENCODING_MIXED', facts: {} }]]);
    expect((await read(mixed, 40)).problems[0]?.line).toBeGreaterThan(1);
  });

  test('of one endless line costs no endless memory', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (; given < 1000; given += 1) yield Buffer.alloc(longest_line, '"');
    }
    const portions = [];
    for await (const portion of readEfatura(endless())) portions.push(...portion.problems);
    expect([portions.map(({ code }) => code), given]).toEqual([['LINE_TOO_LONG'], 1]);
  });

  test('cut anywhere is never a shorter good one, unless cut between lines', async () => {
    const whole = efaturaHead() + [1, 2].map((n) => efaturaLine(lineOf(n))).join('');
    const bytes = Buffer.from(whole);
    for (let end = 0; end < bytes.length; end += 1) {
      const { documents, problems } = await read(bytes.subarray(0, end), 1000);
      const text = bytes.toString('utf8', 0, end);
      const whole = /"Registado"[\r\n]*$/.test(text) || text === efaturaHead();
      expect([end, problems.length === 0]).toEqual([end, whole]);
      expect(documents).toHaveLength(text.split('"Registado"').length - 1);
    }
    expect(await wrong((head + row()).slice(0, -3))).toBe('2 FILE_CUT');
    expect(await wrong((head + row()).slice(0, -1))).toBe('2 FILE_CUT');
    expect(await wrong(head + row().slice(0, 40))).toBe('2 FILE_CUT');
  });
});

function lineOf(n: number) {
  return {
    number: `FT A/${n}`,
    atcud: `JFTESTE1-${n}`,
    acquirer: '508025095',
    type: 'Fatura',
    date: '2026-01-22',
    gross: '1.00',
    tax: '0.00',
    net: '1.00',
    situation: 'Registado' as const,
  };
}

describe('a line', () => {
  test.each<[Record<string, string>, Partial<EfaturaDocument>]>([
    [{ number: 'FT FT26/013760' }, { number: 'FT FT26/013760', atcud: undefined }],
    [{ number: ' 1  2026/28 / J6HD9ZX5-28 ' }, { number: '1 2026/28', atcud: 'J6HD9ZX5-28' }],
    [{ number: 'G 1123-23P/204582 / 0' }, { number: 'G 1123-23P/204582', atcud: undefined }],
    [{ number: 'FT A / B/3' }, { number: 'FT A / B/3', atcud: undefined }],
    [{ acquirer: '' }, { acquirerNif: undefined }],
    [
      { acquirer: '508025095 - Casa Alfa - Filhos, Lda' },
      { acquirerNif: '508025095', acquirerName: 'Casa Alfa - Filhos, Lda' },
    ],
    [
      { acquirer: '"ESB12345678 - ""O Cantinho""; bar"' },
      { acquirerNif: 'ESB12345678', acquirerName: '"O Cantinho"; bar' },
    ],
    [{ type: 'FATURA-RECIBO' }, { type: 'INVOICE_RECEIPT' }],
    [{ type: 'Factura/Recibo' }, { type: 'INVOICE_RECEIPT' }],
    [{ type: 'Fatura Simplificada' }, { type: 'SIMPLIFIED_INVOICE' }],
    [
      { type: 'Nota de credito', gross: '-12,30 €' },
      { type: 'CREDIT_NOTE', gross: '12.30' },
    ],
    [{ type: 'Nota de débito' }, { type: 'DEBIT_NOTE' }],
    [{ type: 'Recibo' }, { type: 'RECEIPT' }],
    [{ date: '31/12/2025' }, { date: '2025-12-31' }],
    [{ date: '29-02-2024' }, { date: '2024-02-29' }],
    [{ gross: '0,5' }, { gross: '0.50' }],
    [{ gross: '12 345\u00a0678,90\u00a0€' }, { gross: '12345678.90' }],
    [{ gross: '9.999.999.999.999,99' }, { gross: '9999999999999.99' }],
    [{ gross: '0012' }, { gross: '12.00' }],
    [{ situation: 'Anulado' }, { canceled: true, situation: 'Anulado' }],
    [{ situation: 'FATURA ANULADA' }, { canceled: true, situation: 'FATURA ANULADA' }],
    [{ situation: '' }, { canceled: false, situation: undefined }],
    // Nothing of ours runs formulas: in a name it is text.
    [{ acquirer: '508025095 - =cmd|calc' }, { acquirerName: '=cmd|calc' }],
  ])('%j', async (over, expected) => {
    expect(await read(head + row(over))).toEqual({ documents: [{ ...document, ...expected }], problems: [] });
  });

  test.each<[Record<string, string>, string]>([
    [{ number: '' }, '2 NUMBER'],
    [{ number: '=HYPERLINK("http://x")' }, '2 NUMBER'],
    [{ number: '+1' }, '2 NUMBER'],
    [{ number: '@SUM(A1)' }, '2 NUMBER'],
    [{ number: `FT ${'A'.repeat(60)}/1` }, '2 NUMBER'],
    [{ acquirer: '<script>' }, '2 TAX_ID'],
    [{ acquirer: `508025095 - ${'x'.repeat(201)}` }, '2 NAME_TOO_LONG'],
    [{ type: 'Guia de transporte' }, '2 TYPE'],
    [{ type: '' }, '2 TYPE'],
    [{ date: '2026-02-29' }, '2 DATE'],
    [{ date: '01/13/2026' }, '2 DATE'],
    [{ date: '' }, '2 DATE'],
    [{ gross: '1169.68' }, '2 AMOUNT'],
    [{ gross: '1.16,68' }, '2 AMOUNT'],
    [{ gross: '1,234.56' }, '2 AMOUNT'],
    [{ gross: '-1,00' }, '2 AMOUNT'],
    [{ gross: '1,234' }, '2 AMOUNT'],
    [{ gross: '10.000.000.000.000,00' }, '2 AMOUNT'],
    [{ gross: '1e3' }, '2 AMOUNT'],
    [{ gross: '' }, '2 AMOUNT'],
    [{ net: 'x', tax: 'y', gross: 'z', date: 'd', type: 't' }, '2 TYPE 2 DATE 2 AMOUNT 2 AMOUNT 2 AMOUNT'],
    [{ situation: 'a\u0000b' }, '2 CHARACTER'],
    [{ acquirer: '508025095 - a\ufffdb' }, '2 CHARACTER'],
    [{ situation: 'a;b' }, '2 FIELDS'],
    [{ acquirer: '"508025095' }, '2 QUOTES'],
    [{ acquirer: '"508025095"x' }, '2 QUOTES'],
  ])('%j: %s', async (over, codes) => {
    expect(await wrong(head + row(over))).toBe(codes);
  });

  test('lengths are of characters, and what is cut is cut between them', async () => {
    const long = { acquirer: `508025095 - ${'😀'.repeat(200)}`, situation: `a${'😀'.repeat(300)}` };
    expect((await read(head + row(long))).documents).toMatchObject([
      { acquirerName: '😀'.repeat(200), situation: `a${'😀'.repeat(199)}` },
    ]);
    const { problems } = await read(head + row({ type: `a${'😀'.repeat(100)}` }));
    expect(problems[0]?.facts?.['value']).toBe(`a${'😀'.repeat(79)}…`);
  });

  test('a quotation mark that is never closed spoils its own line only', async () => {
    const { documents, problems } = await read(head + row({ acquirer: '"508025095' }) + row());
    expect([documents.map(({ line }) => line), problems.map(({ line }) => line)]).toEqual([[3], [2]]);
  });

  test('an ATCUD in a column of its own', async () => {
    const own = head.replace('Nº Documento / ATCUD', 'Nº Documento;ATCUD');
    expect((await read(own + row({ number: 'FT A/1;JFTESTE1-1' }))).documents[0]).toMatchObject({
      number: 'FT A/1',
      atcud: 'JFTESTE1-1',
    });
    expect(await wrong(own + row({ number: 'FT A/1;nonsense' }))).toBe('2 ATCUD');
  });
});

test('what is written is read again, in chunks of any size', async () => {
  const amount = fc
    .nat({ max: 10 ** 12 })
    .map((cents) => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`);
  const line = fc.record({
    number: fc.stringMatching(/^[A-Z]{2} [A-Z0-9._-]{1,20}\/[1-9]\d{0,9}$/),
    atcud: fc.stringMatching(/^[A-Z0-9]{8}-[1-9]\d{0,9}$/),
    acquirer: fc.stringMatching(/^([1-9]\d{8}|[A-Z]{2}[A-Z0-9]{5})( - [A-Za-zçãé"; ,&]{0,30}x)?$/),
    type: fc.constantFrom(...Object.values(typeWords)),
    date: fc.constantFrom('2023-01-01', '2026-12-31'),
    gross: amount,
    tax: amount,
    net: amount,
    situation: fc.constantFrom('Registado' as const, 'Anulado' as const),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.integer({ min: 1, max: 300 }), async (lines, size) => {
      const { documents, problems } = await read(efaturaHead() + lines.map(efaturaLine).join(''), size);
      expect(problems).toEqual([]);
      expect(documents).toEqual(
        lines.map(({ number, atcud, acquirer, type, date, gross, tax, net, situation }, place) => ({
          line: place + 2,
          number,
          atcud,
          type: Object.entries(typeWords).find(([, words]) => words === type)![0],
          date,
          canceled: situation === 'Anulado',
          situation,
          acquirerNif: acquirer.split(' - ')[0],
          acquirerName: acquirer.includes(' - ') ? acquirer.slice(acquirer.indexOf(' - ') + 3).trim() : undefined,
          gross,
          tax,
          net,
        })),
      );
    }),
    { numRuns: 200 },
  );
});

test('no bytes whatever throw', async () => {
  const bits = fc.constantFrom(head, row(), '"', ';', '\n', '\r', '\u0000', '€', 'FT A/1', '=1+1', '\ufeff');
  const text = fc
    .array(fc.oneof(bits, fc.string({ unit: 'binary' })), { maxLength: 12 })
    .map((parts) => Buffer.from(parts.join('')));
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(text, fc.uint8Array({ maxLength: 400 })),
      fc.integer({ min: 1, max: 64 }),
      async (bytes, size) => {
        const { documents, problems } = await read(bytes, size);
        for (const { gross } of documents) expect(gross).toMatch(/^\d+\.\d\d$/);
        for (const problem of problems) expect(problem.line).toBeGreaterThan(0);
      },
    ),
    { numRuns: 500 },
  );
});

test.each(Object.keys(problemWords))('%s is told in both languages, with what it is about', (code) => {
  const facts = {
    column: 'C',
    value: 'V',
    character: 'U+0000',
    limit: 1,
    found: 1,
    expected: 2,
    number: 'N',
    series: 'S',
    known: 'K',
  };
  for (const language of ['en', 'pt'] as const) {
    expect(problemSentence({ line: 1, code: code as EfaturaProblem['code'], facts }, language)).toMatch(/^[^{}]+\.$/);
  }
});
