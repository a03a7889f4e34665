/** Lost credit notes: recovered over their invoices, so that nothing of an invoice is credited twice. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { summarise } from '../../src/at/line-summary.ts';
import type { Problem } from '../../src/fiscal/refusal.ts';
import type { RecoveredNote } from '../../src/operations/recovery/recovered-note.ts';
import { registerSeries } from '../../src/operations/series/registration.ts';
import { textOf } from '../golden/print-reading.ts';
import type { InvoiceJson } from '../replies.ts';
import { type LostDocuments, openLostDocuments, told } from './lost-documents.ts';
import { saftOf } from './saft-of.ts';

let service: LostDocuments['service'];
let A: LostDocuments['A'];
let customerId: string;
let itemId: string;
let lost: LostDocuments['lost'];
let invoice: LostDocuments['invoice'];
let planned: LostDocuments['planned'];
let recoverOne: LostDocuments['recoverOne'];
let recover: LostDocuments['recover'];
let problemsOf: LostDocuments['problemsOf'];
let standingOf: LostDocuments['standingOf'];

beforeAll(async () => {
  const opened = await openLostDocuments(['INVOICE', 'DEBIT_NOTE', 'CREDIT_NOTE']);
  ({ service, A, customerId, itemId, lost, invoice, planned, recoverOne, recover, problemsOf, standingOf } = opened);
});
afterAll(() => service.stop('tampered'));

let notes = 0;
/** Each has its own original. */
function note(parentInvoiceNumber: string, over: Partial<RecoveredNote> = {}): RecoveredNote {
  notes += 1;
  return {
    kind: 'D',
    original: `NC L2026/${notes}`,
    type: 'CREDIT_NOTE',
    parentInvoiceNumber,
    customerId,
    reason: 'Devolução',
    date: '2026-03-31',
    total: 369,
    ...over,
  };
}
const read = async (id: string) => (await A.get<InvoiceJson>(`/invoices/${id}`)).json;
const credit = (parentInvoiceId: string, more: Record<string, unknown> = {}) =>
  A.post<InvoiceJson & { readonly errors: Problem[] }>('/invoices/credit-notes', { parentInvoiceId, ...more });
const sound = async () => expect(await service.findings(A.id)).toEqual([]);

describe('an invoice that stands in the books, its note lost with what came after the backup', () => {
  test('the whole note is recovered, and nothing is left to be credited', async () => {
    const one = await invoice();
    const original = 'NC A2026/5';
    const [done] = await recover([note(one.number.toLowerCase(), { original })]);
    expect(done).toMatchObject({ number: 'NC R2026/1', before: false });
    const shown = await read(done!.id);
    expect(shown).toMatchObject({
      documentType: 'CREDIT_NOTE',
      status: 'ISSUED',
      parentInvoiceId: one.id,
      parentInvoiceNumber: one.number,
      syncWithAt: { status: 'NOT_APPLICABLE' },
    });
    expect(shown.summary.total).toBe(369);
    expect(shown.signature?.text).toMatch(/^2026-03-31;2026-03-31T[\d:]{8};NC R2026\/1;369\.00;$/);
    expect(await standingOf(one.id)).toEqual(['PAID', '0.00', '369.00']);
    const second = await credit(one.id);
    expect([second.status, told(second.json.errors)]).toEqual([400, ['/parentInvoiceId NOTHING_TO_CREDIT']]);
    expect((await A.post(`/invoices/${one.id}/pay`)).status).toBe(400);
    await sound();
  });

  test('a part of it by its lines: the rest stays open, and the note takes no more', async () => {
    const one = await invoice({
      items: [
        { id: itemId, quantity: 3 },
        { id: itemId, quantity: 1, unitPrice: 50 },
      ],
    });
    const items = [{ line: 2 }, { line: 1, quantity: 0.5 }];
    const [done] = await recover([note(one.number, { items, total: 123 })]);
    const lines = (await read(done!.id)).items.map(({ meta }) => meta['quantity']);
    expect(lines).toEqual([1, 0.5]);
    expect(await standingOf(one.id)).toEqual(['ISSUED', '307.50', '123.00']);
    const ofLine = (quantity: number) => credit(one.id, { items: [{ id: one.items[0]!.id, quantity }] });
    const more = await ofLine(2.6);
    expect(told(more.json.errors)).toEqual(['/items/0/quantity QUANTITY_EXCEEDS_OPEN']);
    expect((await ofLine(2.5)).status).toBe(201);
    expect(await standingOf(one.id)).toEqual(['PAID', '0.00', '430.50']);
    await sound();
  });

  test('cancelled, it gives its amount back, and may be recovered again', async () => {
    const one = await invoice();
    const body = note(one.number);
    const [wrong] = await recover([body]);
    expect((await A.post(`/invoices/${wrong!.id}/cancel`)).status).toBe(200);
    expect(await standingOf(one.id)).toEqual(['ISSUED', '369.00', '0.00']);
    const [right] = await recover([{ ...body, items: [{ line: 1, quantity: 1 }], total: 123 }]);
    expect(right!.number).not.toBe(wrong!.number);
    expect(await standingOf(one.id)).toEqual(['ISSUED', '246.00', '123.00']);
    await sound();
  });

  test('open drafts of notes show what is theirs by then, and are issued with just that', async () => {
    const one = await invoice({ items: [{ id: itemId, quantity: 3, unitPrice: 0.335 }] });
    const line = one.items[0]!.id;
    const open = (await credit(one.id, { issue: false, items: [{ id: line, quantity: 1 }] })).json;
    const [done] = await recover([note(one.number, { items: [{ line: 1, quantity: 1 }], total: open.summary.total })]);
    const shown = await read(open.id);
    expect([done!.before, shown.summary.total, shown.updatedAt > open.updatedAt]).toEqual([false, 0.4, true]);
    expect((await A.issue(shown)).summary.total).toBe(0.4);
    await sound();
  });

  test('one that was paid may have been credited', async () => {
    const one = await invoice();
    expect((await A.post(`/invoices/${one.id}/pay`)).status).toBe(200);
    await recover([note(one.number, { items: [{ line: 1, quantity: 1 }], total: 123 })]);
    expect(await standingOf(one.id)).toEqual(['PAID', '0.00', '123.00']);
  });
});

