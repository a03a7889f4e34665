/** Regimes: the cash VAT scheme with its receipts (RC), and training series. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Content } from '../../src/fiscal/document.ts';
import { setCashVat } from '../../src/operations/company/cash-vat.ts';
import { type RegisteredSeries, registerSeries } from '../../src/operations/series/registration.ts';
import { eventually } from '../eventually.ts';
import type { InvoiceJson } from '../replies.ts';
import { nifFrom, type Service, startService, type TestCompany } from '../service.ts';
import { saftOf } from './saft-of.ts';

let service: Service;
let A: TestCompany;
let business: string;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'], clock: new Date('2026-12-30T10:00:00Z') });
  ({ A } = service.companies);
  const buyer = { name: 'Cliente, SA', taxpayerNumber: '501442600', country: 'PT', city: 'Porto' };
  business = (await A.customer(buyer)).id;
  service.startReports();
});
afterAll(() => service.stop());

type Paid = InvoiceJson & { readonly receipt: { readonly id: string; readonly number: string } };

interface Entry {
  readonly number: string;
  readonly service: string;
  readonly documentCode: string;
  readonly gross: string;
  readonly history: readonly { readonly status: string }[];
}

const ledger = async (company: TestCompany): Promise<Entry[]> =>
  (await service.control<{ documents: Entry[] }>('GET', `/__ledger?nif=${company.taxpayerNumber}`)).documents;
const told = async () =>
  (await service.control<{ operation: string; subject: string }[]>('GET', '/__log?limit=1000')).map(
    ({ operation, subject }) => `${operation} ${subject}`,
  );

const allTold = (company: TestCompany) =>
  eventually(async () => {
    const { rows } = await service.owner.query(
      `select number, at_message from certo.documents where company_id = $1 and at_status = 'PENDING'`,
      [company.id],
    );
    expect(rows).toEqual([]);
    const rejected = await service.owner.query(
      `select number, at_message from certo.documents where company_id = $1 and at_status = 'REJECTED'`,
      [company.id],
    );
    expect(rejected.rows).toEqual([]);
  });

async function contentOf(id: string): Promise<Record<string, unknown>> {
  const { rows } = await service.owner.query('select content from certo.documents where id = $1', [id]);
  return rows[0].content;
}

describe('the cash VAT scheme', () => {
  const series: Partial<Record<string, RegisteredSeries>> = {};
  let first: InvoiceJson;

  const issueTo = async (customerId: string, over: Record<string, unknown> = {}) =>
    A.issue(await A.draft({ customerId, ...over }));
  const refusedIssue = async (over: Record<string, unknown>) => {
    const draft = await A.draft(over);
    const answer = await A.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt });
    return [answer.status, answer.json.code];
  };

  beforeAll(async () => {
    for (const documentType of ['INVOICE', 'INVOICE_RECEIPT', 'CREDIT_NOTE', 'DEBIT_NOTE', 'RECEIPT'] as const) {
      series[documentType] = await registerSeries(service.world, A.id, { documentType, code: 'CX2027', cashVat: true });
    }
    await setCashVat(service.owner, A.id, { from: '2027-01-01' });
  });

  test('has series of its own: registered beside the normal ones, receipts as RC', async () => {
    const { json } =
      await A.get<{ name: string; documentType: string; isDefault: boolean; cashVat: boolean }[]>('/series');
    const own = json.filter(({ cashVat }) => cashVat);
    expect(own.map(({ documentType }) => documentType).sort()).toEqual(
      ['CREDIT_NOTE', 'DEBIT_NOTE', 'INVOICE', 'INVOICE_RECEIPT', 'RECEIPT'].sort(),
    );
    expect(own.every(({ isDefault }) => isDefault)).toBe(true);
    expect(json.filter(({ documentType, isDefault }) => documentType === 'INVOICE' && isDefault)).toHaveLength(2);
    const wrong = { documentType: 'PROFORMA', code: 'CX2027', cashVat: true } as const;
    await expect(registerSeries(service.world, A.id, wrong)).rejects.toMatchObject({ code: 'SERIES_NOT_CASH_VAT' });
    // The same letters are another registration for RG and RC, but never twice for one of them.
    const again = { documentType: 'INVOICE', code: 'CX2027' } as const;
    await expect(registerSeries(service.world, A.id, again)).rejects.toMatchObject({ code: 'SERIES_CODE_TAKEN' });
  });

  test('before its first day nothing is under it', async () => {
    first = await issueTo(business);
    expect(first.number).toMatch(/^FT A2026\//);
    expect(await refusedIssue({ customerId: business, seriesId: series['INVOICE']!.id })).toEqual([
      400,
      'CASH_VAT_NOT_IN_FORCE',
    ]);
  });

  test('what waits over midnight for the series of the day before goes into that of its own day', async () => {
    // What is made of a pro forma is issued under locks.
    const { id } = await A.proposal({ customerId: business });
    const draft = (await A.post<InvoiceJson>(`/proposals/${id}/convert`, {})).json;
    await service.setClock(new Date('2026-12-31T23:59:58Z'));
    const holder = await service.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select from certo.series where id = $1 for update', [A.series.INVOICE.id]);
      const issuing = A.issue(draft);
      await eventually(async () => {
        const { rows } = await service.owner.query(
          `select count(*)::int as n from pg_locks join pg_stat_activity using (pid) where datname = current_database() and not granted`,
        );
        expect(rows[0].n).toBeGreaterThan(0);
      });
      await service.setClock(new Date('2027-01-01T00:30:00Z'));
      await holder.query('commit');
      expect(await issuing).toMatchObject({ number: 'FT CX2027/1', date: expect.stringMatching(/^2027-01-01/) });
    } finally {
      holder.release(true);
    }
  });

  test('from then on invoices to taxable persons are, by themselves', async () => {
    const dated = await issueTo(business, { date: '2026-12-31' });
    expect(dated.number).toMatch(/^FT A2026\//);
    const invoice = await issueTo(business);
    expect(invoice.number).toBe('FT CX2027/2');
    expect(await contentOf(invoice.id)).toMatchObject({ cashVat: true });
    const paid = await issueTo(business, { type: 'INVOICE_RECEIPT' });
    expect(paid.number).toBe('FR CX2027/1');
  });

  test('consumers, exports, reverse charge and what is wholly exempt are not', async () => {
    const abroad = await A.customer({ name: 'GmbH', taxpayerNumber: '136695976', country: 'DE' });
    const person = await A.customer({ name: 'Ana', taxpayerNumber: '123456789', country: 'PT' });
    const nobody = await A.customer({ name: 'Sem NIF', country: 'PT' });
    const scrap = await A.item({ name: 'Sucata', vatRate: 'EXEMPT', vatExemptionReason: 'M30' });
    const lesson = await A.item({ name: 'Aula', vatRate: 'EXEMPT', vatExemptionReason: 'M07' });
    const work = await A.item();
    const of = (...items: { id: string }[]) => ({ items: items.map(({ id }) => ({ id, quantity: 1 })) });
    const normal = [
      await issueTo(abroad.id),
      await issueTo(person.id),
      await issueTo(nobody.id),
      await issueTo(business, of(scrap, work)),
      await issueTo(business, of(lesson)),
    ];
    for (const { number } of normal) expect(number).toMatch(/^FT A2026\//);
    expect((await issueTo(business, of(lesson, work))).number).toMatch(/^FT CX2027\//);
    // A sole trader's number looks like a consumer's: the caller says so by naming the series.
    expect((await issueTo(person.id, { seriesId: series['INVOICE']!.id })).number).toMatch(/^FT CX2027\//);
    for (const over of [
      { customerId: abroad.id },
      { customerId: nobody.id },
      { customerId: business, ...of(scrap, work) },
    ]) {
      expect(await refusedIssue({ ...over, seriesId: series['INVOICE']!.id })).toEqual([400, 'CASH_VAT_EXCLUDED']);
    }
    // Special relations between the parties are known to them alone.
    expect((await issueTo(business, { seriesId: A.series.INVOICE.id })).number).toMatch(/^FT A2026\//);
  });

  test('a payment issues an RC with its VAT per rate; the AT is told of it, and of its cancellation', async () => {
    const book = await A.item({ name: 'Livro', type: 'PRODUCT', unitPrice: 33.33, vatRate: 'REDUCED' });
    const work = await A.item({ unitPrice: 99.99 });
    const items = [
      { id: book.id, quantity: 3 },
      { id: work.id, quantity: 1 },
    ];
    const invoice = await issueTo(business, { items });
    const pay = async (amount?: number) =>
      (await A.post<Paid>(`/invoices/${invoice.id}/pay`, amount === undefined ? { method: 'TB' } : { amount })).json;
    const receipts = [await pay(10.01), await pay(0.01), await pay()];
    expect(receipts.map(({ receipt }) => receipt.number)).toEqual(['RC CX2027/1', 'RC CX2027/2', 'RC CX2027/3']);
    const { qr, content } = (
      await service.owner.query('select qr, content from certo.documents where id = $1', [receipts[2]!.receipt.id])
    ).rows[0];
    expect(content.settles[0].groups).toHaveLength(2);
    expect(qr).toMatch(/\*D:RC\*.*\*G:RC CX2027\/3\*.*\*I1:PT\*I3:.*\*I7:/);
    await allTold(A);
    const rc = (await ledger(A)).filter(({ documentCode }) => documentCode === 'RC');
    expect(rc.map(({ number, service: which, gross }) => [number, which, gross])).toEqual([
      ['RC CX2027/1', 'payment', '10.01'],
      ['RC CX2027/2', 'payment', '0.01'],
      ['RC CX2027/3', 'payment', expect.any(String)],
    ]);
    expect(rc.reduce((sum, { gross }) => sum + Math.round(Number(gross) * 100), 0)).toBe(
      Math.round(invoice.summary.total * 100),
    );
    const canceled = await A.post<InvoiceJson>(`/invoices/${receipts[1]!.receipt.id}/cancel`);
    expect([canceled.status, canceled.json.status]).toEqual([200, 'CANCELED']);
    await allTold(A);
    const after = (await ledger(A)).find(({ number }) => number === 'RC CX2027/2');
    expect(after?.history.map(({ status }) => status)).toEqual(['N', 'A']);
  });

  test('what was issued before the scheme is receipted as before: RG, told to nobody', async () => {
    const { json } = await A.post<Paid>(`/invoices/${first.id}/pay`);
    expect(json.receipt.number).toMatch(/^RG A2026\//);
    expect(await contentOf(json.receipt.id)).not.toHaveProperty('cashVat');
    expect((await told()).filter((line) => line.includes(json.receipt.number))).toEqual([]);
  });

  test('notes follow their invoice, whatever series is named', async () => {
    const invoice = await issueTo(business);
    const normal = await issueTo(business, { seriesId: A.series.INVOICE.id });
    const credit = (parentInvoiceId: string, seriesId?: string) =>
      A.post<InvoiceJson>('/invoices/credit-notes', {
        parentInvoiceId,
        ...(seriesId === undefined ? {} : { seriesId }),
      });
    const debit = { type: 'DEBIT_NOTE', customerId: business, reason: 'Preço' };
    const wrong = await credit(invoice.id, A.series.CREDIT_NOTE.id);
    expect([wrong.status, (wrong.json as unknown as { code: string }).code]).toEqual([400, 'CASH_VAT_DIFFERS']);
    expect(await refusedIssue({ ...debit, parentInvoiceId: normal.id, seriesId: series['DEBIT_NOTE']!.id })).toEqual([
      400,
      'CASH_VAT_DIFFERS',
    ]);
    const note = await A.issue(await A.draft({ ...debit, parentInvoiceId: invoice.id }));
    expect(note.number).toBe('ND CX2027/1');
    expect(await contentOf(note.id)).toMatchObject({ cashVat: true });
    expect((await A.post<Paid>(`/invoices/${note.id}/pay`)).json.receipt.number).toMatch(/^RC CX2027\//);
    expect((await A.issue(await A.draft({ ...debit, parentInvoiceId: normal.id }))).number).toMatch(/^ND A2026\//);
    const other = await issueTo(business);
    expect((await credit(other.id)).json.number).toBe('NC CX2027/1');
    const draft = (
      await A.post<InvoiceJson>('/invoices/credit-notes', {
        parentInvoiceId: (await issueTo(business)).id,
        issue: false,
      })
    ).json;
    expect((await A.issue(draft)).number).toBe('NC CX2027/2');
    const rg = await A.post(`/invoices/${(await issueTo(business)).id}/pay`, { seriesId: A.series.RECEIPT.id });
    expect([rg.status, rg.json.code]).toEqual([400, 'CASH_VAT_DIFFERS']);
  });

  test('SAF-T flags it, and its receipts tell their tax: valid and without findings', async () => {
    await allTold(A);
    const { xml: text } = await saftOf(service, A, '2026-12-01', '2027-01-31');
    const invoices = text.match(/<Invoice>[\s\S]*?<\/Invoice>/g)!;
    for (const invoice of invoices) {
      const number = /<InvoiceNo>(.*?)</.exec(invoice)![1]!;
      const flag = /<CashVATSchemeIndicator>(\d)/.exec(invoice)![1];
      expect([number, flag]).toEqual([number, number.includes('CX2027') ? '1' : '0']);
    }
    expect(text.match(/<PaymentType>RC</g)?.length).toBe(4);
    expect(text).toMatch(/<PaymentRefNo>RC CX2027\/3<[\s\S]*?<Tax>/);
  });

  test('a payment that is worth nothing in euros tells one rate with 0.00: the AT takes it, and the SAF-T is valid', async () => {
    const book = await A.item({ name: 'Caderno', type: 'PRODUCT', unitPrice: 90, vatRate: 'REDUCED' });
    const work = await A.item({ unitPrice: 800 });
    const items = [book, work].map(({ id }) => ({ id, quantity: 1 }));
    const invoice = await issueTo(business, { items, currency: 'KRW', exchangeRate: 0.00058 });
    const receipts = [
      (await A.post<Paid>(`/invoices/${invoice.id}/pay`, { amount: 5 })).json.receipt,
      (await A.post<Paid>(`/invoices/${invoice.id}/pay`)).json.receipt,
    ];
    const { books, settles } = (await contentOf(receipts[0]!.id)) as Pick<Content, 'books' | 'settles'>;
    expect([books.gross, settles?.[0]?.groups]).toEqual([
      '0.00',
      [{ region: 'PT', taxCode: 'NOR', rate: '23', base: '0.00', tax: '0.00' }],
    ]);
    await allTold(A);
    const { xml } = await saftOf(service, A, '2026-12-01', '2027-01-31');
    for (const { number } of receipts) expect(xml).toContain(`<PaymentRefNo>${number}<`);
  });

  test('payments behind a note of one rate tell the tax of the rates that are left: the AT takes them, and the SAF-T is valid', async () => {
    const work = await A.item({ unitPrice: 100 });
    const book = await A.item({ name: 'Livro', type: 'PRODUCT', unitPrice: 100, vatRate: 'REDUCED' });
    const items = [work, book].map(({ id }) => ({ id, quantity: 1 }));
    const invoice = await issueTo(business, { items });
    const pay = async (amount?: number) =>
      (await A.post<Paid>(`/invoices/${invoice.id}/pay`, amount === undefined ? {} : { amount })).json.receipt;
    await pay(22.9);
    const line = { id: invoice.items[0]!.id, quantity: 1 };
    const note = await A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId: invoice.id, items: [line] });
    expect(note.status).toBe(201);
    const receipts = [await pay(10), await pay()];
    const { books } = (await contentOf(receipts[1]!.id)) as Pick<Content, 'books'>;
    expect([books.gross, books.groups]).toEqual([
      '73.10',
      [{ region: 'PT', taxCode: 'RED', rate: '6', base: '68.96', tax: '4.14' }],
    ]);
    await allTold(A);
    const { xml } = await saftOf(service, A, '2026-12-01', '2027-01-31');
    for (const { number } of receipts) expect(xml).toContain(`<PaymentRefNo>${number}<`);
  });

  test('what was exempt by a code that has ended since can still be corrected and receipted', async () => {
    const bread = await A.item({ name: 'Pão', type: 'PRODUCT', vatRate: 'EXEMPT', vatExemptionReason: 'M07' });
    const items = [
      { id: bread.id, quantity: 4, unitPrice: 10, vatExemptionReason: 'M26' },
      { id: (await A.item()).id, quantity: 1 },
    ];
    const invoice = await issueTo(business, { items, taxPointDate: '2023-12-30' });
    const line = { id: invoice.items[0]!.id, quantity: 1 };
    const note = await A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId: invoice.id, items: [line] });
    expect([note.status, note.json.taxPointDate]).toEqual([201, '2023-12-30T00:00:00.000+00:00']);
    const debit = { type: 'DEBIT_NOTE', customerId: business, reason: 'Preço', parentInvoiceId: invoice.id };
    const more = await A.issue(await A.draft({ ...debit, items: items.slice(0, 1) }));
    expect(more.taxPointDate).toBe(note.json.taxPointDate);
    expect((await A.post<Paid>(`/invoices/${invoice.id}/pay`)).status).toBe(200);
    await allTold(A);
    const { xml } = await saftOf(service, A, '2026-12-01', '2027-01-31');
    const told = xml.slice(xml.indexOf(`<InvoiceNo>${note.json.number}<`));
    expect(/<TaxPointDate>(.*?)</.exec(told)?.[1]).toBe('2023-12-30');
  });

  test('the period cannot leave out what was issued under it; its end ends it', async () => {
    await expect(setCashVat(service.owner, A.id, undefined)).rejects.toMatchObject({ code: 'CASH_VAT_USED' });
    await expect(setCashVat(service.owner, A.id, { from: '2027-01-02' })).rejects.toMatchObject({
      code: 'CASH_VAT_USED',
    });
    await expect(setCashVat(service.owner, A.id, { from: '2027-01-01', until: '2026-12-31' })).rejects.toMatchObject({
      code: 'CASH_VAT_PERIOD',
    });
    // One day is a period.
    const { id } = service.companies.B;
    await setCashVat(service.owner, id, { from: '2027-01-01', until: '2027-01-01' });
    await setCashVat(service.owner, id, undefined);
    const open = await issueTo(business);
    await setCashVat(service.owner, A.id, { from: '2027-01-01', until: '2027-01-31' });
    await service.setClock(new Date('2027-02-01T09:00:00Z'));
    expect((await issueTo(business)).number).toMatch(/^FT A2026\//);
    // A note dated after the end follows its invoice all the same.
    expect((await A.post<Paid>(`/invoices/${open.id}/pay`)).json.receipt.number).toMatch(/^RC CX2027\//);
  });

  test('a type without a series of the scheme is not ready, instead of going into the wrong one', async () => {
    await setCashVat(service.owner, A.id, { from: '2027-01-01' });
    expect(await refusedIssue({ customerId: business, type: 'SIMPLIFIED_INVOICE' })).toEqual([400, 'NOT_READY']);
    // Its readiness says nothing of that: the refusal does.
    const draft = await A.draft({ customerId: business, type: 'SIMPLIFIED_INVOICE' });
    const answer = await A.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt });
    expect(answer.json.detail).toContain('certo series register --cash-vat');
  });
});

describe('training', () => {
  let B: TestCompany;
  const training: Partial<Record<string, RegisteredSeries>> = {};

  beforeAll(async () => {
    ({ B } = service.companies);
    for (const documentType of ['INVOICE', 'CREDIT_NOTE', 'RECEIPT', 'PROFORMA', 'GUIA_DE_TRANSPORTE'] as const) {
      training[documentType] = await registerSeries(service.world, B.id, { documentType, code: 'F2027', kind: 'F' });
    }
  });
  const practice = async () => B.issue(await B.draft({ seriesId: training['INVOICE']!.id }));

  test('its series are listed as such, are nobody’s default, and are F at the AT', async () => {
    const { json } = await B.get<{ id: string; kind: string; isDefault: boolean }[]>('/series');
    const own = json.filter(({ kind }) => kind === 'TRAINING');
    expect(own.map(({ id }) => id).sort()).toEqual(
      Object.values(training)
        .map((series) => series!.id)
        .sort(),
    );
    expect(own.some(({ isDefault }) => isDefault)).toBe(false);
    const { series } = await service.control<{ series: { series: string; kind: string }[] }>(
      'GET',
      `/__ledger?nif=${B.taxpayerNumber}`,
    );
    expect(series.filter((one) => one.series === 'F2027').map(({ kind }) => kind)).toEqual(['F', 'F', 'F', 'F', 'F']);
    // Registered first of its type, in a company without any other: still no default, and no readiness.
    const young = await service.newCompany({ name: 'Nova, Lda', taxpayerNumber: nifFrom('51222222') });
    await service.setCredentials(young);
    await eventually(async () => expect(await reasonsOf(young)).toEqual(['SERIES_REQUIRED']));
    const only = await registerSeries(service.world, young.id, { documentType: 'INVOICE', code: 'F1', kind: 'F' });
    expect(await reasonsOf(young)).toEqual(['SERIES_REQUIRED']);
    const draft = await young.draft({ seriesId: only.id });
    const answer = await young.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt });
    expect([answer.status, answer.json.code]).toEqual([400, 'NOT_READY']);
    await registerSeries(service.world, young.id, { documentType: 'INVOICE', code: 'N1' });
    expect((await young.issue(await young.draft())).number).toBe('FT N1/1');
  });

  const reasonsOf = async (company: TestCompany) =>
    (await company.get<{ readiness: { reasons: { code: string }[] } }>('/company')).json.readiness.reasons.map(
      ({ code }) => code,
    );

  test('what is issued in it is signed and numbered, marked, and told to nobody; its cancellation too', async () => {
    const invoice = await practice();
    expect(invoice.number).toBe('FT F2027/1');
    expect(invoice.signature?.value).toHaveLength(172);
    expect(invoice.syncWithAt.status).toBe('NOT_APPLICABLE');
    expect(await contentOf(invoice.id)).toMatchObject({ training: true });
    const canceled = await B.post<InvoiceJson>(`/invoices/${(await practice()).id}/cancel`);
    expect(canceled.json.syncWithAt.status).toBe('NOT_APPLICABLE');
    const real = await B.issue(await B.draft());
    expect(real.number).toMatch(/^FT B2026\//);
    await allTold(B);
    expect((await ledger(B)).some(({ number }) => number === real.number)).toBe(true);
    expect((await told()).filter((line) => line.includes('F2027/'))).toEqual([]);
  });

  test('receipts and notes of it are practice too, and real ones are never made of it', async () => {
    const invoice = await practice();
    const codeOf = async (answer: Promise<{ status: number; json: unknown }>) => {
      const { status, json } = await answer;
      return [status, (json as { code: string }).code];
    };
    const differs = [400, 'TRAINING_DIFFERS'];
    expect(await codeOf(B.post(`/invoices/${invoice.id}/pay`))).toEqual(differs);
    expect(await codeOf(B.post('/invoices/credit-notes', { parentInvoiceId: invoice.id }))).toEqual(differs);
    const debit = await B.draft({ type: 'DEBIT_NOTE', parentInvoiceId: invoice.id, reason: 'Preço' });
    expect(await codeOf(B.post(`/invoices/${debit.id}/issue`, { expectedUpdatedAt: debit.updatedAt }))).toEqual(
      differs,
    );
    const real = await B.issue(await B.draft());
    expect(await codeOf(B.post(`/invoices/${real.id}/pay`, { seriesId: training['RECEIPT']!.id }))).toEqual(differs);
    const credit = { parentInvoiceId: real.id, seriesId: training['CREDIT_NOTE']!.id };
    expect(await codeOf(B.post('/invoices/credit-notes', credit))).toEqual(differs);

    const paid = await B.post<Paid>(`/invoices/${invoice.id}/pay`, { amount: 1, seriesId: training['RECEIPT']!.id });
    expect(paid.json.receipt.number).toBe('RG F2027/1');
    const note = { parentInvoiceId: invoice.id, seriesId: training['CREDIT_NOTE']!.id };
    expect((await B.post<InvoiceJson>('/invoices/credit-notes', note)).json.number).toBe('NC F2027/1');
  });

  test('pro formas and transports can be practised; an invoice of a practised pro forma is practice', async () => {
    const transport = await B.issueTransport(await B.transport({ seriesId: training['GUIA_DE_TRANSPORTE']!.id }));
    expect(transport).toMatchObject({ number: 'GT F2027/1', syncWithAt: { status: 'NOT_APPLICABLE' } });
    const proposal = await B.proposal({ seriesId: training['PROFORMA']!.id });
    expect(proposal).toMatchObject({ number: 'PF F2027/1', syncWithAt: { status: 'NOT_APPLICABLE' } });
    const draft = (await B.post<InvoiceJson>(`/proposals/${proposal.id}/convert`)).json;
    const issue = (one: InvoiceJson) =>
      B.post<InvoiceJson>(`/invoices/${one.id}/issue`, { expectedUpdatedAt: one.updatedAt });
    expect((await issue(draft)).status).toBe(400);
    const named = (await B.patch<InvoiceJson>(`/invoices/${draft.id}`, { seriesId: training['INVOICE']!.id })).json;
    expect((await issue(named)).json.number).toMatch(/^FT F2027\//);
    await allTold(B);
    expect((await told()).filter((line) => line.includes('F2027/'))).toEqual([]);
  });

  test('SAF-T holds all of it: valid and without findings', async () => {
    const { xml: text } = await saftOf(service, B, '2027-01-01', '2027-12-31');
    for (const number of ['FT F2027/1', 'NC F2027/1', 'PF F2027/1', 'GT F2027/1', 'RG F2027/1']) {
      expect(text).toContain(`>${number}<`);
    }
  });
});
