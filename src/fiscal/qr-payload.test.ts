import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleContent, sampleLine } from '../../test/fiscal-samples.ts';
import { add, compare, sum } from './decimal.ts';
import type { Content, DocumentType, LineInput } from './document.ts';
import { fitsQr, type QrFields, qrAround, qrMessageOf } from './qr-message.ts';
import { isQrPayload, qrPayload } from './qr-payload.ts';

const vectors: { own: { case: string; text: string }[]; official: string[] } = JSON.parse(
  readFileSync(new URL('./fixtures/qr-vectors.json', import.meta.url), 'utf8'),
);

/** "A:1*B:2" → { A: "1", B: "2" } */
const fieldsOf = (text: string) =>
  Object.fromEntries(
    text.split('*').map((field) => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)]),
  );

const types: Record<string, DocumentType> = {
  FT: 'INVOICE',
  NC: 'CREDIT_NOTE',
  FS: 'SIMPLIFIED_INVOICE',
  GT: 'GUIA_DE_TRANSPORTE',
  PF: 'PROFORMA',
  FR: 'INVOICE_RECEIPT',
  ND: 'DEBIT_NOTE',
  RG: 'RECEIPT',
};
const finalConsumer = { id: 'c', name: 'Consumidor final', finalConsumer: true } as const;
const irs = { type: 'IRS', percent: '23' } as const;

const place = { address: 'Rua 1', postalCode: '1000-001', city: 'Lisboa', country: 'PT' };
const transport = (valued: boolean) => ({ start: '2026-03-07T09:00:00Z', loading: place, unloading: place, valued });

/** The documents that the ten messages of the reference tell, by number. */
const documents: Record<string, () => Content> = {
  'FT A2026/1': () => sampleContent('INVOICE', [sampleLine({ unitPrice: '1000' })]),
  'FT A2026/2': () =>
    sampleContent(
      'INVOICE',
      [sampleLine({ quantity: '100', unitPrice: '0.55', discount: { type: 'PERCENT', value: '8.8' } }), sampleLine()],
      {
        globalDiscount: { type: 'PERCENT', value: '10' },
      },
    ),
  'FT A2026/3': () => sampleContent('INVOICE', [sampleLine({ unitPrice: '0.65' })], { customer: finalConsumer }),
  'NC A2026/1': () => sampleContent('CREDIT_NOTE'),
  'FS A2026/1': () => sampleContent('SIMPLIFIED_INVOICE', [sampleLine({ unitPrice: '20' })]),
  'GT A2026/1': () =>
    sampleContent('GUIA_DE_TRANSPORTE', [sampleLine({ unitPrice: '0' })], { transport: transport(false) }),
  'PF A2026/1': () => sampleContent('PROFORMA', [sampleLine({ unitPrice: '1000' })]),
  'FR A2026/1': () => sampleContent('INVOICE_RECEIPT', [sampleLine({ unitPrice: '1000', withholding: irs })]),
  'ND A2026/1': () => sampleContent('DEBIT_NOTE', [sampleLine({ unitPrice: '50' })]),
  'RG A2026/1': () => sampleContent('RECEIPT', [sampleLine({ unitPrice: '900' })]),
};

test.each(vectors.own)('$case', ({ text }) => {
  const fields = fieldsOf(text);
  const content = documents[fields['G']!]!();
  expect(content.type).toBe(types[fields['D']!]);
  const date = fields['F']!.replace(/(....)(..)(..)/, '$1-$2-$3');
  const issued = {
    number: fields['G']!,
    atcud: fields['H']!,
    date,
    shortHash: fields['Q'] === '0' ? '' : fields['Q']!,
    certificateNumber: 9999,
  };
  expect(qrPayload(content, issued)).toBe(text);
});

test('all ten vectors are there', () => {
  expect(vectors.own.map(({ text }) => fieldsOf(text)['G']).sort()).toEqual(Object.keys(documents).sort());
});

const qrMessage = (fields: QrFields): string => qrMessageOf(qrAround(fields), fields);

/** Reads a message back into fields, to write it again. */
function parsed(text: string): QrFields {
  const f = fieldsOf(text);
  const pair = (base: string, tax: string) => (f[base] === undefined ? undefined : { base: f[base]!, tax: f[tax]! });
  const regions = ['I', 'J', 'K'].filter((letter) => f[`${letter}1`] !== undefined && f[`${letter}1`] !== '0');
  return {
    issuerNif: f['A']!,
    buyerTaxId: f['B']!,
    buyerCountry: f['C']!,
    typeCode: f['D']!,
    status: f['E']!,
    date: f['F']!.replace(/(....)(..)(..)/, '$1-$2-$3'),
    number: f['G']!,
    atcud: f['H']!,
    regions: regions.map((l) => ({
      region: f[`${l}1`]!,
      exempt: f[`${l}2`],
      reduced: pair(`${l}3`, `${l}4`),
      intermediate: pair(`${l}5`, `${l}6`),
      normal: pair(`${l}7`, `${l}8`),
    })),
    notSubject: f['L'],
    stampDuty: f['M'],
    taxPayable: f['N']!,
    grossTotal: f['O']!,
    withholding: f['P'],
    hashCharacters: f['Q']!,
    certificate: f['R']!,
    other: f['S'],
  };
}