describe('an invoice that was lost too', () => {
  test('is recovered first by the same file, in whatever order it has them; the file may be run again', async () => {
    const documents = [
      note('FT L2026/0001', { items: [{ line: 1, quantity: 2 }], total: 246 }),
      note('ft l2026/1', { items: [{ line: 1 }], total: 123 }),
      lost('FT L2026/1'),
    ];
    const [one, first, second] = await recover(documents);
    expect([one!.number, first!.number, second!.number]).toEqual([
      expect.stringMatching(/^FT R/),
      expect.stringMatching(/^NC R/),
      expect.stringMatching(/^NC R/),
    ]);
    expect((await read(first!.id)).parentInvoiceId).toBe(one!.id);
    expect(await standingOf(one!.id)).toEqual(['PAID', '0.00', '369.00']);
    const again = await recover(documents);
    expect(again.map(({ id, before }) => [id, before])).toEqual([one, first, second].map((done) => [done!.id, true]));
    await sound();
  });

  test('a run that broke off before the notes goes on with them', async () => {
    const documents = [lost('FT L2026/2'), note('FT L2026/2')];
    const [ofInvoice] = await planned(documents, 'broken');
    const one = await recoverOne(ofInvoice!, 'broken');
    const done = await recover(documents, 'broken');
    expect(done.map(({ before }) => before)).toEqual([true, false]);
    expect(await standingOf(one.id)).toEqual(['PAID', '0.00', '369.00']);
  });

  test('or was recovered before, and is named by the number that it had, by its form or by its number here', async () => {
    const [copy, form] = await recover([lost('FT L2026/3'), lost('abc/0003', { kind: 'M' })]);
    const third = { items: [{ line: 1, quantity: 1 }], total: 123 };
    const names = ['FT L2026/3', copy!.number, 'FTM abc/3', form!.number];
    await recover(names.map((name) => note(name, third)));
    for (const { id } of [copy!, form!]) expect(await standingOf(id)).toEqual(['ISSUED', '123.00', '246.00']);
  });

  test('of a debit note, too; one of a form is told to the authority', async () => {
    const one = await invoice();
    const debit = lost('ND L2026/1', { type: 'DEBIT_NOTE', parentInvoiceId: one.id, reason: 'Preço' });
    const [added, taken] = await recover([note('ND L2026/1', { kind: 'M', original: 'nc/0001' }), debit]);
    expect((await read(taken!.id)).parentInvoiceId).toBe(added!.id);
    expect((await read(taken!.id)).syncWithAt.status).toBe('PENDING');
  });

  test('what can not be recovered itself is told, and nothing of its note', async () => {
    const problems = await problemsOf(lost('FT L2026/4', { total: 1 }), note('FT L2026/5'), lost('FT L2026/5'));
    expect(told(problems)).toEqual(['/documents/0/total RECOVERED_TOTAL']);
    const unpriced = await problemsOf(lost('FT L2026/4', { customerId: itemId }), note('FT L2026/4'));
    expect(told(unpriced)).toEqual(['/documents/0/customerId UNKNOWN_CUSTOMER']);
  });

  test('and was taken back: its note is not recovered before it is recovered anew', async () => {
    const [one] = await recover([lost('FT L2026/6')]);
    expect((await A.post(`/invoices/${one!.id}/cancel`)).status).toBe(200);
    expect(told(await problemsOf(note('FT L2026/6')))).toEqual(['/documents/0/parentInvoiceNumber NOT_CREDITABLE']);
    const [anew, taken] = await recover([lost('FT L2026/6'), note('FT L2026/6')]);
    expect((await read(taken!.id)).parentInvoiceId).toBe(anew!.id);
    // Taken back between the plan and its note.
    const documents = [lost('FT L2026/7'), note('FT L2026/7')];
    const [ofInvoice, ofNote] = await planned(documents, 'between');
    const { id } = await recoverOne(ofInvoice!, 'between');
    expect((await A.post(`/invoices/${id}/cancel`)).status).toBe(200);
    await expect(recoverOne(ofNote!, 'between')).rejects.toMatchObject({ code: 'RECOVERED_PARENT' });
  });
});

