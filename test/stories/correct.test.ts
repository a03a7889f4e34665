/** After the issue: payments with their receipts, credit notes, cancellation; what is outstanding ties to the cent. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../client.ts';
import { textOf } from '../golden/print-reading.ts';
import type { InvoiceEntryJson, InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

type Paid = InvoiceJson & {
  readonly receipt: { readonly id: string; readonly number: string; readonly atcud: string };
};

let service: Service;
let A: TestCompany;
let B: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'], clock: new Date('2026-03-02T10:15:30Z') });
  ({ A, B } = service.companies);
});
afterAll(() => service.stop());

const refusal = ({ status, json }: { status: number; json: unknown }) => [status, (json as { code: string }).code];
const places = (answer: Answer) => [answer.status, answer.json.errors?.map(({ pointer, code }) => [pointer, code])];
const read = async (id: string) => (await A.get<InvoiceJson>(`/invoices/${id}`)).json;
const pay = (id: string, body: unknown = {}) => A.post<Paid>(`/invoices/${id}/pay`, body);
const cancel = (id: string, body: unknown = {}) => A.post<InvoiceJson>(`/invoices/${id}/cancel`, body);
const credit = (parentInvoiceId: string, body: Record<string, unknown> = {}) =>
  A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId, ...body });
const outstanding = async (id: string) =>
  (await service.owner.query('select outstanding::text from certo.documents where id = $1', [id])).rows[0].outstanding;

/** An issued invoice over one line; its total is 1.23 × quantity × price. */
async function invoice(
  item: Record<string, unknown> = {},
  line: Record<string, unknown> = {},
  over: Record<string, unknown> = {},
) {
  const { id } = await A.item({ unitPrice: 100, ...item });
  return A.issue(await A.draft({ items: [{ id, quantity: 1, ...line }], ...over }));
}

