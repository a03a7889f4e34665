/** A draft as it is kept has to be decided on, sealed and shown as if it were read. */
import { describe, expect, test } from 'vitest';
import { sampleContent, sampleLine } from '../../../test/fiscal-samples.ts';
import { bytesOf } from '../../../test/pieces.ts';
import type { Row } from '../../db/transact.ts';
import type { Content } from '../../fiscal/document.ts';
import { type DecidedIssue, decideIssue, finishIssue } from '../../fiscal/issue.ts';
import { schemeOf } from '../../fiscal/regime.ts';
import { utf8 } from '../../fiscal/utf8.ts';
import { masterKey } from '../../keys/sealing.ts';
import { fold, unfold } from '../../print/folded.ts';
import { Memory } from '../memory.ts';
import { begunOf, type Numbered, type Sealed, sealNumbered } from '../stamp.ts';
import { namedBy } from '../stamping.ts';
import type { World } from '../world.ts';
import { isFrozenAsDrafted, type KeptDraft, keepDraft, recallDraft } from './kept-draft.ts';
import { renderInvoice } from './render-invoice.ts';
import { showContent, showInvoice } from './show-invoice.ts';

const world = { baseUrl: 'https://certo.example', master: masterKey(new Uint8Array(32)) } as World;
const [companyId, id] = ['01a20f7f-ddc5-74c1-9d0a-415c6a8a70f0', '01a20f80-468e-7f88-bc2c-9d6d1bbd56f1'];
const at = new Date('2026-03-02T10:00:00.000Z');

const exempt = sampleLine({ id: 'two', itemId: 'other', vatRate: 'EXEMPT', exemptionCode: 'M07', quantity: '3' });
const drafts: Readonly<Record<string, Content>> = {
  plain: sampleContent('INVOICE'),
  'with an exemption, a discount and notes of two lines': sampleContent(
    'INVOICE',
    [sampleLine({ discount: { type: 'PERCENT', value: '10' } }), exempt],
    { notes: 'uma\nduas "três"', description: 'çã €' },
  ),
  'withheld and dated': sampleContent('INVOICE', [sampleLine({ withholding: { type: 'IRS', percent: '25' } })], {
    date: '2026-03-01',
    taxPointDate: '2026-02-27',
    dueDate: '2026-04-01',
  }),
  'in another currency': sampleContent('INVOICE', [sampleLine()], { currency: 'USD', exchangeRate: '0.913' }),
  'paid at once': sampleContent('INVOICE_RECEIPT', [sampleLine()], { payment: { method: 'CC', date: '2026-03-02' } }),
  'of a consumer': sampleContent('SIMPLIFIED_INVOICE', [sampleLine({ unitPrice: '9.50', productType: 'PRODUCT' })], {
    customer: { id: 'all', name: 'Consumidor final', taxpayerNumber: '999999990', finalConsumer: true },
  }),
  'of a name that is not ASCII': sampleContent('INVOICE', [sampleLine()], {
    customer: { id: 'c', name: 'Conceição & Øre \u2028 € 🧾', taxpayerNumber: '508025338', country: 'PT' },
  }),
};

function rowOf(content: Content): Row {
  return {
    id,
    type: content.type,
    status: 'DRAFT',
    created_at: at,
    updated_at: at,
    created_by: 'key-1',
    application_id: null,
    schedule_template_id: null,
    series_id: null,
    number: null,
    atcud: null,
    hash: null,
    date: content.date ?? null,
    due_date: content.dueDate ?? null,
    credited: '0',
    qr: null,
    issued_at: null,
    at_status: 'NOT_APPLICABLE',
    at_code: null,
    at_message: null,
    now: at,
    asked: { type: content.type, notes: content.notes },
    content,
  };
}

const readByIssuing = [
  'id',
  'type',
  'status',
  'created_at',
  'updated_at',
  'series_id',
  'created_by',
  'application_id',
  'schedule_template_id',
  'credited',
  'at_code',
  'at_message',
];