describe('refused, and nothing is written', () => {
  let one: InvoiceJson & { number: string };
  let before: unknown;
  const heads = async () =>
    (await service.owner.query(`select code, document_type, last_number from certo.series order by id`)).rows;
  beforeAll(async () => {
    one = await invoice();
    const elsewhere = await invoice({ items: [{ id: itemId, quantity: 1 }] });
    await A.post(`/invoices/${elsewhere.id}/cancel`);
    canceled = elsewhere.number;
    before = await heads();
  });
  let canceled: string;

  test('everything that stands against notes, at its place', async () => {
    const other = (await A.customer({ name: 'Outro, Lda', taxpayerNumber: '508025095' })).id;
    const part = (line: number, quantity?: number) => ({ line, ...(quantity === undefined ? {} : { quantity }) });
    const receipt = await invoice();
    const { receipt: paid } = (await A.post<{ receipt: { number: string } }>(`/invoices/${receipt.id}/pay`)).json;
    before = await heads();
    const problems = await problemsOf(
      note('FT A2026/9999'),
      note(canceled),
      note(paid.number),
      note(one.number, { customerId: other }),
      note(one.number, { date: '2026-03-30' }),
      note(one.number, { items: [part(2)] }),
      note(one.number, { items: [part(1, 1), part(1, 1)] }),
      note(one.number, { items: [part(1, 3.5)] }),
      note(one.number, { total: 368.99 }),
    );
    expect(told(problems)).toEqual([
      '/documents/0/parentInvoiceNumber RECOVERED_PARENT',
      '/documents/1/parentInvoiceNumber NOT_CREDITABLE',
      '/documents/2/parentInvoiceNumber NOT_CREDITABLE',
      '/documents/3/customerId PARENT_DIFFERS',
      '/documents/4/date DATE_BEFORE_PARENT',
      '/documents/5/items/0/line RECOVERED_LINE',
      '/documents/6/items/1/line DUPLICATE_LINE',
      '/documents/7/items/0/quantity QUANTITY_EXCEEDS_OPEN',
      '/documents/8/total RECOVERED_NOTE_TOTAL',
    ]);
    expect(problems[5]!.facts).toEqual({ number: one.number, line: 2, lines: 1 });
    expect(await heads()).toEqual(before);
  });

  test('notes of one file together take no more than their invoice has', async () => {
    const two = { items: [{ line: 1, quantity: 2 }], total: 246 };
    expect(told(await problemsOf(note(one.number, two), note(one.number, two)))).toEqual([
      '/documents/1/items/0/quantity QUANTITY_EXCEEDS_OPEN',
    ]);
    expect(told(await problemsOf(note(one.number), note(one.number)))).toEqual([
      '/documents/1/parentInvoiceNumber NOTHING_TO_CREDIT',
    ]);
  });

  test('one that stands in the books, that the file has twice, or that was recovered: once each, however it is spelled', async () => {
    const stands = (await credit((await invoice()).id)).json.number!;
    expect(told(await problemsOf(note(one.number, { original: stands })))).toEqual([
      '/documents/0/original RECOVERED_STANDS',
    ]);
    const twice = note(one.number, { original: 'NC T2026/1' });
    expect(told(await problemsOf(twice, { ...twice, original: 'nc t2026/01' }))).toEqual([
      '/documents/1/original RECOVERED_TWICE',
    ]);
    const [done] = await recover([twice]);
    expect(told(await problemsOf({ ...twice, original: 'nc T2026/001' }))).toEqual([
      '/documents/0/original RECOVERED_ALREADY',
    ]);
    expect(await standingOf(one.id)).toEqual(['PAID', '0.00', '369.00']);
    expect((await read(done!.id)).status).toBe('ISSUED');
  });

  test('an invoice of training', async () => {
    const { id: seriesId } = await registerSeries(service.world, A.id, {
      documentType: 'INVOICE',
      code: 'F2026',
      kind: 'F',
    });
    const { id, number } = await invoice({ seriesId });
    expect(told(await problemsOf(note(number)))).toEqual(['/documents/0/parentInvoiceNumber RECOVERED_PARENT']);
    const debit = lost('ND L2026/9', { type: 'DEBIT_NOTE', parentInvoiceId: id, reason: 'Preço' });
    expect(told(await problemsOf(debit))).toEqual(['/documents/0/parentInvoiceId RECOVERED_PARENT']);
  });

  test('what was credited after the plan was made, and two recoveries at the same moment', async () => {
    const raced = await invoice();
    const documents = [note(raced.number)];
    const [late] = await planned(documents, 'late');
    expect((await credit(raced.id, { items: [{ id: raced.items[0]!.id, quantity: 1 }] })).status).toBe(201);
    await expect(recoverOne(late!, 'late')).rejects.toMatchObject({ code: 'RECOVERED_NOTE_TOTAL' });
    const rest = { items: [{ line: 1 }], total: 246 };
    const plans = [];
    for (const digest of ['one', 'two'])
      plans.push({ digest, one: (await planned([note(raced.number, rest)], digest))[0]! });
    const outcomes = await Promise.allSettled(plans.map(({ digest, one }) => recoverOne(one, digest)));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await standingOf(raced.id)).toEqual(['PAID', '0.00', '369.00']);
  });
});

