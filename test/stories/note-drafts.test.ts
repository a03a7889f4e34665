/** Drafts of credit notes: what one shows is what it is issued with, whatever other notes of its invoice do meanwhile. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endSeries } from '../../src/operations/series/end-series.ts';
import { registerSeries } from '../../src/operations/series/registration.ts';
import type { Answer } from '../client.ts';
import type { InvoiceEntryJson, InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: new Date('2026-03-02T10:15:30Z') });
  ({ A } = service.companies);
});
afterAll(() => service.stop());

const places = (answer: Answer) => [answer.status, answer.json.errors?.map(({ pointer, code }) => [pointer, code])];
const read = async (id: string) => (await A.get<InvoiceJson>(`/invoices/${id}`)).json;
const cancel = (id: string) => A.post<InvoiceJson>(`/invoices/${id}/cancel`);
const credit = (parentInvoiceId: string, body: Record<string, unknown> = {}) =>
  A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId, ...body });
const issue = ({ id, updatedAt }: InvoiceJson) =>
  A.post<InvoiceJson & { code?: string; currentUpdatedAt?: string }>(`/invoices/${id}/issue`, {
    expectedUpdatedAt: updatedAt,
  });

const withheld = { withholdingTaxAvailable: true, withholdingTaxType: 'IRS', withholdingTaxPercent: 25 };
const exempt = { unitPrice: 33.333333, vatRate: 'EXEMPT', vatExemptionReason: 'M07' };

/** An invoice of 3 × 33.333333, and notes over parts of its line. */
async function invoice(item: Record<string, unknown> = exempt) {
  const { id: itemId } = await A.item({ unitPrice: 33.333333, ...item });
  const { id, items } = await A.issue(await A.draft({ items: [{ id: itemId, quantity: 3 }] }));
  const [line] = items;
  const note = async (quantity: number, body: Record<string, unknown> = {}) =>
    (await credit(id, { items: [{ id: line!.id, quantity }], ...body })).json;
  const draft = (quantity: number, body: Record<string, unknown> = {}) => note(quantity, { issue: false, ...body });
  return { id, line: line!, note, draft };
}

const amounts = ({ summary, items }: InvoiceJson) => ({
  summary,
  lines: items.map(({ id, meta }) => ({ id, meta })),
});

