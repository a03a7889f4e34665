import { createSign, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { refusalOf, sampleContent, sampleLine } from '../../test/fiscal-samples.ts';
import type { Content, DocumentType } from './document.ts';
import { chainPart, signedText, verifyChain } from './hash-chain.ts';
import {
  blockedUntil,
  type DecidedIssue,
  decideIssue,
  finishIssue,
  type IssueFacts,
  type SeriesHead,
} from './issue.ts';
import { type Refusal, sentence } from './refusal.ts';
import { simplifiedLimit } from './simplified-limit.ts';
import { addDays } from './time.ts';

const read = (name: string) => JSON.parse(readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8'));
const chainVectors: { vectors: { text: string; hash: string }[] } = read('hash-chain-vectors.json');
const qrVectors: { own: { text: string }[] } = read('qr-vectors.json');

const newHead = (documentType: DocumentType = 'INVOICE'): SeriesHead => ({
  documentType,
  code: 'A2026',
  validationCode: 'AAJFF1XZ',
  lastSequence: 0,
  lastHash: '',
  kind: 'N',
  cashVat: false,
});
const facts = (over: Partial<IssueFacts> = {}): IssueFacts => {
  const content = over.content ?? sampleContent('INVOICE');
  return {
    content,
    head: newHead(content.type),
    seriesStart: undefined,
    now: new Date('2026-03-02T10:15:30.900Z'),
    region: 'PT',
    notReady: [],
    certificateNumber: 9999,
    keyVersion: 1,
    ...over,
  };
};

function decided(over: Partial<IssueFacts> = {}): DecidedIssue {
  const decision = decideIssue(facts(over));
  if (decision.wait !== undefined) throw new Error(`asked to wait ${decision.wait} ms`);
  return decision;
}

const refusal = (over: Partial<IssueFacts>): Refusal => refusalOf(() => decideIssue(facts(over)));

test('the first two invoices of the reference: signed text, hash and QR message', () => {
  const [one, two] = chainVectors.vectors;
  const first = decided({ content: sampleContent('INVOICE', [sampleLine({ unitPrice: '1000' })]) });
  expect(signedText(first.parts!, '')).toBe(one!.text);
  expect(finishIssue(first, one!.hash)).toMatchObject({
    number: 'FT A2026/1',
    sequence: 1,
    seriesCode: 'A2026',
    atcud: 'AAJFF1XZ-1',
    date: '2026-03-02',
    systemEntry: '2026-03-02T10:15:30',
    shortHash: 'B7RF',
    keyVersion: 1,
    certificateNumber: 9999,
    qr: qrVectors.own[0]!.text,
  });
  const discounted = [
    sampleLine({ quantity: '100', unitPrice: '0.55', discount: { type: 'PERCENT', value: '8.8' } }),
    sampleLine(),
  ];
  const content = sampleContent('INVOICE', discounted, { globalDiscount: { type: 'PERCENT', value: '10' } });
  const head = { ...first.next, lastHash: one!.hash };
  const second = decided({ content, head, now: new Date('2026-03-02T11:02:07Z') });
  expect(signedText(second.parts!, head.lastHash)).toBe(two!.text);
  expect(finishIssue(second, two!.hash).qr).toBe(qrVectors.own[1]!.text);
});

test('a draft is frozen as it stands, and gets the dates that it left open; its own values stay', () => {
  const draft = sampleContent('INVOICE', undefined, { notes: 'obrigado' });
  const open = decided({ content: draft });
  expect(open.content).toBe(draft);
  expect([open.date, open.dueDate]).toEqual(['2026-03-02', '2026-03-02']);
  const dated = decided({ content: { ...draft, date: '2026-03-01', dueDate: '2026-04-01' } });
  expect([dated.date, dated.dueDate, dated.content.dueDate]).toEqual(['2026-03-01', '2026-04-01', '2026-04-01']);
  expect(dated.next).toEqual({
    ...newHead(),
    lastSequence: 1,
    lastDate: '2026-03-01',
    lastSystemEntry: '2026-03-02T10:15:30',
  });
});

test('not ready: all reasons; a type without a series names SERIES_REQUIRED', () => {
  const both = refusal({ notReady: [{ code: 'AT_CREDENTIALS_REQUIRED' }, { code: 'AT_SYNC_REQUIRED' }] });
  expect([both.code, both.facts, both.members]).toEqual([
    'NOT_READY',
    {
      type: 'INVOICE',
      reasons: 'AT_CREDENTIALS_REQUIRED, AT_SYNC_REQUIRED',
      remedy: { en: 'See readiness in GET /company.', pt: 'Veja readiness em GET /company.' },
    },
    { reasons: ['AT_CREDENTIALS_REQUIRED', 'AT_SYNC_REQUIRED'] },
  ]);
  const none = refusal({ content: sampleContent('DEBIT_NOTE'), head: undefined });
  expect([none.code, none.facts]).toMatchObject(['NOT_READY', { type: 'DEBIT_NOTE', reasons: 'SERIES_REQUIRED' }]);
  expect(refusal({ head: undefined, notReady: [{ code: 'SERIES_REQUIRED' }] }).members).toEqual({
    reasons: ['SERIES_REQUIRED'],
  });
});

test('a company that is ready is told which series it lacks: its readiness would say nothing', () => {
  const remedy = (over: Parameters<typeof refusal>[0]) =>
    sentence('NOT_READY', 'en', refusal({ head: undefined, ...over }).facts);
  const cashVat = { from: '2026-01-01' };
  const customer = { id: 'c', name: 'Casa, Lda', taxpayerNumber: '501442600', country: 'PT' };
  const content = sampleContent('INVOICE', undefined, { customer });
  expect(remedy({})).toMatch(/Register one with: certo series register\. See also \/docs\/readiness\.$/);
  expect(remedy({ content, cashVat })).toMatch(
    /cash VAT scheme.* Register one with: certo series register --cash-vat\. /,
  );
  expect(remedy({ content, cashVat: { from: '2027-01-01' } })).not.toContain('cash');
});

test('a draft whose own series is not active is told just that, once the company is ready', () => {
  const named = { head: undefined, isSeriesNamed: true };
  expect([refusal(named).code, refusal(named).status]).toEqual(['SERIES_NOT_ACTIVE', 400]);
  const both = refusal({ ...named, notReady: [{ code: 'AT_SYNC_REQUIRED' }] });
  expect([both.code, both.members]).toEqual(['NOT_READY', { reasons: ['AT_SYNC_REQUIRED'] }]);
});

test('a debit note needs its invoice and a reason', () => {
  const parent = { id: 'p', number: 'FT A2026/1', date: '2026-03-01', type: 'INVOICE' } as const;
  const note = (over: Partial<Content>) => ({ content: sampleContent('DEBIT_NOTE', undefined, over) });
  expect(refusal(note({})).code).toBe('PARENT_REQUIRED');
  expect(refusal(note({ parent })).code).toBe('PARENT_REQUIRED');
  expect(decided(note({ parent: { ...parent, reason: 'Juros' } })).number).toBe('ND A2026/1');
});

test('dates: never after today, never before the last of the series', () => {
  const on = (date: string) => ({ content: sampleContent('INVOICE', undefined, { date }) });
  const head = { ...newHead(), lastSequence: 4, lastDate: '2026-02-20' };
  expect(refusal(on('2026-03-03'))).toMatchObject({
    code: 'DATE_IN_FUTURE',
    facts: { date: '2026-03-03', today: '2026-03-02' },
  });
  expect(refusal({ ...on('2026-02-19'), head })).toMatchObject({
    code: 'DATE_GOES_BACK',
    facts: { date: '2026-02-19', lastDate: '2026-02-20' },
  });
  expect(decided({ ...on('2026-02-20'), head }).sequence).toBe(5);
  expect(decided({ ...on('2026-03-02'), head }).date).toBe('2026-03-02');
});

describe('the first day of a series', () => {
  const on = (date: string | undefined) => ({ content: sampleContent('INVOICE', undefined, { date }) });
  const day = fc.integer({ min: -40, max: 40 }).map((days) => addDays('2026-03-02', days));
  const kind = fc.constantFrom('N' as const, 'F' as const);

  test('no document is dated before it; where it is not here yet, today is no day too early', () => {
    fc.assert(
      fc.property(day, day, kind, (date, seriesStart, kind) => {
        fc.pre(date <= '2026-03-02');
        const facts = { ...on(date), head: { ...newHead(), kind }, seriesStart };
        const firstDay = seriesStart < '2026-03-02' ? seriesStart : '2026-03-02';
        if (date >= firstDay) {
          expect(decided(facts).date).toBe(date);
          return;
        }
        expect(refusal(facts)).toMatchObject({
          code: 'DATE_BEFORE_SERIES',
          status: 400,
          facts: { series: 'A2026', firstDay, date },
        });
      }),
    );
  });

  test('what has no date is dated today, whenever the series starts', () => {
    fc.assert(
      fc.property(day, (seriesStart) => {
        expect(decided({ ...on(undefined), seriesStart }).date).toBe('2026-03-02');
      }),
    );
  });

  test('recovered papers are older than their series', () => {
    const content = sampleContent('INVOICE', undefined, {
      date: '2023-06-06',
      recovered: { kind: 'M', original: 'abc/1' },
    });
    const head = { ...newHead(), kind: 'R' } as const;
    expect(decided({ content, head, seriesStart: '2026-03-02' }).date).toBe('2023-06-06');
  });

  test('the refusal says the first day, and what to do', () => {
    const { code, facts } = refusal({ ...on('2023-06-06'), seriesStart: '2026-03-01' });
    expect([sentence(code, 'en', facts), sentence(code, 'pt', facts)]).toEqual([
      'The series A2026 starts on 2026-03-01; a document in it cannot be dated 2023-06-06. Give 2026-03-01 or a later day.',
      'A série A2026 começa em 2026-03-01; um documento desta série não pode ter data 2023-06-06. Indique 2026-03-01 ou um dia posterior.',
    ]);
  });

  test('a later document of the series is the nearer reason', () => {
    const head = { ...newHead(), lastSequence: 4, lastDate: '2026-02-20' };
    expect(refusal({ ...on('2026-02-01'), head, seriesStart: '2026-02-10' }).code).toBe('DATE_GOES_BACK');
  });
});

describe('days that no SAF-T file can tell', () => {
  const places = (content: Content) =>
    refusal({ content }).problems.map(({ code, pointer, facts }) => [code, pointer, facts]);
  const early = (pointer: string, date: string) => ['DATE_TOO_EARLY', pointer, { date, earliest: '2000-01-01' }];
  const dated = (type: DocumentType, over: Partial<Content>) => sampleContent(type, undefined, over);

  test('none is dated before 2000, whatever its tax point, and none says a day before it', () => {
    const slip = { date: '0026-03-02', taxPointDate: '2026-03-02' };
    expect(places(dated('INVOICE', slip))).toEqual([early('/date', '0026-03-02')]);
    expect(places(dated('PROFORMA', { ...slip, date: '1999-12-31' }))).toEqual([early('/date', '1999-12-31')]);
    const payment = { method: 'NU', date: '0026-03-02' };
    expect(places(dated('INVOICE_RECEIPT', { payment, dueDate: '0026-03-03', taxPointDate: '1999-12-31' }))).toEqual([
      early('/taxPointDate', '1999-12-31'),
      early('/dueDate', '0026-03-03'),
      early('/payment/date', '0026-03-02'),
    ]);
    const recovered = { kind: 'M', original: 'abc/1' } as const;
    const head = { ...newHead(), kind: 'R' } as const;
    expect(refusal({ head, content: dated('INVOICE', { ...slip, recovered }) }).problems).toMatchObject([
      { code: 'DATE_TOO_EARLY', pointer: '/date' },
    ]);
    expect(decided({ content: dated('INVOICE', { ...slip, date: '2000-01-01' }) }).date).toBe('2000-01-01');
  });

  test('a receipt says its day once, and a credit note has the tax point of what it credits, as that stands', () => {
    const parent = { id: 'p', number: 'FT A2026/1', date: '0026-02-20', type: 'INVOICE' } as const;
    const receipt = sampleContent('RECEIPT', [], { parent, date: '0026-03-02', payment: { date: '0026-03-02' } });
    expect(places(receipt)).toEqual([early('/date', '0026-03-02')]);
    const note = { parent: { ...parent, reason: 'Anulação' }, taxPointDate: '0026-02-20' };
    expect(decided({ content: dated('CREDIT_NOTE', note) }).date).toBe('2026-03-02');
  });
});

describe('what a document is about comes before it', () => {
  const invoice = { id: 'p', number: 'FT A2026/1', date: '2026-02-20', type: 'INVOICE' } as const;
  const proforma = { id: 'o', number: 'PF A2026/1', date: '2026-02-20', type: 'PROFORMA' } as const;
  const receipt = sampleContent('RECEIPT', [], { parent: invoice });
  test.each([
    ['a credit note', sampleContent('CREDIT_NOTE', undefined, { parent: { ...invoice, reason: 'Anulação' } })],
    ['a debit note', sampleContent('DEBIT_NOTE', undefined, { parent: { ...invoice, reason: 'Juros' } })],
    ['a receipt', receipt],
    ['an invoice of a pro forma', sampleContent('INVOICE', undefined, { origin: proforma })],
  ])('%s', (_what, content) => {
    const { number } = content.parent ?? content.origin!;
    expect(refusal({ content: { ...content, date: '2026-02-19' } }).problems).toEqual([
      {
        code: 'DATE_BEFORE_PARENT',
        pointer: '/date',
        facts: { number, parentDate: '2026-02-20', date: '2026-02-19' },
      },
    ]);
    expect(decided({ content: { ...content, date: '2026-02-20' } }).date).toBe('2026-02-20');
    expect(decided({ content }).date).toBe('2026-03-02');
  });

  test('a recovered paper is recorded as it was handed out', () => {
    const head = { ...newHead('DEBIT_NOTE'), kind: 'R' } as const;
    const recovered = { kind: 'M', original: 'abc/1' } as const;
    const over = { parent: { ...invoice, reason: 'Juros' }, date: '2026-02-19', recovered };
    expect(decided({ head, content: sampleContent('DEBIT_NOTE', undefined, over) }).date).toBe('2026-02-19');
  });
});

test('what is issued as paid was paid by its own day', () => {
  const paid = (paidOn: string, date?: string) => ({
    content: sampleContent('INVOICE_RECEIPT', undefined, { date, payment: { method: 'NU', date: paidOn } }),
  });
  expect(refusal(paid('2026-03-03')).problems).toEqual([
    {
      code: 'PAYMENT_AFTER_DATE',
      pointer: '/payment/date',
      facts: { paymentDate: '2026-03-03', date: '2026-03-02' },
    },
  ]);
  expect(refusal(paid('2026-03-02', '2026-03-01')).problems).toMatchObject([{ code: 'PAYMENT_AFTER_DATE' }]);
  for (const [paidOn, date] of [['2026-03-02'], ['2026-03-01', '2026-03-01'], ['2025-12-31', '2026-03-01']] as const)
    expect(decided(paid(paidOn, date)).content.payment?.date).toBe(paidOn);
});

test("today is the company's today", () => {
  const now = new Date('2026-07-01T00:30:00Z');
  expect((['PT', 'PT-MA', 'PT-AC'] as const).map((region) => decided({ now, region }).date)).toEqual([
    '2026-07-01',
    '2026-07-01',
    '2026-07-01',
  ]);
  const evening = new Date('2026-06-30T23:30:00Z');
  expect(decided({ now: evening, region: 'PT' }).date).toBe('2026-07-01');
  expect(decided({ now: evening, region: 'PT-AC' })).toMatchObject({
    date: '2026-06-30',
    systemEntry: '2026-06-30T23:30:00',
  });
});

test('a clock behind the last signature: a short wait, or nothing is signed', () => {
  const behind = (milliseconds: number) => ({ lastSigned: new Date(facts().now.getTime() + milliseconds) });
  expect(decided(behind(0)).sequence).toBe(1);
  expect(decided(behind(-1)).sequence).toBe(1);
  expect(decideIssue(facts(behind(1)))).toEqual({ wait: 1 });
  expect(decideIssue(facts(behind(5000)))).toEqual({ wait: 5000 });
  const refused = refusal(behind(5001));
  expect([refused.code, refused.status, refused.retryAfterSeconds]).toEqual(['CLOCK_REGRESSION', 503, 6]);
  // What is waited for is no obstacle to tell of.
  const { now } = facts();
  expect(
    [undefined, 0, 5000].map((by) => blockedUntil(by === undefined ? undefined : behind(by).lastSigned, now)),
  ).toEqual([undefined, undefined, undefined]);
  expect(blockedUntil(behind(5001).lastSigned, now)).toEqual(behind(5001).lastSigned);
});

test('a draft that cannot be priced with the data of today is refused by what is wrong with it', () => {
  const refused = [{ code: 'EXEMPTION_REQUIRED', pointer: '/items/0/vatExemptionReason' }] as const;
  const content = { ...sampleContent('INVOICE'), refused };
  // Before anything else: it stands whatever series it would go into.
  for (const head of [newHead('INVOICE'), undefined])
    expect(refusal({ content, head })).toMatchObject({ code: 'INVALID_REQUEST', problems: refused });
});

test("in autumn's repeated hour the signed time stands still", () => {
  const at = (iso: string, head: SeriesHead) => decided({ now: new Date(iso), head });
  const first = at('2026-10-25T00:59:58Z', newHead());
  const second = at('2026-10-25T01:00:03Z', first.next);
  const third = at('2026-10-25T02:00:00Z', second.next);
  expect([first, second, third].map((one) => one.systemEntry)).toEqual([
    '2026-10-25T01:59:58',
    '2026-10-25T01:59:58',
    '2026-10-25T02:00:00',
  ]);
});

test('the mentions of its series are in what is frozen', () => {
  const business = { customer: { id: 'c', name: 'Lda', taxpayerNumber: '501442600', country: 'PT' } };
  const content = sampleContent('INVOICE', undefined, business);
  const cashVat = { from: '2026-01-01' };
  const mentions = (head: Partial<SeriesHead>) => {
    const { cashVat: isCashVat, training } = decided({ content, cashVat, head: { ...newHead(), ...head } }).content;
    return [isCashVat, training];
  };
  expect(mentions({ cashVat: true })).toEqual([true, undefined]);
  expect(mentions({ kind: 'F' })).toEqual([undefined, true]);
  expect(mentions({ kind: 'F', cashVat: true })).toEqual([true, true]);
});

test('rates of the tax point at issue: priced again where they changed', () => {
  const madeira = [sampleLine({ region: 'PT-MA', vatRate: 'REDUCED' })];
  const draft = sampleContent('INVOICE', madeira, { taxPoint: '2024-09-30' });
  expect(draft.totals.tax).toBe('5.00');
  const after = decided({ content: draft, now: new Date('2024-10-01T10:00:00Z') });
  expect([after.content.totals.gross, after.parts?.grossTotal, after.content.lines[0]?.rate]).toEqual([
    '104.00',
    '104.00',
    '4',
  ]);
  // Also where only one of the lines has another rate.
  const mixed = sampleContent('INVOICE', [sampleLine(), ...madeira], { taxPoint: '2024-09-30' });
  expect(decided({ content: mixed, now: new Date('2024-10-01T10:00:00Z') }).content.totals.tax).toBe('27.00');
  const supplied = decided({
    content: { ...draft, taxPointDate: '2024-09-30' },
    now: new Date('2024-10-01T10:00:00Z'),
  });
  expect(supplied.content.totals.gross).toBe('105.00');
  // A credit note keeps the rates of its invoice.
  const parent = { id: 'p', number: 'FT A2024/1', date: '2024-09-30', type: 'INVOICE', reason: 'Anulação' } as const;
  const note = { ...draft, type: 'CREDIT_NOTE', parent } as const;
  expect(decided({ content: note, now: new Date('2024-10-01T10:00:00Z') }).content.totals.gross).toBe('105.00');
});

test('what ended since the draft is refused at issue', () => {
  const basket = sampleContent('INVOICE', [sampleLine({ vatRate: 'EXEMPT', exemptionCode: 'M26' })], {
    taxPoint: '2024-01-04',
  });
  const late = refusal({ content: basket, now: new Date('2024-01-05T10:00:00Z') });
  expect([late.code, late.problems[0]?.code, late.problems[0]?.pointer]).toEqual([
    'INVALID_REQUEST',
    'EXEMPTION_UNKNOWN',
    '/items/0/vatExemptionReason',
  ]);
  const fixed = sampleContent('INVOICE', [sampleLine({ region: 'PT-MA', vatRate: 'REDUCED', fixedRate: '5' })], {
    taxPoint: '2024-09-30',
  });
  expect(refusal({ content: fixed, now: new Date('2024-10-01T10:00:00Z') }).problems[0]?.code).toBe(
    'VAT_RATE_NOT_IN_FORCE',
  );
});

test('simplified invoices have a limit, gross and in EUR', () => {
  const of = (gross: string, over: Partial<Content> = {}, productType: 'PRODUCT' | 'SERVICE' = 'PRODUCT') =>
    sampleContent(
      'SIMPLIFIED_INVOICE',
      [sampleLine({ productType, unitPrice: gross, vatRate: 'EXEMPT', exemptionCode: 'M07' })],
      over,
    );
  // As the books have it, with the number that the AT gave to all of them.
  const consumer = { id: 'c', name: 'Consumidor final', taxpayerNumber: '999999990', finalConsumer: true };
  const anonymous = { customer: consumer } as const;
  const business = { customer: { id: 'c', name: 'Lda', taxpayerNumber: '500000000', country: 'PT' } };
  const foreign = { customer: { id: 'c', name: 'SL', taxpayerNumber: 'B12345678', country: 'ES' } };
  expect(
    [of('1', anonymous), of('1'), of('1', business), of('1', foreign), of('1', anonymous, 'SERVICE')].map(
      simplifiedLimit,
    ),
  ).toEqual(['1000', '1000', '100', '100', '100']);
  const unnumbered = { customer: { id: 'c', name: 'Maria Silva', country: 'PT' } };
  expect(simplifiedLimit(of('1', unnumbered))).toBe('1000');
  // Nine digits of another country are nobody's NIF.
  const german = { customer: { id: 'c', name: 'GmbH', taxpayerNumber: '123456789', country: 'DE' } };
  expect(simplifiedLimit(of('1', german))).toBe('100');
  // One service among goods, and nobody is a retailer any more.
  const [goods, service] = [sampleLine({ productType: 'PRODUCT' }), sampleLine({ productType: 'SERVICE' })];
  expect(simplifiedLimit(sampleContent('SIMPLIFIED_INVOICE', [goods, service], anonymous))).toBe('100');
  // With its tax: 81.31 at 23 % is 100.01.
  const taxed = (unitPrice: string) => sampleContent('SIMPLIFIED_INVOICE', [sampleLine({ unitPrice })], business);
  expect(decided({ content: taxed('81.30') }).parts?.grossTotal).toBe('100.00');
  expect(refusal({ content: taxed('81.31') })).toMatchObject({ facts: { limit: '100', total: '100.01' } });
  expect(decided({ content: of('1000.00', anonymous) }).number).toBe('FS A2026/1');
  expect(refusal({ content: of('1000.01', anonymous) })).toMatchObject({
    code: 'SIMPLIFIED_LIMIT',
    facts: { limit: '1000', total: '1000.01' },
  });
  expect(decided({ content: of('100.00', business) }).sequence).toBe(1);
  expect(refusal({ content: of('100.01', business) }).code).toBe('SIMPLIFIED_LIMIT');
  expect(decided({ content: of('190', { ...business, currency: 'USD', exchangeRate: '0.5' }) }).parts?.grossTotal).toBe(
    '95.00',
  );
  expect(decided({ content: sampleContent('INVOICE', [sampleLine({ unitPrice: '5000' })], anonymous) }).sequence).toBe(
    1,
  );
});

test('receipts are numbered but not signed', () => {
  const receipt = decided({ content: sampleContent('RECEIPT') });
  expect([receipt.parts, receipt.number]).toEqual([undefined, 'RG A2026/1']);
  expect(finishIssue(receipt, '')).toMatchObject({ hash: '', shortHash: '', atcud: 'AAJFF1XZ-1' });
  expect(() => finishIssue(receipt, chainVectors.vectors[0]!.hash)).toThrow('assertion');
  expect(() => finishIssue(decided(), '')).toThrow('assertion');
  expect(() => finishIssue(decided(), `${chainVectors.vectors[0]!.hash}=`)).toThrow('assertion');
});

test('what the draft rules exclude is a fault of ours, not a refusal', () => {
  const broken: Partial<Content>[] = [
    { customer: { id: 'c', name: '', country: 'PT' } },
    { customer: { id: 'c', name: 'Ana' } },
    { issuer: { id: 'i', name: 'Casa', taxpayerNumber: '999999990' } },
    { issuer: { id: 'i', name: 'Casa' } },
    { issuer: { id: 'i', name: '', taxpayerNumber: '509442013' } },
    { customer: { id: 'c', name: 'Ana', country: 'PT', taxpayerNumber: '1*2' } },
    { customer: { id: 'c', name: 'Ana', country: 'US', taxpayerNumber: 'x'.repeat(31) } },
    { lines: [] },
    { type: 'CREDIT_NOTE' },
  ];
  for (const over of broken) {
    const content = sampleContent('INVOICE', undefined, over);
    expect(() => decideIssue(facts({ content })), JSON.stringify(over)).toThrow('assertion failed');
  }
  expect(() => decideIssue(facts({ head: newHead('CREDIT_NOTE') }))).toThrow('assertion failed');
});

test('groups against a running head: no gap, nothing goes back, the chain verifies', () => {
  const keys = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const publicKeys = new Map([[1, keys.publicKey]]);
  const contents = [sampleContent('INVOICE'), sampleContent('INVOICE', [sampleLine({ unitPrice: '0.65' })])];
  // Seconds between groups, and sizes; the clock crosses the autumn change of 2026.
  const group = fc.record({ later: fc.integer({ min: 0, max: 1800 }), size: fc.integer({ min: 1, max: 4 }) });
  fc.assert(
    fc.property(fc.array(group, { minLength: 1, maxLength: 6 }), (groups) => {
      let head = newHead();
      let now = new Date('2026-10-25T00:20:00Z');
      const documents = [];
      for (const { later, size } of groups) {
        now = new Date(now.getTime() + later * 1000);
        const members: DecidedIssue[] = [];
        for (let i = 0; i < size; i += 1) {
          members.push(
            decided({ content: contents[i % 2]!, head: members.at(-1)?.next ?? head, now, lastSigned: now }),
          );
        }
        let previous = head.lastHash;
        for (const member of members) {
          expect(member.next.lastHash).toBe(head.lastHash);
          previous = createSign('RSA-SHA1')
            .update(`${chainPart(member.parts!)};${previous}`)
            .sign(keys.privateKey, 'base64');
          const issued = finishIssue(member, previous);
          documents.push({
            ...member.parts!,
            sequence: issued.sequence,
            hash: issued.hash,
            keyVersion: issued.keyVersion,
          });
          expect(issued.qr).toContain(`*G:${issued.number}*H:${issued.atcud}*`);
        }
        head = { ...members.at(-1)!.next, lastHash: previous };
      }
      expect(verifyChain(publicKeys, documents)).toEqual([]);
      expect(head.lastSequence).toBe(documents.length);
    }),
    { numRuns: 25 },
  );
});