test("the tax authority's own four examples", () => {
  expect(vectors.official).toHaveLength(4);
  for (const text of vectors.official) expect(qrMessage(parsed(text))).toBe(text);
});

test('what cannot stand in a message', () => {
  const good = parsed(vectors.official[3]!);
  expect(() => qrMessage({ ...good, regions: [...good.regions, { region: 'ES' }] })).toThrow('QR_TOO_MANY_REGIONS');
  expect(() => qrMessage({ ...good, buyerTaxId: '12*34' })).toThrow('QR field B');
  expect(() => qrMessage({ ...good, other: 'x'.repeat(66) })).toThrow('QR field S');
  expect(() => qrMessage({ ...good, buyerCountry: '' })).toThrow('QR field C');
});

test('each field as long as the specification lets it be, and no longer', () => {
  const most = {
    A: 9,
    B: 30,
    C: 12,
    D: 2,
    E: 1,
    F: 8,
    G: 60,
    H: 70,
    I2: 16,
    K8: 16,
    L: 16,
    M: 16,
    N: 16,
    O: 16,
    P: 16,
    Q: 4,
    R: 4,
    S: 65,
  };
  const longest = Object.keys(most).map((code) => [
    code,
    Array.from({ length: 99 }, (_, n) => 'x'.repeat(n)).findLastIndex((value) => fitsQr(code, value)),
  ]);
  expect(Object.fromEntries(longest)).toEqual(most);
});

const stamps = {
  number: 'FT A2026/7',
  atcud: 'AAJFF1XZ-7',
  date: '2026-03-02',
  shortHash: 'B7RF',
  certificateNumber: 9999,
};

/** The books of a receipt of the cash VAT scheme over a cent that is all tax. */
const cents = { net: '0.00', tax: '0.01', gross: '0.01', withholding: '0.00', toPay: '0.01', withholdings: [] };
const group = { region: 'PT', taxCode: 'NOR', rate: '23', base: '0.00', tax: '0.01' } as const;
const centOfTax: Content = { ...sampleContent('RECEIPT'), cashVat: true, books: { ...cents, groups: [group] } };

test('buyers: their number, or 999999990 with their real country', () => {
  const buyer = (customer: Content['customer']) => {
    const { B, C } = fieldsOf(qrPayload(sampleContent('INVOICE', undefined, { customer }), stamps));
    return `${B} ${C}`;
  };
  expect(buyer({ id: 'c', name: 'SL', taxpayerNumber: 'B12345678', country: 'ES' })).toBe('B12345678 ES');
  expect(buyer({ id: 'c', name: 'Ana', country: 'PT' })).toBe('999999990 PT');
  expect(buyer({ id: 'c', name: 'John', country: 'US' })).toBe('999999990 US');
  expect(
    buyer({ id: 'c', name: 'Consumidor final', taxpayerNumber: '999999990', country: 'PT', finalConsumer: true }),
  ).toBe('999999990 Desconhecido');
});

test('regions in order of first appearance; exempt codes together; other currencies in EUR', () => {
  const exempt = (exemptionCode: string) => sampleLine({ vatRate: 'EXEMPT', exemptionCode });
  const lines = [
    sampleLine({ region: 'PT-AC' }),
    exempt('M07'),
    sampleLine({ region: 'PT-MA', vatRate: 'INTERMEDIATE' }),
    exempt('M99'),
    sampleLine({ vatRate: 'REDUCED' }),
  ];
  const content = sampleContent('INVOICE', lines, { currency: 'USD', exchangeRate: '0.5' });
  expect(qrPayload(content, stamps)).toBe(
    'A:500000000*B:123456789*C:PT*D:FT*E:N*F:20260302*G:FT A2026/7*H:AAJFF1XZ-7*I1:PT-AC*I7:50.00*I8:8.00*J1:PT*J2:100.00*J3:50.00*J4:3.00*K1:PT-MA*K5:50.00*K6:6.00*N:17.00*O:267.00*Q:B7RF*R:9999',
  );
});