describe('another note of the invoice', () => {
  test('is issued: open drafts show what is theirs by then, with a new revision, and are issued with just that', async () => {
    const { note, draft } = await invoice();
    const [open, other] = [await draft(1), await draft(1, { notes: 'outra' })];
    expect([open.summary.total, other.summary.total]).toEqual([33.33, 33.33]);
    await note(1);
    const [now, then] = [await read(open.id), await read(other.id)];
    expect([now.summary.total, now.items[0]!.meta['amountWithoutTax'], now.items[0]!.id]).toEqual([
      33.34,
      33.34,
      open.items[0]!.id,
    ]);
    expect([then.summary.total, then.notes]).toEqual([33.34, 'outra']);
    expect(now.updatedAt > open.updatedAt).toBe(true);
    const stale = await issue(open);
    expect([stale.status, stale.json.code, stale.json.currentUpdatedAt]).toEqual([400, 'DRAFT_CHANGED', now.updatedAt]);
    const issued = (await issue(now)).json;
    expect(amounts(issued)).toEqual(amounts(now));
    expect((await read(other.id)).summary.total).toBe(33.33);
    expect(await service.findings(A.id)).toEqual([]);
  });

  test('that was a draft itself is issued, or one is cancelled: they follow', async () => {
    const { draft } = await invoice();
    const [first, second] = [await draft(1), await draft(1)];
    const issued = (await issue(first)).json;
    const moved = await read(second.id);
    expect([moved.summary.total, moved.updatedAt > second.updatedAt]).toEqual([33.34, true]);
    expect((await cancel(issued.id)).json.status).toBe('CANCELED');
    const back = await read(second.id);
    expect([back.summary.total, back.updatedAt > moved.updatedAt]).toEqual([33.33, true]);
    expect((await issue(moved)).json.code).toBe('DRAFT_CHANGED');
    expect((await issue(back)).json.summary.total).toBe(33.33);
  });

  test('leaves a draft alone whose amounts it does not move', async () => {
    const { note, draft } = await invoice({ unitPrice: 10 });
    const open = await draft(1);
    await note(1);
    expect(await read(open.id)).toEqual(open);
    expect((await issue(open)).status).toBe(200);
  });

  test('moves VAT and what is withheld, too', async () => {
    const { note, draft } = await invoice({ unitPrice: 0.1, ...withheld, vatRate: 'NORMAL' });
    const open = await draft(1);
    await note(1);
    const now = await read(open.id);
    // 0.069 of VAT and 0.075 withheld of 0.30: rounded over all notes up to each.
    expect([open.summary.taxAmount, open.summary.withholdingTaxAmount]).toEqual([0.02, 0.03]);
    expect([now.summary.taxAmount, now.summary.withholdingTaxAmount]).toEqual([0.03, 0.02]);
    expect(amounts((await issue(now)).json)).toEqual(amounts(now));
  });

  test('takes what a draft has: it stays as it was, and is refused with what is open when it is issued', async () => {
    const { note, draft } = await invoice();
    const open = await draft(2);
    const taken = await note(2);
    expect(await read(open.id)).toEqual(open);
    expect(places((await issue(open)) as unknown as Answer)).toEqual([
      400,
      [['/items/0/quantity', 'QUANTITY_EXCEEDS_OPEN']],
    ]);
    await cancel(taken.id);
    expect((await issue(open)).json.summary).toEqual(open.summary);
  });

  test('of another invoice moves nothing, nor does a receipt', async () => {
    const [one, two] = [await invoice(), await invoice()];
    const open = await one.draft(1);
    await two.note(1);
    const paid = await A.post<{ receipt: { id: string } }>(`/invoices/${one.id}/pay`, { amount: 10 });
    await cancel(paid.json.receipt.id);
    expect(await read(open.id)).toEqual(open);
  });

  test('and many drafts: each of them', async () => {
    const { note, draft } = await invoice();
    const open = [];
    for (let i = 0; i < 53; i += 1) open.push(await draft(1));
    await note(1);
    const now = await Promise.all(open.map(({ id }) => read(id)));
    expect(new Set(now.map(({ summary }) => summary.total))).toEqual(new Set([33.34]));
  });
});

test('all drafts of an invoice issued at once: each as it shows, or told that it changed', async () => {
  const { id, draft } = await invoice();
  const drafts = [await draft(1), await draft(1), await draft(1)];
  for (let left = drafts.map(({ id }) => id); left.length > 0; ) {
    const shown = await Promise.all(left.map(read));
    const answers = await Promise.all(shown.map(issue));
    answers.forEach(({ status, json }, i) => {
      if (status === 200) expect(json.summary).toMatchObject({ total: shown[i]!.summary.total });
      else expect(json.code).toBe('DRAFT_CHANGED');
    });
    const rest = left.filter((_, i) => answers[i]!.status !== 200);
    expect(rest.length).toBeLessThan(left.length);
    left = rest;
  }
  const notes = await Promise.all(drafts.map(({ id }) => read(id)));
  expect(notes.map(({ summary }) => summary.total).toSorted()).toEqual([33.33, 33.33, 33.34]);
  expect((await read(id)).summary.creditNotesTotal).toBe(100);
});

test('a draft from before this rule shows other amounts: it is not signed with those that it does not show', async () => {
  const { line, note, draft } = await invoice();
  const open = await draft(1);
  const { content, net, gross, to_pay } = (
    await service.owner.query('select content, net, gross, to_pay from certo.documents where id = $1', [open.id])
  ).rows[0];
  await note(1);
  await service.owner.query(
    'update certo.documents set content = $2, net = $3, gross = $4, to_pay = $5 where id = $1',
    [open.id, JSON.stringify(content), net, gross, to_pay],
  );
  const old = await read(open.id);
  expect(old.summary.total).toBe(33.33);
  const refused = await issue(old);
  expect([refused.status, refused.json.code, refused.json.currentUpdatedAt]).toEqual([
    400,
    'DRAFT_CHANGED',
    old.updatedAt,
  ]);
  expect((await read(open.id)).status).toBe('DRAFT');
  // Any change shows what it is by now.
  const changed = (await A.patch<InvoiceJson>(`/invoices/${open.id}`, { notes: 'agora' })).json;
  expect([changed.summary.total, changed.items[0]!.meta['quantity']]).toEqual([33.34, 1]);
  expect(changed.items[0]!.data).toEqual(line.data);
  expect(amounts((await issue(changed)).json)).toEqual(amounts(changed));
});