test('SAF-T, the authority and the paper name the invoice as they do for other notes, and what the note stands for', async () => {
  const one = await invoice();
  const [copy] = await recover([lost('FT Q2026/0042')]);
  const third = { items: [{ line: 1, quantity: 1 }], total: 123 };
  const [ofOwn, ofCopy] = await recover([
    note(one.number, { ...third, original: 'NC Q2026/0007' }),
    note(copy!.number, { ...third, kind: 'M', original: 'nc/0007' }),
  ]);
  const { xml, report } = await saftOf(service, A, '2026-03-01', '2026-03-31');
  const parts = xml.match(/<Invoice>\n[\s\S]*?<\/Invoice>/g)!;
  for (const [{ id, number }, quoted, control] of [
    [ofOwn!, one.number, 'NCD NC Q2026/0007'],
    [ofCopy!, 'FT Q2026/0042', 'NCM nc/0007'],
  ] as const) {
    const part = parts.find((text) => text.includes(`<InvoiceNo>${number}<`))!;
    expect(/<Reference>(.*)<\/Reference>\s*<Reason>(.*)</.exec(part)?.slice(1)).toEqual([quoted, 'Devolução']);
    expect(/<SourceBilling>(.*)</.exec(part)?.[1]).toBe('M');
    expect(/<HashControl>1-(.*)</.exec(part)?.[1]).toBe(control);
    expect(/<DebitAmount>(.*)</.exec(part)?.[1]).toBe('100.00');
    const { rows } = await service.owner.query('select content, qr from certo.documents where id = $1', [id]);
    expect(summarise(rows[0].content, '2026-03-31').map(({ reference }) => reference)).toEqual([quoted]);
    expect(rows[0].qr).toMatch(/\*D:NC\*E:N\*F:20260331\*G:NC R2026\/\d+\*.*\*O:123\.00\*/);
    for (const format of ['A4', 'RECEIPT']) {
      const { url } = (await A.get<{ url: string }>(`/invoices/${id}/pdf?format=${format}`)).json;
      const text = (await textOf((await service.open(url)).bytes)).replace(/\s+/g, ' ');
      expect(text).toContain(`Cópia do documento original -${control}`);
      expect(text).toContain(quoted);
    }
  }
  expect(report.hashes.unverified).toBe(0);
  await sound();
});

test('a note under the cash VAT scheme carries its mention, as its invoice does', async () => {
  const [, taken] = await recover([lost('FT C2026/1', { cashVat: true }), note('FT C2026/1')]);
  const { rows } = await service.owner.query('select content from certo.documents where id = $1', [taken!.id]);
  expect(rows[0].content).toMatchObject({ cashVat: true, recovered: { kind: 'D', known: true } });
});

test('what is changed of a recovered note, or of what it took of its invoice, is found', async () => {
  const one = await invoice();
  const [done] = await recover([note(one.number)]);
  await sound();
  const tamper = async (sql: string, id: string) => {
    await service.owner.query('alter table certo.documents disable trigger user');
    await service.owner.query(sql, [id]);
    await service.owner.query('alter table certo.documents enable trigger user');
    return (await service.findings(A.id)).map(({ number }) => number);
  };
  expect(await tamper(`update certo.documents set credited = 0, outstanding = 369 where id = $1`, one.id)).toContain(
    one.number,
  );
  const found = await tamper(`update certo.documents set recovered_key = 'D NC X/1' where id = $1`, done!.id);
  expect(found).toContain(done!.number);
});