test('a valued transport document shows its rates; a free line fills nothing with zeros', () => {
  expect(fieldsOf(qrPayload(sampleContent('GUIA_DE_REMESSA'), stamps))).toMatchObject({
    I1: 'PT',
    I7: '100.00',
    N: '23.00',
  });
  const free = fieldsOf(qrPayload(sampleContent('INVOICE', [sampleLine({ unitPrice: '0' })]), stamps));
  expect(free).toMatchObject({ I1: 'PT', N: '0.00', O: '0.00' });
  expect(free).not.toHaveProperty('I7');
});

test('a valued transport document of nothing shows its region; only one without values has none', () => {
  const free = (valued: boolean) =>
    sampleContent('GUIA_DE_REMESSA', [sampleLine({ unitPrice: '0' })], { transport: transport(valued) });
  expect(fieldsOf(qrPayload(free(true), stamps))).toMatchObject({ I1: 'PT', N: '0.00', O: '0.00' });
  expect(fieldsOf(qrPayload(free(false), stamps))).toMatchObject({ I1: '0', N: '0.00', O: '0.00' });
});

test('a receipt whose cent is all tax tells it without a base', () => {
  expect(fieldsOf(qrPayload(centOfTax, stamps))).toMatchObject({
    I1: 'PT',
    I7: '0.00',
    I8: '0.01',
    N: '0.01',
    O: '0.01',
  });
});

test('what is withheld stands in the codes of documents of which SAF-T tells it, and of a pro forma in none', () => {
  const withheld = (type: DocumentType) =>
    fieldsOf(qrPayload(sampleContent(type, [sampleLine({ withholding: irs })]), stamps))['P'];
  for (const type of [
    'INVOICE',
    'SIMPLIFIED_INVOICE',
    'INVOICE_RECEIPT',
    'CREDIT_NOTE',
    'DEBIT_NOTE',
    'RECEIPT',
  ] as const)
    expect([type, withheld(type)]).toEqual([type, '23.00']);
  expect(withheld('PROFORMA')).toBeUndefined();
});

test('what was issued with a message as it was made before still verifies, and nothing else', () => {
  const offer = sampleContent('PROFORMA', [sampleLine({ withholding: irs })]);
  const gift = sampleContent('GUIA_DE_REMESSA', [sampleLine({ unitPrice: '0' })], { transport: transport(true) });
  for (const [content, now, before] of [
    [gift, 'I1:PT*', 'I1:0*'],
    [centOfTax, 'I1:PT*I7:0.00*I8:0.01*', 'I1:PT*'],
    [offer, 'O:123.00*', 'O:123.00*P:23.00*'],
  ] as const) {
    const message = qrPayload(content, stamps);
    expect(message).toContain(now);
    const earlier = message.replace(now, before);
    expect([message, earlier].map((qr) => isQrPayload(qr, content, stamps))).toEqual([true, true]);
    for (const other of [earlier.replace(/\*N:./, '*N:9'), message.replace('E:N', 'E:A'), message.replace(now, '')])
      expect(isQrPayload(other, content, stamps)).toBe(false);
  }
});

test('self-check: bases and taxes of the blocks sum to N and O', () => {
  const kind = fc.constantFrom<Partial<LineInput>>(
    {},
    { vatRate: 'REDUCED' },
    { region: 'PT-MA' },
    { region: 'PT-AC', vatRate: 'INTERMEDIATE' },
    { vatRate: 'EXEMPT', exemptionCode: 'M07' },
    { vatRate: 'EXEMPT', exemptionCode: 'M99', region: 'PT-AC' },
  );
  const line = fc
    .record({ kind, cents: fc.integer({ min: 0, max: 99_999 }), withheld: fc.boolean() })
    .map(({ kind, cents, withheld }) =>
      sampleLine({ ...kind, unitPrice: (cents / 100).toFixed(2), withholding: withheld ? irs : undefined }),
    );
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), fc.boolean(), (lines, foreign) => {
      const content = sampleContent('INVOICE', lines, foreign ? { currency: 'GBP', exchangeRate: '1.171717' } : {});
      const fields = fieldsOf(qrPayload(content, stamps));
      const at = (places: string) =>
        sum(
          Object.entries(fields)
            .filter(([name]) => /^[IJK]/.test(name) && places.includes(name[1]!))
            .map(([, value]) => value!),
        );
      expect(compare(at('2357'), content.books.net)).toBe(0);
      expect(compare(at('468'), fields['N']!)).toBe(0);
      expect(compare(add(content.books.net, fields['N']!), fields['O']!)).toBe(0);
      expect(fields['P'] ?? '0.00').toBe(content.books.withholding);
    }),
    { numRuns: 200 },
  );
});