test('a note has the reason, the day, the notes and the series that it is asked with, issued at once or later', async () => {
  const { note, draft } = await invoice();
  const { id: seriesId } = await registerSeries(service.world, A.id, { documentType: 'CREDIT_NOTE', code: 'N0' });
  const body = { reason: 'Devolução', notes: 'Caixa aberta', seriesId };
  const [atOnce, later, plain] = [await note(1, body), await draft(1, { ...body, date: '2026-03-02' }), await draft(1)];
  expect([later.date?.slice(0, 10), plain.date]).toEqual(['2026-03-02', undefined]);
  const issued = [atOnce, (await issue(later)).json, (await issue(await read(plain.id))).json];
  const { rows } = await service.owner.query(
    `select number, notes, content -> 'parent' ->> 'reason' as reason from certo.documents where id = any ($1) order by number`,
    [issued.map(({ id }) => id)],
  );
  expect(rows).toEqual([
    { number: expect.stringMatching(/^NC A2026\//), notes: null, reason: 'Anulação' },
    { number: 'NC N0/1', notes: 'Caixa aberta', reason: 'Devolução' },
    { number: 'NC N0/2', notes: 'Caixa aberta', reason: 'Devolução' },
  ]);
});

test('a series that numbers no notes any more, or recovers them, is none for the draft of one', async () => {
  const { line, id, draft } = await invoice();
  const note = await draft(1);
  const wanted = { documentType: 'CREDIT_NOTE', code: 'N1' } as const;
  const [series, recovery] = [
    await registerSeries(service.world, A.id, wanted),
    await registerSeries(service.world, A.id, { ...wanted, code: 'N2', kind: 'R' }),
  ];
  const named = await draft(1, { seriesId: series.id });
  const ended = await endSeries(service.world, A.id, {
    seriesId: series.id,
    end: 'ANNULLED',
    wait: () => Promise.resolve(false),
  });
  expect([named.documentType, ended.kind]).toEqual(['CREDIT_NOTE', 'ended']);
  for (const seriesId of [series.id, recovery.id])
    for (const answer of [
      await credit(id, { issue: false, seriesId, items: [{ id: line.id, quantity: 1 }] }),
      await A.patch(`/invoices/${note.id}`, { seriesId }),
    ])
      expect(places(answer as Answer)).toEqual([400, [['/seriesId', 'UNKNOWN_SERIES']]]);
  // It stays named where it was: whether it numbers by then, issuing decides.
  const again = await A.patch<InvoiceJson>(`/invoices/${named.id}`, { seriesId: series.id, notes: 'fica' });
  expect([again.status, again.json.notes, again.json.series?.ref]).toEqual([200, 'fica', series.id]);
});

test('a change of one thing leaves all others, also where the note cannot be issued any more', async () => {
  const { id, line, draft } = await invoice(withheld);
  const said = { date: '2026-03-02', reason: 'Troca', seriesId: A.series.CREDIT_NOTE.id };
  const note = await draft(1, said);
  const reasonOf = async (): Promise<unknown> =>
    (
      await service.owner.query(`select content->'parent'->>'reason' as reason from certo.documents where id = $1`, [
        note.id,
      ])
    ).rows[0].reason;
  const change = async (body: Record<string, unknown>) => {
    const { json } = await A.patch<InvoiceJson>(`/invoices/${note.id}`, body);
    return [json.notes, json.date, json.series?.ref, json.items[0]!.meta['quantity'], await reasonOf()];
  };
  const [day, series] = [note.date, said.seriesId];
  expect(day).toMatch(/^2026-03-02/);
  expect(await change({ notes: 'um' })).toEqual(['um', day, series, 1, 'Troca']);
  const two = [{ id: line.id, quantity: 2 }];
  expect(await change({ items: two })).toEqual(['um', day, series, 2, 'Troca']);
  const listed = (await A.get<InvoiceEntryJson[]>(`/invoices?parentInvoiceId=${id}`)).json;
  const { amountWithoutTax, taxAmount, total, withholdingTaxAmount } = (await read(note.id)).summary;
  expect(withholdingTaxAmount).toBeGreaterThan(0);
  expect(listed.map(({ summary }) => summary)).toEqual([{ amountWithoutTax, amountWithTax: total, taxAmount, total }]);
  expect((await cancel(id)).json.status).toBe('CANCELED');
  expect(await change({ reason: 'Outra' })).toEqual(['um', day, series, 2, 'Outra']);
});

test('of a draft there is no draft of a note either', async () => {
  const { id } = await A.draft();
  for (const body of [{ issue: false }, { issue: false, date: '2026-03-02' }]) {
    const answer = (await credit(id, body)) as unknown as Answer<{ code: string }>;
    expect([answer.status, answer.json.code]).toEqual([400, 'NOT_CREDITABLE']);
  }
});

test('lines keep their ids when another note of the invoice moves their amounts', async () => {
  const [one, two] = [await A.item(exempt), await A.item(exempt)];
  const { id, items } = await A.issue(
    await A.draft({ items: [one, two].map((item) => ({ id: item.id, quantity: 3 })) }),
  );
  const each = items.map((line) => ({ id: line.id, quantity: 1 }));
  const open = (await credit(id, { issue: false, items: each })).json;
  await credit(id, { items: each });
  const now = await read(open.id);
  expect(now.updatedAt).not.toBe(open.updatedAt);
  expect(now.items.map((line) => [line.id, line.ref])).toEqual(open.items.map((line) => [line.id, line.ref]));
});

test('what is wrong with a note is told at once', async () => {
  const { id, line, draft } = await invoice();
  const items = [
    { id: line.id, quantity: 4 },
    { id: uuidv7(), quantity: 1 },
  ];
  const wrong = [
    ['/seriesId', 'UNKNOWN_SERIES'],
    ['/items/0/quantity', 'QUANTITY_EXCEEDS_OPEN'],
    ['/items/1/id', 'UNKNOWN_LINE'],
  ];
  const asked = { seriesId: uuidv7(), items };
  expect(places((await credit(id, asked)) as unknown as Answer)).toEqual([400, wrong]);
  const early = ['/date', 'DATE_BEFORE_PARENT'];
  const dated = { ...asked, date: '2026-03-01' };
  expect(places((await credit(id, { ...dated, issue: false })) as unknown as Answer)).toEqual([
    400,
    [wrong[0], early, ...wrong.slice(1)],
  ]);
  const { id: open } = await draft(1);
  expect(places(await A.patch(`/invoices/${open}`, { ...dated, cae: '62010' }))).toEqual([
    400,
    [['/cae', 'FIELD_NOT_ALLOWED'], wrong[0], early, ...wrong.slice(1)],
  ]);
  const turned = (type: string) => A.patch<InvoiceJson>(`/invoices/${open}`, { type });
  expect(places((await turned('INVOICE')) as unknown as Answer)).toEqual([400, [['/type', 'FIELD_NOT_ALLOWED']]]);
  expect((await turned('CREDIT_NOTE')).json.documentType).toBe('CREDIT_NOTE');
});

test('a draft is made while nothing can be numbered: it locks no series, and broken books do not stop it', async () => {
  const { id, draft } = await invoice();
  const series = A.series.CREDIT_NOTE.id;
  const numbering = await service.owner.connect();
  try {
    await numbering.query('begin');
    await numbering.query('select from certo.series where id = $1 for no key update', [series]);
    expect((await draft(1)).status).toBe('DRAFT');
    expect((await draft(1, { seriesId: series })).status).toBe('DRAFT');
  } finally {
    await numbering.query('rollback');
    numbering.release();
  }
  await service.owner.query(
    `insert into certo.integrity_breaks (company_id, id, evidence, series, document_type, problem) values ($1, $2, sha256('x'), 'A2026', 'INVOICE', 'x')`,
    [A.id, uuidv7()],
  );
  expect((await draft(1)).status).toBe('DRAFT');
  const body = { parentInvoiceId: id };
  const blocked = await A.call('POST', '/invoices/credit-notes', { body, mayFail: true });
  expect([blocked.status, blocked.json.code]).toEqual([503, 'INTEGRITY_BROKEN']);
});