const decided = (content: Content): DecidedIssue =>
  decideIssue({
    content,
    head: {
      documentType: content.type,
      code: 'A2026',
      validationCode: 'A"JFF\\XZ',
      lastSequence: 4,
      lastHash: '',
      kind: 'N',
      cashVat: false,
    },
    seriesStart: undefined,
    now: at,
    region: 'PT',
    notReady: [],
    certificateNumber: 9999,
    keyVersion: 1,
  }) as DecidedIssue;

/** With a digest that leaves the text as it is. */
function sealed(row: Row, content: Content, { drafted, qr }: Partial<Pick<KeptDraft, 'drafted' | 'qr'>>): Sealed {
  const begun = begunOf(row);
  const one = decided(content);
  const hash = `${'a'.repeat(170)}A=`;
  const numbered: Numbered = {
    id,
    companyId,
    series: {
      id: 's',
      documentType: content.type,
      atType: 'FT',
      code: 'A2026',
      kind: 'N',
      cashVat: false,
      validationCode: 'AAJFF1XZ',
    },
    seriesId: 's',
    asDefault: true,
    previousHash: '',
    seals: { lastSeal: Buffer.alloc(32, 7) },
    signedText: 'x;y',
    decided: one,
    issued: finishIssue(one, hash, qr),
    now: at,
    drafted,
  };
  const stamp = { status: 'ISSUED', outstanding: '0', actor: 'key:1', begun } as const;
  return sealNumbered(numbered, stamp, (...pieces) => bytesOf(pieces));
}

describe.each(Object.entries(drafts))('a draft %s', (_, content) => {
  const memory = new Memory(() => 0).of(companyId);
  const row = rowOf(content);
  const shown = showContent(content, 'PT');
  keepDraft(memory, companyId, row, shown);
  const kept = recallDraft(memory, id)!;
  const outline = kept.row['content'] as Content;

  test('is sealed and shown by the texts that were kept', () => {
    const { seal, added } = sealed(row, content, {});
    const one = decided(content);
    const { number, atcud, hash, qr, systemEntry } = finishIssue(one, `${'a'.repeat(170)}A=`);
    const stamps = { number, atcud, hash, qr, system_entry: systemEntry, date: one.date, due_date: one.dueDate };
    expect(JSON.parse(`{${added.filter((member) => member !== '').join(',')}}`)).toMatchObject(stamps);
    const ofTexts = sealed(row, outline, kept);
    expect([ofTexts.seal, ofTexts.added]).toEqual([seal, added]);
    for (const part of ['terms', 'deal', 'issuer', 'folded'] as const)
      expect(bytesOf([kept.shown[part]])).toEqual(bytesOf([shown[part]]));
    const columns = Object.fromEntries(readByIssuing.map((column) => [column, row[column]]));
    expect(kept.row).toEqual({ ...columns, content: outline, marked: false });
    // What is decided on one of them is not told to who asks next.
    kept.row['marked'] = true;
    expect(recallDraft(memory, id)!.row).toEqual({ ...columns, content: outline, marked: false });
  });

  test('is decided on as the whole', () => {
    const [one, other] = [decided(content), decided(outline)];
    const { content: frozen, ...stamps } = other;
    expect(frozen).toBe(outline);
    expect({ ...stamps, content }).toEqual(one);
    const hash = `${'a'.repeat(170)}A=`;
    expect(finishIssue(other, hash, kept.qr)).toEqual(finishIssue(one, hash));
    expect([schemeOf(outline), namedBy(outline)]).toEqual([schemeOf(content), namedBy(content)]);
    expect(outline.customer.name).toBe(content.customer.name);
  });

  test('has the reply that it has without them, before and after its issue', () => {
    const issued = {
      ...row,
      number: 'FT A2026/5',
      atcud: 'A"JFF\\XZ-5',
      hash: `${'a'.repeat(170)}A=`,
      signed_text: 'x;y',
      key_version: 1,
      date: content.date ?? '2026-03-02',
      due_date: content.dueDate ?? '2026-03-02',
      series_id: 's',
      series_name: 'A2026',
      issued_at: new Date('2026-03-02T10:00:00.001Z'),
      qr: finishIssue(decided(content), `${'a'.repeat(170)}A=`).qr,
    };
    const told = { ...issued, at_status: 'REJECTED', at_code: '-3', at_message: 'Já "existe" \u2028 €' };
    for (const one of [row, issued, told]) {
      const whole = utf8(JSON.stringify(showInvoice(one, 'PT', companyId, world)));
      const rendered = renderInvoice({ ...one, content: outline }, kept.shown, 'PT', companyId, world);
      expect((rendered.body() as Buffer).toString('latin1')).toBe(whole);
    }
    const recorded = bytesOf(renderInvoice({ ...row, content: outline }, kept.shown, 'PT', companyId, world).folded());
    const whole = JSON.stringify(showInvoice(row, 'PT', companyId, world));
    expect(recorded.length).toBeLessThan(fold(utf8(whole)).length - 600);
    expect(unfold(recorded.toString())).toBe(whole);
    // Its picture is drawn behind the write: that it can be is found before.
    const undrawable = { ...issued, content: outline, qr: 'A'.repeat(2_332) };
    expect(() => renderInvoice(undrawable, kept.shown, 'PT', companyId, world)).toThrow(RangeError);
  });
});