describe('payment', () => {
  test('in full: a receipt, and the invoice is PAID', async () => {
    const { id, number } = await invoice();
    const paid = (await pay(id, { method: 'Numerário', notes: 'Obrigado' })).json;
    expect(paid).toMatchObject({ id, status: 'PAID', receipt: { number: 'RG A2026/1' } });
    expect(paid.receipt.atcud).toBe(`${A.series.RECEIPT.validationCode}-1`);
    const receipt = await read(paid.receipt.id);
    expect(receipt).toMatchObject({
      documentType: 'RECEIPT',
      status: 'ISSUED',
      number: 'RG A2026/1',
      parentInvoiceId: id,
      parentInvoiceNumber: number,
      parentInvoiceType: 'INVOICE',
      notes: 'Obrigado',
      payment: { method: 'NU', date: '2026-03-02T00:00:00.000+00:00' },
      summary: { total: 123, totalToPay: 123 },
      syncWithAt: { status: 'NOT_APPLICABLE' },
      items: [],
    });
    // The law leaves receipts unsigned.
    expect(receipt).not.toHaveProperty('shortHash');
    expect(receipt).not.toHaveProperty('signature');
    expect(receipt.qrCode?.data).toContain('*D:RG*');
    const listed = (await A.get<InvoiceEntryJson[]>(`/invoices?parentInvoiceId=${id}&documentType=RECEIPT`)).json;
    expect(listed.map((entry) => entry.id)).toEqual([receipt.id]);
    expect(refusal(await pay(id))).toEqual([400, 'INVALID_STATE']);
    expect((await A.get(`/invoices/${receipt.id}/pdf`)).status).toBe(200);
  });

  test('of what is withheld under two norms of one rate: each stands in SAF-T with its own amount', async () => {
    const items = await Promise.all(
      [
        ['IRS', 'CIRS 101.º n.º 1 e)'],
        ['IRS', 'CIRS 101.º n.º 1 d)'],
        ['IRC', 'CIRC 94.º n.º 1'],
      ].map(async ([withholdingTaxType, withholdingTaxReason]) => {
        const withheld = { withholdingTaxAvailable: true, withholdingTaxType, withholdingTaxReason };
        return { id: (await A.item({ unitPrice: 100, ...withheld, withholdingTaxPercent: 25 })).id, quantity: 1 };
      }),
    );
    const { id, number } = await A.issue(await A.draft({ items }));
    const { receipt } = (await pay(id, { amount: 29.4 })).json;
    const note = (await credit(id, { items: [{ id: (await read(id)).items[1]!.id, quantity: 0.5 }] })).json;
    const { text } = await A.get('/saft?fromDate=2026-03-01&toDate=2026-03-31');
    const withheldOn = (of: string) => {
      const document = text.match(/<(Invoice|Payment)>\n[\s\S]*?<\/\1>/g)!.find((xml) => xml.includes(`>${of}<`))!;
      const found = /<WithholdingTaxType>(.*)<[\s\S]*?Description>(.*)<[\s\S]*?Amount>(.*)</;
      return document.match(/<WithholdingTax>[\s\S]*?<\/WithholdingTax>/g)!.map((xml) => found.exec(xml)!.slice(1));
    };
    const under = (...amounts: string[]) => [
      ['IRS', 'CIRS 101.º n.º 1 e)', amounts[0]],
      ['IRS', 'CIRS 101.º n.º 1 d)', amounts[1]],
      ['IRC', 'CIRC 94.º n.º 1', amounts[2]],
    ];
    expect(withheldOn(number!)).toEqual(under('25.00', '25.00', '25.00'));
    expect(withheldOn(receipt.number)).toEqual(under('2.50', '2.50', '2.50'));
    expect(withheldOn(note.number!)).toEqual([under('', '12.50')[1]]);
  });

  test('in parts, never more than is outstanding', async () => {
    const { id } = await invoice();
    expect((await pay(id, { amount: 23.45 })).json.status).toBe('ISSUED');
    expect(await outstanding(id)).toBe('99.55');
    expect(places((await pay(id, { amount: 99.56 })) as unknown as Answer)).toEqual([
      400,
      [['/amount', 'AMOUNT_EXCEEDS_OUTSTANDING']],
    ]);
    for (const [amount, code] of [
      [0, 'TOO_SMALL'],
      [-1, 'TOO_SMALL'],
      [0.001, 'TOO_MANY_DECIMALS'],
      ['1', 'INVALID_TYPE'],
    ])
      expect(places((await pay(id, { amount })) as unknown as Answer)).toEqual([400, [['/amount', code]]]);
    expect((await pay(id, { amount: 99.55 })).json.status).toBe('PAID');
    expect(await outstanding(id)).toBe('0.00');
  });

  test('what is wrong with it is told at once, and blank texts say nothing', async () => {
    const { id } = await invoice();
    const wrong = await pay(id, { amount: 123.01, seriesId: uuidv7() });
    expect(places(wrong as unknown as Answer)).toEqual([
      400,
      [
        ['/seriesId', 'UNKNOWN_SERIES'],
        ['/amount', 'AMOUNT_EXCEEDS_OUTSTANDING'],
      ],
    ]);
    const { receipt } = (await pay(id, { notes: '  ', method: ' ' })).json;
    const paid = await read(receipt.id);
    expect(paid).not.toHaveProperty('notes');
    expect(paid.payment).toEqual({ date: '2026-03-02T00:00:00.000+00:00' });
  });

  test('the last receipt takes what is left of the tax withheld', async () => {
    const withheld = { withholdingTaxAvailable: true, withholdingTaxType: 'IRS', withholdingTaxPercent: 23 };
    const { id, summary } = await invoice({ unitPrice: 1000, ...withheld });
    expect([summary.total, summary.totalToPay]).toEqual([1230, 1000]);
    const receipts: InvoiceJson[] = [];
    for (const body of [{ amount: 333.33 }, { amount: 333.33 }, {}])
      receipts.push(await read((await pay(id, body)).json.receipt.id));
    const sum = (of: (receipt: InvoiceJson) => number) =>
      receipts.reduce((total, receipt) => total + Math.round(of(receipt) * 100), 0) / 100;
    expect(sum(({ summary: { totalToPay } }) => totalToPay)).toBe(1000);
    expect(sum(({ summary: { withholdingTaxAmount } }) => withholdingTaxAmount)).toBe(230);
    expect(sum(({ summary: { total } }) => total)).toBe(1230);
    expect((await read(id)).status).toBe('PAID');
  });

  test('belongs to what waits for one', async () => {
    const { id: parentInvoiceId } = await invoice();
    const debit = await A.issue(await A.draft({ type: 'DEBIT_NOTE', parentInvoiceId, reason: 'Preço' }));
    expect((await pay(debit.id)).json.status).toBe('PAID');
    for (const type of ['SIMPLIFIED_INVOICE', 'INVOICE_RECEIPT']) {
      const document = await A.issue(await A.draft({ type }));
      expect(refusal(await pay(document.id))).toEqual([400, 'NOT_PAYABLE']);
    }
    expect(refusal(await pay((await A.draft()).id))).toEqual([400, 'INVALID_STATE']);
    const theirs = await B.issue(await B.draft());
    for (const id of [theirs.id, uuidv7()]) expect(refusal(await pay(id))).toEqual([404, 'INVOICE_NOT_FOUND']);
  });

  test('its date is not before the last receipt and not after today; its series is one of receipts', async () => {
    const { id } = await invoice();
    await service.setClock(new Date('2026-03-04T10:00:00Z'));
    expect((await pay(id, { amount: 1, date: '2026-03-03' })).status).toBe(200);
    expect(refusal(await pay(id, { date: '2026-03-02' }))).toEqual([400, 'DATE_GOES_BACK']);
    expect(refusal(await pay(id, { date: '2026-03-05' }))).toEqual([400, 'DATE_IN_FUTURE']);
    const wrong = await pay(id, { seriesId: A.series.INVOICE.id });
    expect(places(wrong as unknown as Answer)).toEqual([400, [['/seriesId', 'UNKNOWN_SERIES']]]);
    expect((await pay(id, { seriesId: A.series.RECEIPT.id })).json.status).toBe('PAID');
  });

  test('ten of 20.00 at once on 100.00: five are taken, and receipts have no gap', async () => {
    const { id } = await invoice({ unitPrice: 100, vatRate: 'EXEMPT', vatExemptionReason: 'M07' });
    const answers = await Promise.all(Array.from({ length: 10 }, () => pay(id, { amount: 20 })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect([await outstanding(id), (await read(id)).status]).toEqual(['0.00', 'PAID']);
    const { rows } = await service.owner.query(
      `select array_agg(sequence::int order by sequence) as seen, max(sequence)::int as last from certo.documents where type = 'RECEIPT'`,
    );
    expect(rows[0].seen).toEqual(Array.from({ length: rows[0].last }, (_, i) => i + 1));
  });
});

describe('credit notes', () => {
  test('of everything: copied from the invoice, which then owes nothing', async () => {
    const { id, number, items, customer } = await invoice(
      { unitPrice: 50 },
      { quantity: 3 },
      { globalDiscountPercent: 10 },
    );
    const note = (await credit(id)).json;
    expect(note).toMatchObject({
      documentType: 'CREDIT_NOTE',
      status: 'ISSUED',
      number: expect.stringMatching(/^NC A2026\/\d+$/),
      parentInvoiceId: id,
      parentInvoiceNumber: number,
      customer,
      summary: { amountWithoutTax: 135, taxAmount: 31.05, total: 166.05 },
      syncWithAt: { status: 'PENDING' },
      signature: { keyVersion: 1 },
    });
    expect(note.items.map(({ ref, meta }) => [ref, meta['quantity']])).toEqual([[items[0]?.ref, 3]]);
    const now = await read(id);
    expect([now.status, now.summary.creditNotesTotal, await outstanding(id)]).toEqual(['PAID', 166.05, '0.00']);
    const again = await credit(id);
    expect(places(again as unknown as Answer)).toEqual([400, [['/parentInvoiceId', 'NOTHING_TO_CREDIT']]]);
  });

  test('of an invoice with a global discount: the note tells its part of it, its amounts are shares of the invoice', async () => {
    const { id, items } = await invoice(
      { unitPrice: 0.55 },
      { quantity: 100, unitDiscountPercent: 8.8 },
      { globalDiscountPercent: 10 },
    );
    const note = (await credit(id, { items: [{ id: items[0]!.id, quantity: 33 }] })).json;
    expect(note.summary).toMatchObject({
      amountWithoutTaxWithoutDiscount: 18.15,
      globalDiscountType: 'PERCENT',
      globalDiscountPercent: 10,
      globalDiscountAmount: 1.65,
      amountWithoutTax: 14.9,
      taxAmount: 3.43,
      total: 18.33,
    });
    expect(note.items[0]).toMatchObject({ meta: { discountAmount: 3.25 }, data: { unitDiscountPercent: 8.8 } });
    const { url } = (await A.get<{ url: string }>(`/invoices/${note.id}/pdf`)).json;
    const text = await textOf((await service.open(url)).bytes);
    expect(text).toMatch(/33 un \| 0,55 \| 8,8 % \+ 10 % \| 23 % \| 14,90 €/);
    expect(text).toMatch(/Descontos nas linhas \| 1,60 €[\s\S]*Desconto global 10 % \| 1,65 €/);
  });

  test('line by line: what is open is the limit, and the parts make the whole', async () => {
    const { id, items, summary } = await invoice({ unitPrice: 33.33 }, { quantity: 3 });
    const line = items[0]!.id;
    const part = (quantity: number) => credit(id, { items: [{ id: line, quantity }] });
    expect((await part(1)).json.summary).toMatchObject({ amountWithoutTax: 33.33, taxAmount: 7.67 });
    expect(places((await part(2.000001)) as unknown as Answer)).toEqual([
      400,
      [['/items/0/quantity', 'QUANTITY_EXCEEDS_OPEN']],
    ]);
    const twice = await credit(id, {
      items: [
        { id: line, quantity: 1 },
        { id: line, quantity: 1 },
        { id: uuidv7(), quantity: 1 },
      ],
    });
    expect(places(twice as unknown as Answer)).toEqual([
      400,
      [
        ['/items/1/id', 'DUPLICATE_LINE'],
        ['/items/2/id', 'UNKNOWN_LINE'],
      ],
    ]);
    expect((await credit(id)).json.items[0]?.meta['quantity']).toBe(2);
    const now = await read(id);
    expect([now.summary.creditNotesTotal, summary.total, now.status]).toEqual([summary.total, summary.total, 'PAID']);
  });

  test('what is paid and what is credited settle it together', async () => {
    const { id, items } = await invoice({ unitPrice: 10 }, { quantity: 10 });
    await pay(id, { amount: 100 });
    expect((await credit(id, { items: [{ id: items[0]!.id, quantity: 1 }] })).status).toBe(201);
    expect([await outstanding(id), (await read(id)).status]).toEqual(['10.70', 'ISSUED']);
    expect((await pay(id)).json.status).toBe('PAID');
    // Credited beyond what was still owed: nothing is owed, never less than nothing.
    expect((await credit(id)).status).toBe(201);
    expect([await outstanding(id), (await read(id)).status]).toEqual(['0.00', 'PAID']);
  });

  test('as a draft: it reserves nothing and is judged again when issued', async () => {
    const { id } = await invoice();
    const [one, two] = [
      (await credit(id, { issue: false })).json,
      (await credit(id, { issue: false, notes: 'antes' })).json,
    ];
    expect([one.status, one.number, await outstanding(id)]).toEqual(['DRAFT', undefined, '123.00']);
    const changed = (await A.patch<InvoiceJson>(`/invoices/${two.id}`, { notes: 'depois', reason: 'Outra' })).json;
    expect(changed.notes).toBe('depois');
    const foreign = await A.patch(`/invoices/${two.id}`, { customerId: uuidv7(), globalDiscountPercent: 1 });
    expect(places(foreign)).toEqual([
      400,
      [
        ['/customerId', 'FIELD_NOT_ALLOWED'],
        ['/globalDiscountPercent', 'FIELD_NOT_ALLOWED'],
      ],
    ]);
    expect((await A.issue(one)).number).toMatch(/^NC /);
    const late = await A.post(`/invoices/${two.id}/issue`, { expectedUpdatedAt: changed.updatedAt });
    expect(late.status).toBe(400);
    expect((await A.delete(`/invoices/${two.id}`)).status).toBe(200);
  });

  test('as a draft that is changed: only what is given changes, and its lines are those it had', async () => {
    const { id, items } = await invoice({}, { quantity: 3 });
    const other = (await credit(id, { items: [{ id: items[0]!.id, quantity: 2 }] })).json;
    const draft = (await credit(id, { issue: false })).json;
    await cancel(other.id);
    const linesOf = ({ items, summary }: InvoiceJson) => [
      summary.total,
      items.map(({ id, meta }) => [id, meta['quantity']]),
    ];
    expect(linesOf(draft)).toEqual([123, [[expect.any(String), 1]]]);
    const series = A.series.CREDIT_NOTE.id;
    const date = other.date!;
    const body = { notes: 'depois', reason: 'Outra', date, seriesId: series };
    const changed = (await A.patch<InvoiceJson>(`/invoices/${draft.id}`, body)).json;
    expect([linesOf(changed), changed.notes, changed.date]).toEqual([linesOf(draft), 'depois', date]);
    expect((changed as unknown as { series: { ref: string } }).series.ref).toBe(series);
    // Other lines are taken of what is open now.
    const more = (await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { items: [{ id: items[0]!.id, quantity: 2 }] }))
      .json;
    expect([more.summary.total, more.notes]).toEqual([246, 'depois']);
    const issued = await A.issue(more);
    expect([issued.summary.total, issued.number?.slice(0, 3)]).toEqual([246, 'NC ']);
    const { rows } = await service.owner.query(
      `select content -> 'parent' ->> 'reason' as reason from certo.documents where id = $1`,
      [draft.id],
    );
    expect(rows[0].reason).toBe('Outra');
  });

  test('says why it corrects, as a draft and once it is issued, also where nothing was said', async () => {
    const { id } = await invoice();
    const draft = (await credit(id, { issue: false })).json;
    const changed = (await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { reason: 'Devolução' })).json;
    const issued = await A.issue(changed);
    const read = (await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json;
    expect([draft, changed, issued, read].map(({ reason }) => reason)).toEqual([
      'Anulação',
      'Devolução',
      'Devolução',
      'Devolução',
    ]);
    expect((await A.get<InvoiceJson>(`/invoices/${id}`)).json).not.toHaveProperty('reason');
  });

  test('as a draft in a series that is none for it: said at its place, and nothing changes', async () => {
    const { id } = await invoice();
    const draft = (await credit(id, { issue: false })).json;
    for (const seriesId of [uuidv7(), A.series.INVOICE.id, B.series.CREDIT_NOTE.id]) {
      const answer = await A.patch(`/invoices/${draft.id}`, { seriesId });
      expect(places(answer)).toEqual([400, [['/seriesId', 'UNKNOWN_SERIES']]]);
    }
    const both = await A.patch(`/invoices/${draft.id}`, { seriesId: uuidv7(), cae: '62010' });
    const problems = [
      ['/cae', 'FIELD_NOT_ALLOWED'],
      ['/seriesId', 'UNKNOWN_SERIES'],
    ];
    expect(places(both)).toEqual([400, problems]);
    expect((await read(draft.id)).updatedAt).toBe(draft.updatedAt);
    expect((await A.issue(draft)).number).toMatch(/^NC /);
  });

  test('as a draft whose invoice is cancelled since: it can be changed, and not issued', async () => {
    const { id } = await invoice();
    const draft = (await credit(id, { issue: false })).json;
    expect((await cancel(id)).json.status).toBe('CANCELED');
    const changed = await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { notes: 'tarde' });
    expect([changed.status, changed.json.notes]).toEqual([200, 'tarde']);
    const { updatedAt } = changed.json;
    expect(refusal(await A.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: updatedAt }))).toEqual([
      400,
      'NOT_CREDITABLE',
    ]);
    expect(refusal(await A.patch(`/invoices/${draft.id}`, { items: [{ id: uuidv7(), quantity: 1 }] }))).toEqual([
      400,
      'NOT_CREDITABLE',
    ]);
  });

  test('of what cannot be credited', async () => {
    const theirs = await B.issue(await B.draft());
    const [foreign, unknown] = [await credit(theirs.id), await credit(uuidv7())];
    for (const answer of [foreign, unknown]) expect(refusal(answer)).toEqual([404, 'PARENT_NOT_FOUND']);
    const anonymous = ({ json }: { json: unknown }) => JSON.stringify({ ...(json as object), requestId: '' });
    expect(anonymous(foreign)).toBe(anonymous(unknown));
    for (const draft of [await A.draft(), await A.draft({ date: '2026-03-02' })])
      expect(refusal(await credit(draft.id, { date: '2026-03-02' }))).toEqual([400, 'NOT_CREDITABLE']);
    const { id } = await invoice();
    const { receipt } = (await pay(id)).json;
    const note = (await credit(id)).json;
    for (const other of [receipt.id, note.id]) expect(refusal(await credit(other))).toEqual([400, 'NOT_CREDITABLE']);
    const canceled = await invoice();
    await cancel(canceled.id);
    expect(refusal(await credit(canceled.id))).toEqual([400, 'NOT_CREDITABLE']);
  });

  test('ten of everything at once: one is made', async () => {
    const { id } = await invoice();
    const answers = await Promise.all(Array.from({ length: 10 }, () => credit(id)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(400)]);
    expect((await read(id)).summary.creditNotesTotal).toBe(123);
  });
});

