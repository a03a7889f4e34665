/** Pro formas: numbered at once, converted in whole or in parts, cancelled or deleted, and never an invoice. */
import { createVerify } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../client.ts';
import { eventually } from '../eventually.ts';
import { linesOf, openPdf, pagesOf } from '../golden/print-reading.ts';
import type { InvoiceJson, ProposalEntryJson, ProposalJson } from '../replies.ts';
import { nifFrom, type Service, startService, type TestCompany } from '../service.ts';
import { saftOf } from './saft-of.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'], clock: new Date('2026-03-02T10:00:00Z') });
  ({ A, B } = service.companies);
  service.startReports();
});
beforeEach(() => service.control('DELETE', '/__fault'));
afterAll(() => service.stop());

const path = '/proposals';
const read = async (id: string) => (await A.get<ProposalJson>(`${path}/${id}`)).json;
const convert = (id: string, items?: unknown) => A.post<InvoiceJson>(`${path}/${id}/convert`, { items });
const draftOf = async (id: string, items?: unknown): Promise<InvoiceJson> => {
  const answer = await convert(id, items);
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  return answer.json;
};
const issue = ({ id, updatedAt }: InvoiceJson) =>
  A.post<InvoiceJson>(`/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt });
const cancel = (id: string, body?: unknown) => A.post<ProposalJson>(`${path}/${id}/cancel`, body);
const remove = (id: string) => A.delete(`${path}/${id}`);
const refusal = ({ status, json }: { status: number; json: unknown }) => [status, (json as { code: string }).code];
const places = (answer: { status: number; json: unknown }) => [
  answer.status,
  (answer as Answer).json.errors?.map(({ pointer, code }) => [pointer, code]),
];
const pass = (minutes: number) => service.setClock(new Date(service.now().getTime() + minutes * 60_000));
const fault = (rule: Record<string, unknown>) => service.control('PUT', '/__fault', rule);
const statusesInLedger = async (number: string | undefined) =>
  (
    await service.control<{ documents: { number: string; history: { status: string }[] }[] }>(
      'GET',
      `/__ledger?nif=${A.taxpayerNumber}`,
    )
  ).documents
    .find((document) => document.number === number)
    ?.history.map(({ status }) => status);

async function told(id: string, status = 'ACCEPTED'): Promise<void> {
  await eventually(async () => {
    const { rows } = await service.owner.query('select at_status from certo.documents where id = $1', [id]);
    expect(rows).toEqual([{ at_status: status }]);
  });
}

/** A pro forma over lines of their own items. */
async function proposal(
  lines: readonly Record<string, unknown>[],
  over: Record<string, unknown> = {},
  company = A,
): Promise<ProposalJson> {
  const items: Record<string, unknown>[] = [];
  for (const { quantity, ...item } of lines)
    items.push({ id: (await company.item({ type: 'PRODUCT', ...item })).id, quantity });
  return company.proposal({ items, ...over });
}

describe('making one', () => {
  test('numbers, signs and tells it at once; it is no invoice', async () => {
    const made = await proposal([{ quantity: 3, unitPrice: 33.33 }], {
      notes: 'Válida 30 dias',
      dueDate: '2026-04-01',
    });
    expect(made).toMatchObject({
      status: 'CREATED',
      number: 'PF A2026/1',
      atcud: `${A.series.PROFORMA.validationCode}-1`,
      date: '2026-03-02T00:00:00.000+00:00',
      dueDate: '2026-04-01T00:00:00.000+01:00',
      notes: 'Válida 30 dias',
      summary: { amountWithoutTax: 99.99, taxAmount: 23, total: 122.99 },
      syncWithAt: { status: 'PENDING' },
      relatedDocuments: [],
    });
    const { text, value } = (made as unknown as InvoiceJson).signature!;
    expect(createVerify('RSA-SHA1').update(text).verify(service.publicPem, value, 'base64')).toBe(true);
    expect(made.qrCode?.data).toMatch(/\*D:PF\*.*\*O:122\.99\*/);
    await told(made.id);
    expect((await read(made.id)).syncWithAt).toMatchObject({ status: 'ACCEPTED', atCode: '0' });
    expect(await statusesInLedger(made.number)).toEqual(['N']);
    for (const answer of [await A.get(`/invoices/${made.id}`), await A.post(`/invoices/${made.id}/pay`, {})])
      expect(refusal(answer)).toEqual([404, 'INVOICE_NOT_FOUND']);
    expect(refusal(await A.post('/invoices/credit-notes', { parentInvoiceId: made.id }))).toEqual([
      404,
      'PARENT_NOT_FOUND',
    ]);
  });

  test('in another currency: what is signed and told is in euros', async () => {
    const made = await proposal([{ quantity: 1, unitPrice: 100 }], { currency: 'USD', exchangeRate: 0.9 });
    expect([made.currency, made.summary.total]).toEqual(['USD', 123]);
    expect(made.qrCode?.data).toContain('*O:110.70*');
    await told(made.id);
    const draft = await draftOf(made.id);
    expect([draft.currency, draft.exchangeRate, draft.summary.total]).toEqual(['USD', 0.9, 123]);
  });

  const cases: [string, () => Record<string, unknown>, [string, string][]][] = [
    ['a type', () => ({ type: 'PROFORMA' }), [['/type', 'UNKNOWN_FIELD']]],
    ['a payment', () => ({ payment: { method: 'MB' } }), [['/payment', 'UNKNOWN_FIELD']]],
    [
      'a parent',
      () => ({ parentInvoiceId: uuidv7(), reason: 'x' }),
      [
        ['/parentInvoiceId', 'UNKNOWN_FIELD'],
        ['/reason', 'UNKNOWN_FIELD'],
      ],
    ],
    ['no lines', () => ({ items: [] }), [['/items', 'TOO_FEW']]],
    [
      'unknown records',
      () => ({ customerId: uuidv7(), items: [{ id: uuidv7(), quantity: 1 }] }),
      [
        ['/customerId', 'UNKNOWN_CUSTOMER'],
        ['/items/0/id', 'UNKNOWN_ITEM'],
      ],
    ],
    ['a foreign activity', () => ({ cae: '99999' }), [['/cae', 'CAE_NOT_OF_COMPANY']]],
    ['a series of invoices', () => ({ seriesId: A.series.INVOICE.id }), [['/seriesId', 'UNKNOWN_SERIES']]],
    ['due before its date', () => ({ date: '2026-03-02', dueDate: '2026-03-01' }), [['/dueDate', 'DUE_BEFORE_DATE']]],
    [
      'a discount of more than there is',
      () => ({ globalDiscountAmount: 1e6 }),
      [['/globalDiscountAmount', 'DISCOUNT_OUT_OF_RANGE']],
    ],
    ['a currency without its rate', () => ({ currency: 'USD' }), [['/exchangeRate', 'EXCHANGE_RATE_REQUIRED']]],
  ];
  test.each(cases)('refuses %s and takes no number', async (_name, over, errors) => {
    const body = {
      cae: '62010',
      customerId: (await A.customer()).id,
      items: [{ id: (await A.item()).id, quantity: 1 }],
    };
    const last = async () =>
      (await service.owner.query('select last_number from certo.series where id = $1', [A.series.PROFORMA.id])).rows;
    const before = await last();
    expect(places(await A.post(path, { ...body, ...over() }))).toEqual([400, errors]);
    expect(await last()).toEqual(before);
  });

  test('not after today, not before the last one', async () => {
    const body = {
      cae: '62010',
      customerId: (await A.customer()).id,
      items: [{ id: (await A.item()).id, quantity: 1 }],
    };
    expect(refusal(await A.post(path, { ...body, date: '2026-03-03' }))).toEqual([400, 'DATE_IN_FUTURE']);
    await A.proposal();
    expect(refusal(await A.post(path, { ...body, date: '2026-03-01' }))).toEqual([400, 'DATE_GOES_BACK']);
  });

  test('needs a company that is ready', async () => {
    const young = await service.newCompany({ name: 'Nova, Lda', taxpayerNumber: nifFrom('51111112') });
    const body = {
      cae: '62010',
      customerId: (await young.customer()).id,
      items: [{ id: (await young.item()).id, quantity: 1 }],
    };
    const answer = await young.post(path, body);
    expect([...refusal(answer), answer.json.reasons]).toEqual([
      400,
      'NOT_READY',
      ['AT_CREDENTIALS_REQUIRED', 'AT_SYNC_REQUIRED', 'SERIES_REQUIRED'],
    ]);
  });

  test('thirty at once: one number each, without a gap', async () => {
    const customerId = (await B.customer()).id;
    const items = [{ id: (await B.item()).id, quantity: 1 }];
    const made = await Promise.all(Array.from({ length: 30 }, () => B.proposal({ customerId, items })));
    const sequences = made.map(({ number }) => Number(number.split('/')[1])).toSorted((a, b) => a - b);
    expect(sequences).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  });
});

describe('converting', () => {
  test('the draft becomes what an invoice may be, and nothing else', async () => {
    const made = await A.proposal();
    const draft = await draftOf(made.id);
    const turn = (type: string) => A.patch<InvoiceJson>(`/invoices/${draft.id}`, { type });
    expect(places(await turn('DEBIT_NOTE'))).toEqual([400, [['/type', 'INVALID_VALUE']]]);
    const issued = await issue((await turn('INVOICE_RECEIPT')).json);
    expect([issued.status, issued.json.documentType]).toEqual([200, 'INVOICE_RECEIPT']);
    expect(refusal(await convert(made.id))).toEqual([400, 'NOTHING_TO_CONVERT']);
  });

  test('territory, kind, unit and what is withheld are those of the pro forma, also when the draft is priced anew', async () => {
    const withheld = { withholdingTaxAvailable: true, withholdingTaxType: 'IRS', withholdingTaxPercent: 25 };
    const item = await A.item({ type: 'SERVICE', unitPrice: 100, unitType: 'HOUR', ...withheld });
    const plain = await A.item({ type: 'PRODUCT', unitPrice: 10 });
    const made = await A.proposal({
      items: [
        { id: item.id, quantity: 1 },
        { id: plain.id, quantity: 1 },
      ],
    });
    const change = { type: 'PRODUCT', unitType: 'BOX', vatTerritory: 'AZORES', withholdingTaxPercent: 10 };
    expect((await A.patch(`/items/${item.id}`, change)).status).toBe(200);
    expect((await A.patch(`/items/${plain.id}`, { vatTerritory: 'MADEIRA', ...withheld })).status).toBe(200);
    const draft = await draftOf(made.id);
    const told = ({ summary, items }: { summary: unknown; items: readonly { meta: unknown; data: unknown }[] }) => [
      summary,
      items.map(({ meta, data }) => [meta, data]),
    ];
    expect(told(draft)).toEqual(told(made));
    expect((await A.patch(`/items/${item.id}`, { withholdingTaxPercent: 5 })).status).toBe(200);
    const anew = await A.get<InvoiceJson>(`/invoices/${draft.id}`);
    expect(anew.json.updatedAt > draft.updatedAt).toBe(true);
    expect(told(anew.json)).toEqual(told(made));
    expect(told((await issue(anew.json)).json)).toEqual(told(made));
  });

  test('in whole: the invoice has what was promised, and both say so', async () => {
    const item = await A.item({ name: 'Cadeira', type: 'PRODUCT', unitPrice: 45.5 });
    const made = await A.proposal({
      items: [{ id: item.id, quantity: 4, unitPrice: 40, unitDiscountPercent: 5 }],
      globalDiscountPercent: 10,
      description: 'Obra',
      notes: 'Nota',
    });
    // The catalogue goes on; the promise stays.
    await A.patch(`/items/${item.id}`, { unitPrice: 99 });
    const draft = await draftOf(made.id);
    expect(draft).toMatchObject({
      documentType: 'INVOICE',
      status: 'DRAFT',
      description: 'Obra',
      notes: 'Nota',
      customer: made.customer,
    });
    expect(draft.summary).toEqual(made.summary);
    expect(draft.items.map(({ meta, data }) => [meta, data])).toEqual(made.items.map(({ meta, data }) => [meta, data]));
    expect(await read(made.id)).toMatchObject({
      status: 'CREATED',
      relatedDocuments: [{ id: draft.id, documentType: 'INVOICE', status: 'DRAFT', total: draft.summary.total }],
    });
    const invoice = (await issue(draft)).json;
    const now = await read(made.id);
    expect(now.status).toBe('ISSUED');
    expect(now.relatedDocuments).toEqual([
      {
        id: draft.id,
        number: invoice.number,
        documentType: 'INVOICE',
        status: 'ISSUED',
        date: invoice.date,
        total: invoice.summary.total,
      },
    ]);
    expect(now.updatedAt > made.updatedAt).toBe(true);
    await told(made.id);
    await told(invoice.id);
    expect([await statusesInLedger(made.number), await statusesInLedger(invoice.number)]).toEqual([['N', 'F'], ['N']]);
    expect(refusal(await convert(made.id))).toEqual([400, 'NOTHING_TO_CONVERT']);
    for (const answer of [await cancel(made.id), await remove(made.id)]) {
      expect(refusal(answer)).toEqual([400, 'PROPOSAL_CONVERTED']);
      expect((answer.json as unknown as { detail: string }).detail).toContain(invoice.number);
    }
  });

  test('what it left blank stays so, whatever the catalogue says by now', async () => {
    const item = await A.item({ name: 'Mesa', type: 'PRODUCT' });
    const made = await A.proposal({ items: [{ id: item.id, quantity: 1 }] });
    await A.patch(`/items/${item.id}`, { description: 'Em carvalho' });
    const draft = await draftOf(made.id);
    expect(draft.items[0]!.data).toEqual(made.items[0]!.data);
    await A.patch(`/items/${item.id}`, { description: 'Em pinho' });
    const later = (await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json;
    expect(later.items[0]!.data).toEqual(made.items[0]!.data);
  });

  test('in parts: never more than is open, and the AT hears of it once', async () => {
    const made = await proposal([
      { quantity: 10, unitPrice: 1 },
      { quantity: 2.5, unitPrice: 20 },
    ]);
    const [first, second] = made.items.map(({ id }) => id);
    await issue(await draftOf(made.id, [{ id: first, quantity: 4 }]));
    expect(places(await convert(made.id, [{ id: first, quantity: 6.000001 }]))).toEqual([
      400,
      [['/items/0/quantity', 'QUANTITY_EXCEEDS_OPEN']],
    ]);
    // The catalogue's id does where only one line has it.
    const part = await draftOf(made.id, [
      { id: made.items[1]!.ref, quantity: 2.5 },
      { id: first, quantity: 1 },
    ]);
    expect(part.summary.amountWithoutTax).toBe(51);
    await issue(part);
    const rest = await draftOf(made.id);
    expect(rest.items.map(({ ref, meta }) => [ref, meta['quantity']])).toEqual([[made.items[0]!.ref, 5]]);
    await issue(rest);
    expect(refusal(await convert(made.id, [{ id: second, quantity: 0.1 }]))).toEqual([400, 'INVALID_REQUEST']);
    await told(made.id);
    expect(await statusesInLedger(made.number)).toEqual(['N', 'F']);
    expect((await read(made.id)).relatedDocuments.map(({ total }) => total)).toEqual([4.92, 62.73, 6.15]);
  });

  test('of what is not there', async () => {
    const made = await proposal([{ quantity: 2 }, { quantity: 2 }]);
    const [first] = made.items.map(({ id }) => id);
    const problems = async (items: unknown) => places(await convert(made.id, items));
    expect(await problems([{ id: uuidv7(), quantity: 1 }])).toEqual([400, [['/items/0/id', 'UNKNOWN_LINE']]]);
    expect(
      await problems([
        { id: first, quantity: 1 },
        { id: first!.toUpperCase(), quantity: 1 },
      ]),
    ).toEqual([400, [['/items/1/id', 'DUPLICATE_LINE']]]);
    expect(await problems([])).toEqual([400, [['/items', 'TOO_FEW']]]);
    expect(await problems([{ id: first, quantity: 0 }])).toEqual([400, [['/items/0/quantity', 'TOO_SMALL']]]);
    expect(await problems([{ id: first, quantity: 0.0000001 }])).toEqual([
      400,
      [['/items/0/quantity', 'TOO_MANY_DECIMALS']],
    ]);
    expect(places(await A.post(`${path}/${made.id}/convert`, { type: 'INVOICE' }))).toEqual([
      400,
      [['/type', 'UNKNOWN_FIELD']],
    ]);
    expect((await read(made.id)).relatedDocuments).toEqual([]);
  });

  test('by drafts: they reserve nothing, and are judged when they are issued', async () => {
    const made = await proposal([{ quantity: 3, name: 'Mesa' }]);
    const [whole, other] = [await draftOf(made.id), await draftOf(made.id)];
    expect((await issue(whole)).status).toBe(200);
    const refused = await issue(other);
    expect(refusal(refused)).toEqual([400, 'PROPOSAL_EXCEEDED']);
    expect((refused.json as unknown as { detail: string }).detail).toMatch(/Mesa/);
    expect((await A.delete(`/invoices/${other.id}`)).status).toBe(200);
    expect((await read(made.id)).relatedDocuments).toHaveLength(1);
  });

  test('a draft whose lines were written anew takes from the same items', async () => {
    const made = await proposal([{ quantity: 3 }]);
    const draft = await draftOf(made.id);
    const extra = await A.item();
    const lines = (quantity: number) => [
      { id: made.items[0]!.ref, quantity },
      { id: extra.id, quantity: 7 },
    ];
    const more = await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { items: lines(3.5) });
    expect(refusal(await issue(more.json))).toEqual([400, 'PROPOSAL_EXCEEDED']);
    const less = await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { items: lines(1) });
    expect((await issue(less.json)).status).toBe(200);
    expect((await draftOf(made.id)).items.map(({ meta }) => meta['quantity'])).toEqual([2]);
  });

  test('an invoice of other things does not convert it: it is refused, and the pro forma stays as it was', async () => {
    const made = await proposal([{ quantity: 3 }]);
    const draft = await draftOf(made.id);
    const other = { id: (await A.item()).id, quantity: 1 };
    const changed = await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { items: [other] });
    expect(refusal(await issue(changed.json))).toEqual([400, 'PROPOSAL_NOT_TAKEN']);
    expect((await read(made.id)).status).toBe('CREATED');
    const both = await A.patch<InvoiceJson>(`/invoices/${draft.id}`, {
      items: [other, { id: made.items[0]!.ref, quantity: 1 }],
    });
    expect((await issue(both.json)).status).toBe(200);
    expect((await read(made.id)).status).toBe('ISSUED');
  });

  test('an invoice that is cancelled gives its quantities back; the pro forma stays converted', async () => {
    const made = await proposal([{ quantity: 2 }]);
    const invoice = (await issue(await draftOf(made.id))).json;
    expect((await A.post(`/invoices/${invoice.id}/cancel`)).status).toBe(200);
    expect(await read(made.id)).toMatchObject({ status: 'ISSUED', relatedDocuments: [{ status: 'CANCELED' }] });
    for (const answer of [await cancel(made.id), await remove(made.id)])
      expect(refusal(answer)).toEqual([400, 'PROPOSAL_CONVERTED']);
    expect((await issue(await draftOf(made.id))).status).toBe(200);
    await told(made.id);
    expect(await statusesInLedger(made.number)).toEqual(['N', 'F']);
  });

  test('a discount in money is given in whole, to the cent, whatever the parts', async () => {
    const made = await proposal(
      [
        { quantity: 7, unitPrice: 9.99 },
        { quantity: 3, unitPrice: 0.05 },
      ],
      { globalDiscountAmount: 10 },
    );
    const invoices: InvoiceJson[] = [];
    for (const quantity of [1, 1, 1, 3, 1])
      invoices.push((await issue(await draftOf(made.id, [{ id: made.items[0]!.id, quantity }]))).json);
    invoices.push((await issue(await draftOf(made.id))).json);
    const cents = (of: (invoice: InvoiceJson) => number) =>
      invoices.reduce((sum, one) => sum + Math.round(of(one) * 100), 0);
    expect(cents(({ summary }) => summary.globalDiscountAmount)).toBe(1000);
    expect(cents(({ summary }) => summary.amountWithoutTax)).toBe(Math.round(made.summary.amountWithoutTax * 100));
  });

  test('a discount that the first invoice left out does not stand in the way of the second', async () => {
    const made = await proposal([{ quantity: 2, unitPrice: 10 }], { globalDiscountAmount: 15 });
    const first = await draftOf(made.id, [{ id: made.items[0]!.id, quantity: 1 }]);
    expect(first.summary).toMatchObject({ globalDiscountAmount: 7.5, amountWithoutTax: 2.5 });
    await issue((await A.patch<InvoiceJson>(`/invoices/${first.id}`, { globalDiscountAmount: 0 })).json);
    expect((await draftOf(made.id)).summary).toMatchObject({ globalDiscountAmount: 10, amountWithoutTax: 0 });
  });

  test('a discount in money comes back with the invoice that had it and is cancelled', async () => {
    const made = await proposal([{ quantity: 2, unitPrice: 10 }], { globalDiscountAmount: 15 });
    const first = (await issue(await draftOf(made.id, [{ id: made.items[0]!.id, quantity: 1 }]))).json;
    expect(first.summary.globalDiscountAmount).toBe(7.5);
    expect((await A.post(`/invoices/${first.id}/cancel`)).status).toBe(200);
    const whole = await draftOf(made.id);
    expect(whole.summary).toMatchObject({ globalDiscountAmount: 15, amountWithoutTax: 5 });
    expect((await issue(whole)).status).toBe(200);
  });

  test('what was archived since can still be invoiced', async () => {
    const made = await proposal([{ quantity: 1 }]);
    await A.delete(`/items/${made.items[0]!.ref}`);
    await A.delete(`/customers/${made.customer.ref}`);
    expect((await issue(await draftOf(made.id))).status).toBe(200);
  });
});

describe('at the same time', () => {
  test('two drafts of everything are issued: one', async () => {
    for (let round = 0; round < 5; round += 1) {
      const made = await proposal([{ quantity: 5 }]);
      const drafts = [await draftOf(made.id), await draftOf(made.id)];
      const answers = await Promise.all(drafts.map(issue));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
      expect(refusal(answers.find(({ status }) => status === 400)!)).toEqual([400, 'PROPOSAL_EXCEEDED']);
    }
  });

  test('ten drafts of one of five: five', async () => {
    const made = await proposal([{ quantity: 5, unitPrice: 1 }]);
    const drafts = await Promise.all(
      Array.from({ length: 10 }, () => draftOf(made.id, [{ id: made.items[0]!.id, quantity: 1 }])),
    );
    const answers = await Promise.all(drafts.map(issue));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    const { relatedDocuments, status } = await read(made.id);
    expect([status, relatedDocuments.filter((document) => document.status === 'ISSUED').length]).toEqual(['ISSUED', 5]);
    expect(refusal(await convert(made.id))).toEqual([400, 'NOTHING_TO_CONVERT']);
  });

  test.each(['cancel', 'delete'] as const)('issue against %s: one of them, and the books agree', async (other) => {
    const seen = new Set<string>();
    for (let round = 0; round < 8; round += 1) {
      const made = await proposal([{ quantity: 1 }]);
      const draft = await draftOf(made.id);
      const undo = () => (other === 'cancel' ? cancel(made.id) : remove(made.id));
      const acts = round % 2 === 0 ? [() => issue(draft), undo] : [undo, () => issue(draft)];
      const answers = await Promise.all<{ status: number; json: unknown }>(acts.map((act) => act()));
      const [issued, undone] = round % 2 === 0 ? answers : answers.toReversed();
      const { rows } = await service.owner.query(
        'select status, converted_at is not null as converted, hidden_at is not null as hidden from certo.documents where id = $1',
        [made.id],
      );
      if (issued!.status === 200) {
        expect(refusal(undone!)).toEqual([400, 'PROPOSAL_CONVERTED']);
        expect(rows).toEqual([{ status: 'ISSUED', converted: true, hidden: false }]);
        seen.add('issued');
      } else {
        expect([undone!.status, refusal(issued!)]).toEqual([200, [400, 'PROPOSAL_CANCELED']]);
        expect(rows).toEqual([{ status: 'CANCELED', converted: false, hidden: other === 'delete' }]);
        seen.add('undone');
      }
    }
    expect(seen.size).toBeGreaterThan(0);
  });

  test('cancelled ten times: once', async () => {
    const made = await proposal([{ quantity: 1 }]);
    const answers = await Promise.all(Array.from({ length: 10 }, () => cancel(made.id)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(400)]);
    await told(made.id);
    expect(await statusesInLedger(made.number)).toEqual(['N', 'A']);
  });
});

describe('cancelling and deleting', () => {
  test('cancelled it stays in the history, and its drafts are no invoices any more', async () => {
    const made = await proposal([{ quantity: 1 }]);
    const draft = await draftOf(made.id);
    const { status, json } = await cancel(made.id, { reason: 'Desistiu' });
    expect([status, json.status, json.syncWithAt.status]).toEqual([200, 'CANCELED', 'PENDING']);
    expect(json.relatedDocuments).toEqual([expect.objectContaining({ id: draft.id, status: 'DRAFT' })]);
    await told(made.id);
    expect(await statusesInLedger(made.number)).toEqual(['N', 'A']);
    expect(refusal(await cancel(made.id))).toEqual([400, 'ALREADY_CANCELED']);
    expect(refusal(await convert(made.id))).toEqual([400, 'PROPOSAL_CANCELED']);
    expect(refusal(await issue(draft))).toEqual([400, 'PROPOSAL_CANCELED']);
    expect(places(await cancel((await A.proposal()).id, { reason: 'x'.repeat(51) }))).toEqual([
      400,
      [['/reason', 'TOO_LONG']],
    ]);
  });

  test('deleted it is gone for the caller and stays in the books', async () => {
    const made = await proposal([{ quantity: 1 }]);
    const draft = await draftOf(made.id);
    const answer = await remove(made.id);
    expect([answer.status, answer.json]).toEqual([200, { id: made.id, deleted: true }]);
    for (const gone of [
      await A.get(`${path}/${made.id}`),
      await A.get(`${path}/${made.id}/pdf`),
      await cancel(made.id),
      await convert(made.id),
      await remove(made.id),
    ])
      expect(refusal(gone)).toEqual([404, 'PROPOSAL_NOT_FOUND']);
    expect(refusal(await issue(draft))).toEqual([400, 'PROPOSAL_CANCELED']);
    expect(
      (await A.get<ProposalEntryJson[]>(`${path}?search=${encodeURIComponent(made.number)}`)).json.map(({ id }) => id),
    ).not.toContain(made.id);
    await told(made.id);
    expect(await statusesInLedger(made.number)).toEqual(['N', 'A']);
    const { rows } = await service.owner.query(
      'select status, number, cancel_reason from certo.documents where id = $1',
      [made.id],
    );
    expect(rows).toEqual([{ status: 'CANCELED', number: made.number, cancel_reason: 'Erro de emissão' }]);
  });

  test('a cancelled one can be deleted too', async () => {
    const made = await A.proposal();
    await cancel(made.id);
    expect((await remove(made.id)).status).toBe(200);
    expect((await A.get(`${path}/${made.id}`)).status).toBe(404);
  });

  test('while the AT is down: told as made, then as cancelled or invoiced, when it is back', async () => {
    await fault({ kind: 'refused' });
    const [canceled, converted] = [await A.proposal(), await A.proposal()];
    await cancel(canceled.id);
    const invoice = (await issue(await draftOf(converted.id))).json;
    await service.control('DELETE', '/__fault');
    await pass(10);
    for (const { id } of [canceled, converted, invoice]) await told(id);
    expect([await statusesInLedger(canceled.number), await statusesInLedger(converted.number)]).toEqual([
      ['N', 'A'],
      ['N', 'F'],
    ]);
  });

  test('answers of the AT that are lost are asked for again and believed', async () => {
    const made = await A.proposal();
    await told(made.id);
    await fault({ kind: 'reset-after', count: 1, operation: 'changeWorkStatus' });
    await issue(await draftOf(made.id));
    await eventually(async () => {
      await pass(10);
      expect((await read(made.id)).syncWithAt.status).toBe('ACCEPTED');
    });
    expect(await statusesInLedger(made.number)).toEqual(['N', 'F']);
  });
});

test('an id that is none: nothing to read, a mistake to act on', async () => {
  for (const id of ['x', '123', `${uuidv7()}0`]) {
    for (const to of [`${path}/${id}`, `${path}/${id}/pdf`])
      expect(refusal(await A.get(to))).toEqual([404, 'PROPOSAL_NOT_FOUND']);
    for (const answer of [await cancel(id), await remove(id), await convert(id)])
      expect(places(answer)).toEqual([400, [[':id', 'INVALID_ID']]]);
  }
  const [theirs, draft, transport] = [await B.proposal(), await A.draft(), await A.transport()];
  const invoice = await A.issue(await A.draft());
  for (const { id } of [theirs, { id: uuidv7() }, draft, invoice, transport])
    for (const answer of [
      await A.get(`${path}/${id}`),
      await A.get(`${path}/${id}/pdf`),
      await cancel(id),
      await remove(id),
      await convert(id),
    ])
      expect(refusal(answer)).toEqual([404, 'PROPOSAL_NOT_FOUND']);
  expect((await A.get<InvoiceJson>(`/invoices/${invoice.id}`)).json.status).toBe('ISSUED');
});

test('lists: state, customer, days, words, order', async () => {
  const customer = await B.customer({ name: 'Ágata, Lda', taxpayerNumber: '501442600' });
  const make = (over: Record<string, unknown> = {}) => B.proposal({ customerId: customer.id, ...over });
  const [made, converted, canceled, deleted] = [
    await make({ description: 'Telhado' }),
    await make(),
    await make(),
    await make(),
  ];
  const draft = (await B.post<InvoiceJson>(`${path}/${converted.id}/convert`)).json;
  await B.issue(draft);
  await B.post(`${path}/${canceled.id}/cancel`);
  await B.delete(`${path}/${deleted.id}`);
  const ids = async (query: string) =>
    (await B.get<ProposalEntryJson[]>(`${path}?customerId=${customer.id}&sort=number:asc&${query}`)).json.map(
      ({ id }) => id,
    );
  expect(await ids('')).toEqual([made.id, converted.id, canceled.id]);
  expect(await ids('status=CREATED')).toEqual([made.id]);
  expect(await ids('status=ISSUED')).toEqual([converted.id]);
  expect(await ids('status=CANCELED')).toEqual([canceled.id]);
  const today = made.date.slice(0, 10);
  expect(await ids(`fromDate=${today}&toDate=${today}`)).toHaveLength(3);
  expect(await ids('fromDate=2030-01-01')).toEqual([]);
  expect(await ids('toDate=2026-03-01')).toEqual([]);
  expect(await ids('search=telhado')).toEqual([made.id]);
  expect(await ids('search=agata')).toHaveLength(3);
  expect(await ids('limit=1&offset=1')).toEqual([converted.id]);
  expect((await B.get<unknown[]>(`${path}?customerId=${uuidv7()}`)).json).toEqual([]);
  for (const query of [
    'status=DRAFT',
    'status=created',
    'sort=movementDate:asc',
    'type=PROFORMA',
    'customerId=x',
    'limit=0',
  ])
    expect((await B.get(`${path}?${query}`)).status).toBe(400);
  const invoices = (await B.get<InvoiceJson[]>(`/invoices?search=PF`)).json;
  expect(invoices.filter(({ number }) => number?.startsWith('PF'))).toEqual([]);
});

test('the PDF says what it is not', async () => {
  const made = await proposal([{ quantity: 2 }]);
  const text = async (query = '') => {
    const { json } = await A.get<{ name: string; url: string }>(`${path}/${made.id}/pdf${query}`);
    expect(json.name).toBe(`${made.number.replace(/[ /]/g, '-')}.pdf`);
    const document = await openPdf(new Uint8Array((await service.open(json.url)).bytes));
    const lines = await Promise.all((await pagesOf(document)).map(linesOf));
    await document.destroy();
    return lines.flat().join('\n');
  };
  const original = await text();
  for (const words of [
    'Fatura pró-forma',
    made.number,
    'Este documento não serve de fatura',
    `ATCUD:${made.atcud}`,
    'Original',
  ])
    expect(original).toContain(words);
  expect(await text('?isDuplicate=true')).toContain('Duplicado');
  await cancel(made.id);
  expect((await text()).toLowerCase()).toContain('anulado');
  for (const template of [uuidv7(), 'x'])
    expect(refusal(await A.get(`${path}/${made.id}/pdf?templateId=${template}`))).toEqual([404, 'TEMPLATE_NOT_FOUND']);
  expect((await A.get(`${path}/${made.id}/pdf?format=A4`)).status).toBe(400);
});

test('SAF-T: valid, without findings; converted ones are F, invoices name where they came from', async () => {
  const made = await proposal([{ quantity: 2, unitPrice: 3 }]);
  const invoice = (await issue(await draftOf(made.id, [{ id: made.items[0]!.id, quantity: 0.5 }]))).json;
  const { xml, written, report } = await saftOf(service, A, '2026-01-01', '2026-12-31');
  expect(report.documents.work).toBe(written.counts.PROFORMA);
  const { rows } = await service.owner.query(
    `select count(*) filter (where status = 'CANCELED')::int as a, count(*) filter (where converted_at is not null)::int as f,
       count(*) filter (where status <> 'CANCELED' and converted_at is null)::int as n
     from certo.documents where company_id = $1 and family = 'PROFORMA'`,
    [A.id],
  );
  const count = (status: string) => xml.match(new RegExp(`<WorkStatus>${status}<`, 'g'))?.length ?? 0;
  expect({ a: count('A'), f: count('F'), n: count('N') }).toEqual(rows[0]);
  const own = xml.slice(xml.indexOf(`<InvoiceNo>${invoice.number}<`));
  expect(own.slice(0, own.indexOf('</Line>'))).toContain(`<OriginatingON>${made.number}</OriginatingON>`);
  // The file and the AT are told the same moment.
  const work = xml.slice(xml.indexOf(`<DocumentNumber>${made.number}<`));
  expect(/<WorkStatusDate>([^<]*)/.exec(work)?.[1]).toBe(/<SystemEntryDate>([^<]*)/.exec(own)?.[1]);
});

test('SAF-T: what was added to an invoice does not come from its pro forma', async () => {
  const made = await proposal([{ quantity: 2 }, { quantity: 3 }]);
  const draft = await draftOf(made.id);
  const anew = made.items.map(({ ref }) => ({ id: ref, quantity: 1 }));
  const items = [anew[0], { id: (await A.item()).id, quantity: 1 }, anew[1]];
  const invoice = (await issue((await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { items })).json)).json;
  const { xml } = await saftOf(service, A, '2026-01-01', '2026-12-31');
  const own = xml.slice(xml.indexOf(`<InvoiceNo>${invoice.number}<`));
  const lines = own.slice(0, own.indexOf('</Invoice>')).split('<Line>').slice(1);
  const origins = lines.map((line) => /<OriginatingON>([^<]*)/.exec(line)?.[1]);
  expect(origins).toEqual([made.number, undefined, made.number]);
});

test('SAF-T: a pro forma is invoiced in the files that hold an invoice of it, cancelled or not', async () => {
  await service.setClock(new Date('2026-06-29T10:00:00Z'));
  const made = await proposal([{ quantity: 2 }]);
  const line = made.items[0]!.id;
  const told = async (to: string) => {
    const { xml } = await saftOf(service, A, '2026-01-01', to);
    const own = xml.slice(xml.indexOf(`<DocumentNumber>${made.number}<`));
    return ['WorkStatus', 'WorkStatusDate', 'SourceID'].map((name) => new RegExp(`<${name}>([^<]*)`).exec(own)?.[1]);
  };
  const asMade = ['N', '2026-06-29T11:00:00', expect.any(String)];
  expect(await told('2026-06-30')).toEqual(asMade);
  await service.setClock(new Date('2026-07-02T10:00:00Z'));
  const first = (await issue(await draftOf(made.id, [{ id: line, quantity: 0.5 }]))).json;
  await service.setClock(new Date('2026-08-03T10:00:00Z'));
  await issue(await draftOf(made.id, [{ id: line, quantity: 0.5 }]));
  // What it became later is told where that stands; the file of June is the one that was handed in.
  expect(await told('2026-06-30')).toEqual(asMade);
  const invoiced = ['F', expect.stringContaining('2026-07-02T'), expect.any(String)];
  expect(await told('2026-07-31')).toEqual(invoiced);
  expect(await told('2026-08-31')).toEqual(invoiced);
  // A cancelled invoice stands in its file.
  expect((await A.post<InvoiceJson>(`/invoices/${first.id}/cancel`)).json.status).toBe('CANCELED');
  expect(await told('2026-07-31')).toEqual(invoiced);
});

test('in all of this nobody waited for each other', async () => {
  const asked = 'select deadlocks::int from pg_stat_database where datname = current_database()';
  expect((await service.owner.query(asked)).rows).toEqual([{ deadlocks: 0 }]);
});