test('what is made of another document is not kept, nor what could not be issued as it is', () => {
  const memory = new Memory(() => 0).of(companyId);
  const origin = { id: 'p', number: 'PF A2026/1', date: '2026-03-01', type: 'PROFORMA' } as const;
  const plain = sampleContent('INVOICE');
  const unknown = { ...plain.issuer, taxpayerNumber: undefined };
  const group = plain.books.groups[0]!;
  const places = ['PT', 'PT-MA', 'PT-AC', 'ES'] as (typeof group.region)[];
  const books = { ...plain.books, groups: places.map((region) => ({ ...group, region })) };
  const [starred, abroad] = ['1*2', '508025338'].map((taxpayerNumber) => ({ ...plain.customer, taxpayerNumber }));
  const far = { ...abroad!, country: 'A country of no code' };
  const refused = [{ code: 'RATE_DIFFERS', pointer: '/date', facts: {} }] as unknown as Content['refused'];
  for (const more of [
    { origin },
    { parent: { ...origin, reason: 'juros' } },
    { issuer: unknown },
    { customer: starred! },
    { customer: far },
    { refused },
    { books },
  ]) {
    const content = { ...plain, ...more };
    keepDraft(memory, companyId, rowOf(content), showContent(content, 'PT'));
    expect(recallDraft(memory, id)).toBeUndefined();
  }
  keepDraft(memory, companyId, rowOf(plain), showContent(plain, 'PT'));
  expect(recallDraft(memory, id)).toBeDefined();
});

test('of what is too long to be kept nothing is made', () => {
  const memory = new Memory(() => 0).of(companyId);
  const lines = Array.from({ length: 60 }, (_, i) => sampleLine({ id: `line ${i}`, name: 'x'.repeat(200) }));
  const content = sampleContent('INVOICE', lines);
  const shown = showContent(content, 'PT');
  const row = Object.defineProperty(rowOf(content), 'asked', {
    get: () => {
      throw new Error('what is sealed of it is made');
    },
  });
  keepDraft(memory, companyId, row, shown);
  expect(recallDraft(memory, id)).toBeUndefined();
});

test('it is frozen as it stands in a normal series, while its rates are in force', () => {
  const content = sampleContent('INVOICE', [sampleLine({ region: 'PT-MA', vatRate: 'REDUCED' })], {
    taxPoint: '2024-09-30',
  });
  const series = { kind: 'N', cash_vat: false };
  expect(isFrozenAsDrafted(content, series, '2024-09-30')).toBe(true);
  // Madeira's reduced rate is another from 1 October 2024.
  expect(isFrozenAsDrafted(content, series, '2024-10-01')).toBe(false);
  expect(isFrozenAsDrafted({ ...content, taxPointDate: '2024-09-30' }, series, '2024-10-01')).toBe(true);
  expect(isFrozenAsDrafted({ ...content, date: '2024-10-01' }, series, '2024-09-30')).toBe(false);
  expect(isFrozenAsDrafted(content, { ...series, kind: 'F' }, '2024-09-30')).toBe(false);
  expect(isFrozenAsDrafted(content, { ...series, cash_vat: true }, '2024-09-30')).toBe(false);
});