test('a payment after a note of mostly one rate: the receipt is of the rates that are open, to the cent', async () => {
  const rates = ['NORMAL', 'REDUCED', 'INTERMEDIATE'];
  const lines = await Promise.all(rates.map((vatRate) => A.item({ unitPrice: 100, vatRate })));
  const { id, items } = await A.issue(await A.draft({ items: lines.map((item) => ({ id: item.id, quantity: 1 })) }));
  expect((await pay(id, { amount: 150 })).status).toBe(200);
  expect((await credit(id, { items: [{ id: items[0]!.id, quantity: 0.9 }] })).status).toBe(201);
  const rest = await outstanding(id);
  const { receipt } = (await pay(id)).json;
  const { summary } = await read(receipt.id);
  expect(summary.total).toBe(Number(rest));
  const { rows } = await service.owner.query(
    `select content -> 'totals' ->> 'net' as net, content -> 'totals' ->> 'tax' as tax, sum((g ->> 'base')::numeric)::text as bases, sum((g ->> 'tax')::numeric)::text as taxes
     from certo.documents, jsonb_array_elements(content -> 'totals' -> 'groups') g where id = $1 group by 1, 2`,
    [receipt.id],
  );
  expect([rows[0].bases, rows[0].taxes]).toEqual([rows[0].net, rows[0].tax]);
  expect(await service.findings(A.id)).toEqual([]);
});

describe('cancellation', () => {
  test('only the status changes; once; with its reason kept', async () => {
    const before = await invoice();
    const { status, json } = await cancel(before.id, { reason: 'Cliente errado' });
    expect([status, json.status, json.syncWithAt.status]).toEqual([200, 'CANCELED', 'PENDING']);
    const { status: _1, updatedAt: _2, syncWithAt: _3, qrCode: _4, ...same } = json;
    const { status: _5, updatedAt: _6, syncWithAt: _7, qrCode: _8, ...was } = before;
    expect(same).toEqual(was);
    expect(refusal(await cancel(before.id))).toEqual([400, 'ALREADY_CANCELED']);
    expect(refusal(await pay(before.id))).toEqual([400, 'INVALID_STATE']);
    const { rows } = await service.owner.query('select cancel_reason, canceled_by from certo.documents where id = $1', [
      before.id,
    ]);
    expect(rows[0]).toEqual({ cancel_reason: 'Cliente errado', canceled_by: expect.stringMatching(/^key-/) });
    const next = await invoice();
    expect(Number(next.number?.split('/')[1])).toBe(Number(before.number?.split('/')[1]) + 1);
  });

  test('not with receipts or notes; each of those first, which gives its amount back', async () => {
    const { id, items } = await invoice({ unitPrice: 10 }, { quantity: 10 });
    const { receipt } = (await pay(id, { amount: 110.7 })).json;
    const note = (await credit(id, { items: [{ id: items[0]!.id, quantity: 1 }] })).json;
    expect((await read(id)).status).toBe('PAID');
    expect(refusal(await cancel(id))).toEqual([400, 'HAS_NOTES']);
    expect((await cancel(note.id)).json.status).toBe('CANCELED');
    expect([await outstanding(id), (await read(id)).status]).toEqual(['12.30', 'ISSUED']);
    const refused = await cancel(id);
    expect(refusal(refused)).toEqual([400, 'HAS_PAYMENTS']);
    expect((refused.json as unknown as { detail: string }).detail).toContain(receipt.number);
    expect((await cancel(receipt.id)).json).toMatchObject({
      status: 'CANCELED',
      syncWithAt: { status: 'NOT_APPLICABLE' },
    });
    expect(await outstanding(id)).toBe('123.00');
    expect((await cancel(id)).json.status).toBe('CANCELED');
  });

  test('of a note gives nothing back where nothing was to pay: such an invoice is PAID from its issue on', async () => {
    const free = await invoice({ unitPrice: 0 });
    expect([free.status, (await read(free.id)).status, await outstanding(free.id)]).toEqual(['PAID', 'PAID', '0.00']);
    expect(refusal(await pay(free.id))).toEqual([400, 'INVALID_STATE']);
    const note = (await credit(free.id)).json;
    expect((await cancel(note.id)).json.status).toBe('CANCELED');
    expect((await read(free.id)).status).toBe('PAID');
    expect((await cancel(free.id)).json.status).toBe('CANCELED');
  });

  test('leaves the draft of a debit note changeable, with the items of today and to whom the invoice was; it is not issued', async () => {
    const customer = await A.customer({ city: 'Braga' });
    const invoiced = await invoice({}, {}, { customerId: customer.id });
    const named = { type: 'DEBIT_NOTE', parentInvoiceId: invoiced.id, reason: 'Juros', customerId: customer.id };
    const item = await A.item({ unitPrice: 100 });
    const { id } = await A.draft({ ...named, items: [{ id: item.id, quantity: 1 }] });
    expect((await cancel(invoiced.id)).json.status).toBe('CANCELED');
    expect((await A.patch(`/customers/${customer.id}`, { city: 'Faro' })).status).toBe(200);
    expect((await A.patch(`/items/${item.id}`, { unitPrice: 200 })).status).toBe(200);
    const today = await read(id);
    expect([today.customer.data.city, today.summary.amountWithoutTax]).toEqual(['Braga', 200]);
    const changed = await A.patch<InvoiceJson>(`/invoices/${id}`, { notes: 'Revista' });
    expect([changed.status, changed.json.notes, changed.json.parentInvoiceId]).toEqual([200, 'Revista', invoiced.id]);
    const issued = await A.post(`/invoices/${id}/issue`, { expectedUpdatedAt: changed.json.updatedAt });
    expect(refusal(issued)).toEqual([400, 'NOT_CREDITABLE']);
    expect(issued.json.detail).toContain('corrected by a credit or debit note');
    const anew = await A.post('/invoices', { ...named, cae: '62010', items: [{ id: uuidv7(), quantity: 1 }] });
    expect(places(anew)[1]).toContainEqual(['/parentInvoiceId', 'UNKNOWN_PARENT']);
  });

  test('of what was paid at once voids its payment', async () => {
    const paid = await A.issue(await A.draft({ type: 'INVOICE_RECEIPT', payment: { method: 'MB' } }));
    expect((await cancel(paid.id)).json.status).toBe('CANCELED');
    const listed = (
      await A.get<InvoiceEntryJson[]>('/invoices?aggregatedStatus=PAID&documentType=INVOICE_RECEIPT&limit=100')
    ).json;
    expect(listed.map(({ id }) => id)).not.toContain(paid.id);
  });

  test('the paper says it, and the old one is another file', async () => {
    const { id } = await invoice();
    const file = async () => (await service.open((await A.get<{ url: string }>(`/invoices/${id}/pdf`)).json.url)).bytes;
    const before = await file();
    await cancel(id);
    const after = await file();
    expect(after.equals(before)).toBe(false);
    expect((await file()).equals(after)).toBe(true);
  });

  test('against a payment at the same time: one of them comes first', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await invoice();
      const [canceled, paid] = await Promise.all([cancel(id), pay(id)]);
      expect([canceled.status, paid.status].toSorted()).toEqual([200, 400]);
      expect((await read(id)).status).toBe(canceled.status === 200 ? 'CANCELED' : 'PAID');
    }
  });

  test('a draft has nothing to cancel; of others nothing is seen', async () => {
    expect(refusal(await cancel((await A.draft()).id))).toEqual([400, 'INVALID_STATE']);
    const theirs = await B.issue(await B.draft());
    for (const id of [theirs.id, uuidv7()]) expect(refusal(await cancel(id))).toEqual([404, 'INVOICE_NOT_FOUND']);
  });
});
