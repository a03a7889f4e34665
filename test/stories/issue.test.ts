/** Issuing over the wire: number, signature, QR, dates, limits, paper; the clock goes forward through the file. */
import { createVerify } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fileLink } from '../../src/operations/links.ts';
import type { CustomerJson, InvoiceJson, ItemJson } from '../replies.ts';
import { baseUrl, nifFrom, type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
let Z: TestCompany;

beforeAll(async () => {
  service = await startService({ clock: new Date('2024-09-30T12:00:00Z') });
  ({ A, B, Z } = service.companies);
});
afterAll(() => service.stop());

const refusal = ({ status, json }: { status: number; json: { code: string } }) => [status, json.code];
const tryIssue = (company: TestCompany, draft: InvoiceJson) =>
  company.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt });

/** What is signed and stored of a company's documents, in order of number. */
async function chainOf(company: TestCompany, type = 'INVOICE') {
  const { rows } = await service.owner.query(
    `select to_char(date, 'YYYY-MM-DD') as date, system_entry, number, sequence, hash, content -> 'books' ->> 'gross' as gross, issued_at
     from certo.documents where company_id = $1 and type = $2 and number is not null order by sequence`,
    [company.id, type],
  );
  return rows;
}

/** Verifies a chain as an outsider would, with the published key. */
async function verifyChain(company: TestCompany, type?: string): Promise<number> {
  const published = await service.call<{ keys: { version: number; publicKeyPem: string }[] }>(
    'GET',
    '/.well-known/fiscal-keys.json',
  );
  const pem = published.json.keys[0]!.publicKeyPem;
  let previous = '';
  let lastEntry = '';
  const chain = await chainOf(company, type);
  chain.forEach((row, at) => {
    const text = `${row.date};${row.system_entry};${row.number};${row.gross};${previous}`;
    expect([row.number, createVerify('RSA-SHA1').update(text).verify(pem, row.hash, 'base64')]).toEqual([
      row.number,
      true,
    ]);
    expect(Number(row.sequence)).toBe(at + 1);
    expect(row.system_entry >= lastEntry).toBe(true);
    previous = row.hash;
    lastEntry = row.system_entry;
  });
  return chain.length;
}

test('a draft from before a change of rates is issued with those of its day', async () => {
  const item = await B.item({ unitPrice: 100, vatRate: 'REDUCED', vatTerritory: 'MADEIRA' });
  const items = [{ id: item.id, quantity: 1 }];
  const [undated, supplied] = [await B.draft({ items }), await B.draft({ items, taxPointDate: '2024-09-30' })];
  expect([undated.summary.taxAmount, supplied.summary.taxAmount]).toEqual([5, 5]);
  await service.setClock(new Date('2024-10-01T12:00:00Z'));
  const [today, before] = [await B.issue(undated), await B.issue(supplied)];
  expect([today.summary.taxAmount, today.summary.total, today.items[0]?.data['taxRate']]).toEqual([4, 104, 4]);
  expect([before.summary.taxAmount, before.items[0]?.data['taxRate'], before.taxPointDate?.slice(0, 10)]).toEqual([
    5,
    5,
    '2024-09-30',
  ]);
  expect((await B.get<InvoiceJson>(`/invoices/${today.id}`)).json.summary).toEqual(today.summary);
});

describe('in March 2026', () => {
  beforeAll(() => service.setClock(new Date('2026-03-02T10:15:30Z')));

  test('number, ATCUD, signature, QR, dates: all stamped, and a read shows the same', async () => {
    const customer = await A.customer({ taxpayerNumber: nifFrom('50999999'), name: 'Ângela, Lda' });
    const item = await A.item({ unitPrice: 100 });
    const draft = await A.draft({ customerId: customer.id, items: [{ id: item.id, quantity: 1 }] });
    const issued = await A.issue(draft);
    const { validationCode } = A.series.INVOICE;
    const [row] = await chainOf(A);
    const shortHash = [0, 10, 20, 30].map((at) => row.hash[at]).join('');
    expect(issued).toMatchObject({
      id: draft.id,
      number: 'FT A2026/1',
      atcud: `${validationCode}-1`,
      shortHash,
      status: 'ISSUED',
      date: '2026-03-02T00:00:00.000+00:00',
      dueDate: '2026-03-02T00:00:00.000+00:00',
      taxPointDate: null,
      issuedAt: expect.stringMatching(/^2026-03-02T10:15:\d\d\.\d{3}Z$/),
      syncWithAt: { status: 'PENDING' },
      series: { ref: A.series.INVOICE.id, name: 'A2026' },
      signature: { text: `2026-03-02;${row.system_entry};FT A2026/1;123.00;`, value: row.hash, keyVersion: 1 },
    });
    expect(draft).not.toHaveProperty('signature');
    expect(issued.qrCode?.data).toBe(
      `A:508025095*B:${nifFrom('50999999')}*C:PT*D:FT*E:N*F:20260302*G:FT A2026/1*H:${validationCode}-1` +
        `*I1:PT*I7:100.00*I8:23.00*N:23.00*O:123.00*Q:${shortHash}*R:9999`,
    );
    expect(Date.parse(issued.updatedAt)).toBeGreaterThan(Date.parse(draft.updatedAt));
    const read = (await A.get<InvoiceJson>(`/invoices/${issued.id}`)).json;
    const { qrCode, ...rest } = issued;
    expect(read).toEqual({ ...rest, qrCode: { ...qrCode, url: expect.any(String) } });
  });

  test('four types, four chains; each verifies from outside', async () => {
    const parent = (await chainOf(A))[0];
    const { rows } = await service.owner.query('select id from certo.documents where number = $1', [parent.number]);
    for (let round = 1; round <= 3; round++) {
      const fs = await A.issue(await A.draft({ type: 'SIMPLIFIED_INVOICE', payment: { method: 'NU' } }));
      const fr = await A.issue(await A.draft({ type: 'INVOICE_RECEIPT', payment: { method: 'MB' } }));
      const nd = await A.issue(
        await A.draft({ type: 'DEBIT_NOTE', parentInvoiceId: rows[0].id, reason: 'Preço errado' }),
      );
      const ft = await A.issue(await A.draft());
      expect([fs, fr, nd, ft].map(({ number }) => number)).toEqual([
        `FS A2026/${round}`,
        `FR A2026/${round}`,
        `ND A2026/${round}`,
        `FT A2026/${round + 1}`,
      ]);
      expect(nd).toMatchObject({
        parentInvoiceId: rows[0].id,
        parentInvoiceNumber: 'FT A2026/1',
        parentInvoiceType: 'INVOICE',
        parentInvoiceDate: '2026-03-02T00:00:00.000+00:00',
      });
      expect(fr.payment).toEqual({ method: 'MB' });
    }
    for (const type of ['SIMPLIFIED_INVOICE', 'INVOICE_RECEIPT', 'DEBIT_NOTE'])
      expect(await verifyChain(A, type)).toBe(3);
    expect(await verifyChain(A)).toBe(4);
    expect(await verifyChain(B)).toBe(2);
  });

  test('a debit note without its invoice and reason is refused, and numbers nothing', async () => {
    const draft = await A.draft({ type: 'DEBIT_NOTE' });
    expect(refusal(await tryIssue(A, draft))).toEqual([400, 'PARENT_REQUIRED']);
    expect(await chainOf(A, 'DEBIT_NOTE')).toHaveLength(3);
  });

  test('the QR message without a NIF, with a withholding, three regions and an exemption', async () => {
    const line = async (over: Record<string, unknown>) => ({
      id: (await A.item({ unitPrice: 100, ...over })).id,
      quantity: 1,
    });
    const withheld = { withholdingTaxAvailable: true, withholdingTaxType: 'IRS', withholdingTaxPercent: 23 };
    const issued = await A.issue(
      await A.draft({
        items: [
          await line(withheld),
          await line({ vatTerritory: 'MADEIRA', vatRate: 'REDUCED' }),
          await line({ vatTerritory: 'AZORES', vatRate: 'INTERMEDIATE' }),
          await line({ vatRate: 'EXEMPT', vatExemptionReason: 'M07' }),
        ],
      }),
    );
    expect(issued.qrCode?.data).toMatch(/^A:508025095\*B:999999990\*C:PT\*D:FT\*/);
    expect(issued.qrCode?.data).toContain(
      '*I1:PT*I2:100.00*I7:100.00*I8:23.00*J1:PT-MA*J3:100.00*J4:4.00*K1:PT-AC*K5:100.00*K6:9.00*N:36.00*O:436.00*P:23.00*Q:',
    );
    const [system] = (await A.get<CustomerJson[]>('/customers?system=true')).json;
    const anonymous = await A.issue(await A.draft({ customerId: system!.id }));
    expect(anonymous.qrCode?.data).toContain('*B:999999990*C:Desconhecido*');
  });

  test('another currency: shown in its own, signed, told and kept in EUR', async () => {
    const item = await A.item({ unitPrice: 100 });
    const draft = await A.draft({ items: [{ id: item.id, quantity: 1 }], currency: 'USD', exchangeRate: 0.912345 });
    const issued = await A.issue(draft);
    // 91.2345 → 91.23; 23 % of it 20.9829 → 20.98.
    expect([issued.currency, issued.summary.total]).toEqual(['USD', 123]);
    expect(issued.qrCode?.data).toContain('*I7:91.23*I8:20.98*N:20.98*O:112.21*');
    expect((await chainOf(A)).at(-1).gross).toBe('112.21');
    await verifyChain(A);
  });

  test.each([
    ['goods to a private person: 1000.00', 'PRODUCT', {}, 813.01, 813.02],
    ['goods to a person with NIF: 1000.00', 'PRODUCT', { taxpayerNumber: nifFrom('21234567') }, 813.01, 813.02],
    ['goods to a business: 100.00', 'PRODUCT', { taxpayerNumber: nifFrom('50123456') }, 81.3, 81.31],
    ['goods to a foreign number: 100.00', 'PRODUCT', { country: 'US', taxpayerNumber: '12-345' }, 81.3, 81.31],
    ['services: 100.00', 'SERVICE', {}, 81.3, 81.31],
  ])('a simplified invoice is limited; %s', async (_what, type, customer, within, above) => {
    const customerId = (await A.customer(customer)).id;
    const draftAt = async (unitPrice: number) =>
      A.draft({
        type: 'SIMPLIFIED_INVOICE',
        customerId,
        items: [{ id: (await A.item({ type, unitPrice })).id, quantity: 1 }],
      });
    expect((await tryIssue(A, await draftAt(within))).status).toBe(200);
    expect(refusal(await tryIssue(A, await draftAt(above)))).toEqual([400, 'SIMPLIFIED_LIMIT']);
  });

  test('one service among goods makes the limit that of services', async () => {
    const items = [
      { id: (await A.item({ type: 'PRODUCT', unitPrice: 100 })).id, quantity: 1 },
      { id: (await A.item({ type: 'SERVICE', unitPrice: 1 })).id, quantity: 1 },
    ];
    const answer = await tryIssue(A, await A.draft({ type: 'SIMPLIFIED_INVOICE', items }));
    expect(refusal(answer)).toEqual([400, 'SIMPLIFIED_LIMIT']);
    expect(answer.json.detail).toContain('100');
  });

  test('names and NIFs lock once a document is issued, and not before', async () => {
    const customer = await A.customer({ name: 'Sem número' });
    const item = await A.item({ name: 'Coisa', unitPrice: 5 });
    const draft = await A.draft({ customerId: customer.id, items: [{ id: item.id, quantity: 1 }] });
    const patchCustomer = (body: unknown) => A.patch(`/customers/${customer.id}`, body);
    const patchItem = (body: unknown) => A.patch(`/items/${item.id}`, body);
    expect((await patchCustomer({ name: 'Sem número ainda' })).status).toBe(200);
    expect((await patchItem({ name: 'Coisa ainda' })).status).toBe(200);
    await A.issue((await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json);

    expect(refusal(await patchCustomer({ name: 'Outro' }))).toEqual([400, 'CUSTOMER_NAME_LOCKED']);
    expect(refusal(await patchItem({ name: 'Outra' }))).toEqual([400, 'ITEM_NAME_LOCKED']);
    expect((await patchItem({ unitPrice: 6, description: 'mais' })).status).toBe(200);
    expect((await patchCustomer({ city: 'Beja', name: 'Sem número ainda' })).status).toBe(200);
    expect((await patchCustomer({ taxpayerNumber: nifFrom('23456789') })).status).toBe(200);
    expect(refusal(await patchCustomer({ taxpayerNumber: nifFrom('23456788') }))).toEqual([400, 'CUSTOMER_NIF_LOCKED']);
    expect(refusal(await patchCustomer({ taxpayerNumber: '' }))).toEqual([400, 'CUSTOMER_NIF_LOCKED']);
    expect(refusal(await patchCustomer({ country: 'US' }))).toEqual([400, 'CUSTOMER_COUNTRY_LOCKED']);
    expect((await patchCustomer({ country: 'PT', city: 'Évora' })).status).toBe(200);
    expect((await patchCustomer({ name: 'Nome novo' })).status).toBe(200);
  });

  test('the country is free until there is a NIF, and may come with it', async () => {
    const customer = await A.customer({ name: 'De onde' });
    await A.issue(await A.draft({ customerId: customer.id }));
    const patch = (body: unknown) => A.patch(`/customers/${customer.id}`, body);
    expect((await patch({ country: 'FR' })).status).toBe(200);
    expect((await patch({ country: 'DE', taxpayerNumber: 'DE123456789' })).json).toMatchObject({
      country: 'DE',
      taxpayerNumber: '123456789',
    });
    // Documents of now would still show another country, did they show the number.
    expect(refusal(await patch({ country: 'US' }))).toEqual([400, 'CUSTOMER_COUNTRY_LOCKED']);
  });

  test('they lock for each of a document that was not in one before, whatever was', async () => {
    const [known, other] = [await A.customer({ name: 'Primeiro' }), await A.customer({ name: 'Segundo' })];
    const [first, second] = [await A.item({ name: 'Um', unitPrice: 1 }), await A.item({ name: 'Dois', unitPrice: 2 })];
    const issue = async (customer: { id: string }, ...items: { id: string }[]) =>
      A.issue(await A.draft({ customerId: customer.id, items: items.map(({ id }) => ({ id, quantity: 1 })) }));
    let time = 0;
    const locked = async () => {
      time += 1;
      const names = [
        ...[known, other].map(({ id }) => `/customers/${id}`),
        ...[first, second].map(({ id }) => `/items/${id}`),
      ];
      const answers = await Promise.all(names.map((path) => A.patch(path, { name: `Outro ${time}` })));
      return answers.map(({ status }) => status === 400);
    };
    await issue(known, first);
    expect(await locked()).toEqual([true, false, true, false]);
    await issue(other, first);
    expect(await locked()).toEqual([true, true, true, false]);
    await issue(other, first, second);
    expect(await locked()).toEqual([true, true, true, true]);
  });

  test('what is issued keeps what it showed, whatever becomes of customer and item', async () => {
    const issued = await A.issue(await A.draft());
    const [customer, item] = [issued.customer.ref, issued.items[0]!.ref];
    expect((await A.patch(`/customers/${customer}`, { city: 'Guarda', email: 'x@y.pt' })).status).toBe(200);
    expect((await A.patch(`/items/${item}`, { unitPrice: 99 })).status).toBe(200);
    await A.delete(`/customers/${customer}`);
    await A.delete(`/items/${item}`);
    const { qrCode: _1, ...now } = (await A.get<InvoiceJson>(`/invoices/${issued.id}`)).json;
    const { qrCode: _2, ...before } = issued;
    expect(now).toEqual(before);
  });

  test('a retried issue replays, although the document is issued by now', async () => {
    const draft = await A.draft();
    const headers = { 'idempotency-key': uuidv7() };
    const body = { expectedUpdatedAt: draft.updatedAt };
    const first = await A.post<InvoiceJson>(`/invoices/${draft.id}/issue`, body, { headers });
    const again = await A.post<InvoiceJson>(`/invoices/${draft.id}/issue`, body, { headers });
    expect([first.status, again.status, again.headers['idempotent-replayed']]).toEqual([200, 200, 'true']);
    expect(again.text).toBe(first.text);
    expect(refusal(await tryIssue(A, draft))).toEqual([400, 'INVALID_STATE']);
  });

  test('expectedUpdatedAt is an instant: another zone and more zeros are the same, whatever it is off by is another revision', async () => {
    const draft = await A.draft();
    const at = Date.parse(draft.updatedAt);
    const off = await A.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: new Date(at - 1).toISOString() });
    expect([...refusal(off), off.json.currentUpdatedAt]).toEqual([400, 'DRAFT_CHANGED', draft.updatedAt]);
    const finer = await A.post(`/invoices/${draft.id}/issue`, {
      expectedUpdatedAt: draft.updatedAt.replace('Z', '0001Z'),
    });
    expect(refusal(finer)).toEqual([400, 'DRAFT_CHANGED']);
    const lisbon = new Date(at + 3_600_000).toISOString().replace('Z', '000+01:00');
    expect((await A.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: lisbon })).status).toBe(200);
  });

  describe('dates', () => {
    test('a day may be given, not before the last of the series and not after today', async () => {
      await service.setClock(new Date('2026-03-05T12:00:00Z'));
      const third = await A.issue(await A.draft({ date: '2026-03-03', dueDate: '2026-04-02' }));
      expect([third.date, third.dueDate]).toEqual(['2026-03-03T00:00:00.000+00:00', '2026-04-02T00:00:00.000+01:00']);
      expect((await A.issue(await A.draft({ date: '2026-03-03' }))).date).toBe(third.date);
      expect(refusal(await tryIssue(A, await A.draft({ date: '2026-03-02' })))).toEqual([400, 'DATE_GOES_BACK']);
      expect(refusal(await tryIssue(A, await A.draft({ date: '2026-03-06' })))).toEqual([400, 'DATE_IN_FUTURE']);
      expect((await A.issue(await A.draft())).date).toBe('2026-03-05T00:00:00.000+00:00');
      expect(refusal(await tryIssue(A, await A.draft({ date: '2026-03-04' })))).toEqual([400, 'DATE_GOES_BACK']);
      expect((await A.issue(await A.draft({ type: 'INVOICE_RECEIPT', date: '2026-03-04' }))).number).toBe('FR A2026/4');
      await verifyChain(A);
    });

    test('today ends at midnight of the company', async () => {
      await service.setClock(new Date('2026-03-10T00:30:00Z'));
      expect((await A.issue(await A.draft())).date).toBe('2026-03-10T00:00:00.000+00:00');
      expect((await Z.issue(await Z.draft())).date).toBe('2026-03-09T00:00:00.000-01:00');
      expect(refusal(await tryIssue(Z, await Z.draft({ date: '2026-03-10' })))).toEqual([400, 'DATE_IN_FUTURE']);
      expect((await chainOf(Z))[0]).toMatchObject({
        date: '2026-03-09',
        system_entry: expect.stringMatching(/^2026-03-09T23:30/),
      });
    });
  });
});

describe('paper', () => {
  let issued: InvoiceJson;
  beforeAll(async () => {
    issued = await A.issue(await A.draft());
  });
  const pdf = async (query = '') =>
    (await A.get<{ id: string; name: string; url: string }>(`/invoices/${issued.id}/pdf${query}`)).json;
  const code = (answer: { status: number; json: unknown }) => [answer.status, (answer.json as { code: string }).code];

  test('a link that needs no credential and gives the same bytes each time', async () => {
    const link = await pdf();
    expect(link).toEqual({
      id: issued.id,
      name: `${issued.number?.replace(/[ /]/g, '-')}.pdf`,
      url: expect.any(String),
    });
    const [one, two] = [await service.open(link.url), await service.open((await pdf()).url)];
    expect([one.status, one.bytes.subarray(0, 5).toString()]).toEqual([200, '%PDF-']);
    expect(two.bytes.equals(one.bytes)).toBe(true);
    expect(one.headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="${link.name}"`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    expect(one.headers['set-cookie']).toBeUndefined();
  });

  test('what many ask for at once is one print of the company’s', async () => {
    const { print } = service.app.world;
    const printing = print.render;
    const render = vi.spyOn(print, 'render');
    // None is made before all are asked for: one that was kept meanwhile would be read, not printed.
    const all = new Promise<void>((begin) => {
      render.mockImplementation(async (input, ticket) => {
        if (render.mock.calls.length === 4) begin();
        await all;
        return printing(input, ticket);
      });
    });
    const asked = ['?format=RECEIPT', '?format=RECEIPT', '?format=RECEIPT', '?format=RECEIPT_58'];
    const links = await Promise.all(asked.map((query) => pdf(query)));
    const tickets = render.mock.calls.map(([, ticket]) => ticket!);
    render.mockRestore();
    expect(tickets).toHaveLength(4);
    expect(new Set(tickets.map(({ name }) => name)).size).toBe(2);
    expect(new Set(tickets.map(({ whose }) => whose))).toEqual(new Set([A.id]));
    expect(new Set(links.map(({ url }) => url.replace(/\?.*/, ''))).size).toBe(2);
  });

  test('every format prints; a second copy is a file of its own', async () => {
    const files = new Map<string, string>();
    for (const query of ['?format=A4', '?format=RECEIPT', '?format=RECEIPT_58', '?isDuplicate=true']) {
      const file = await service.open((await pdf(query)).url);
      expect([query, file.status, file.bytes.subarray(0, 5).toString()]).toEqual([query, 200, '%PDF-']);
      files.set(query, file.bytes.toString('base64'));
    }
    expect(files.get('?isDuplicate=true')).not.toBe(files.get('?format=A4'));
    expect((await service.open((await pdf('?format=A4&isDuplicate=false')).url)).bytes).toEqual(
      (await service.open((await pdf()).url)).bytes,
    );
  });

  test('a link opens its own file only: anything else is not found, late is gone', async () => {
    const { url } = await pdf();
    const other = await A.issue(await A.draft());
    const changes: [string, string][] = [
      ['signature', url.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
      ['no signature', url.split('?')[0]!],
      ['later', url.replace(/expires=(\d+)/, (_all, ms) => `expires=${Number(ms) + 1}`)],
      ['not a time', url.replace(/expires=\d+/, 'expires=never')],
      ['the same time, written otherwise', url.replace(/expires=(\d+)/, 'expires=$1.0')],
      ['another document', url.replace(issued.id, other.id)],
      ['another company', url.replace(A.id, B.id)],
      ['another variant', url.replace('/A4.', '/RECEIPT.')],
      ['the QR image', url.replace(/\/A4\.[^?]+/, '/qr')],
      ['no id', url.replace(issued.id, 'x')],
    ];
    for (const [what, changed] of changes) {
      expect(changed).not.toBe(url);
      expect([what, ...code(await service.open(changed))]).toEqual([what, 404, 'FILE_NOT_FOUND']);
    }
    const at = service.now();
    await service.setClock(new Date(at.getTime() + 9 * 60_000));
    expect((await service.open(url)).status).toBe(200);
    await service.setClock(new Date(at.getTime() + 10 * 60_000 + 1000));
    expect(code(await service.open(url))).toEqual([410, 'LINK_EXPIRED']);
    expect((await service.open((await pdf()).url)).status).toBe(200);
  });

  test('what was never made is not found, also by a link that is ours', async () => {
    const draft = await A.draft();
    for (const [documentId, variant] of [
      [draft.id, 'qr'],
      [draft.id, 'A4.none'],
      [issued.id, 'A4.none'],
      [uuidv7(), 'qr'],
    ] as const) {
      const url = fileLink(service.app.world, { companyId: A.id, documentId, variant }, service.now());
      expect([variant, ...code(await service.open(url))]).toEqual([variant, 404, 'FILE_NOT_FOUND']);
    }
  });

  test('a draft has none; a template nobody made is not found', async () => {
    const draft = await A.draft();
    expect(refusal(await A.get(`/invoices/${draft.id}/pdf`))).toEqual([400, 'DRAFT_NOT_PRINTABLE']);
    // What is not there is told before the state of what is.
    for (const { id } of [issued, draft]) {
      const no = await A.get(`/invoices/${id}/pdf?templateId=${uuidv7()}`);
      expect(refusal(no)).toEqual([404, 'TEMPLATE_NOT_FOUND']);
    }
    expect((await A.get(`/invoices/${issued.id}/pdf?format=a4`)).json.errors?.[0]).toMatchObject({
      pointer: '?format',
    });
  });

  test('the QR image: behind its link as SVG, and in the reply as a data address', async () => {
    const { url, imageData } = issued.qrCode!;
    expect(url.startsWith(`${baseUrl}/files/`)).toBe(true);
    const image = await service.open((await A.get<InvoiceJson>(`/invoices/${issued.id}`)).json.qrCode!.url);
    expect([image.status, image.headers['content-type']]).toEqual([200, 'image/svg+xml']);
    expect(image.headers['content-security-policy']).toContain("default-src 'none'");
    expect(image.text).toMatch(/^<svg[\s\S]+<\/svg>\s*$/);
    const [head, data = ''] = imageData.split(',');
    expect(head).toMatch(/^data:image\/svg\+xml/);
    const inline = head?.includes('base64') ? Buffer.from(data, 'base64').toString() : decodeURIComponent(data);
    expect(inline).toBe(image.text);
  });
});

describe('in the repeated hour of autumn 2026', () => {
  test('the signed local time stands still instead of going back, and the chain holds', async () => {
    // Far from the turn of the minute: the clock goes on while documents are made.
    for (const at of ['00:30:00', '00:59:20', '01:00:02', '01:45:00', '02:00:01']) {
      await service.setClock(new Date(`2026-10-25T${at}Z`));
      for (const company of [B, Z]) await company.issue(await company.draft());
    }
    const told = async (company: TestCompany) => {
      const entries = (await chainOf(company)).slice(-5);
      expect(new Set(entries.map(({ date }) => date))).toEqual(new Set(['2026-10-25']));
      const [, latest] = entries.map(({ system_entry }) => system_entry as string);
      return entries.map(({ system_entry }) => (system_entry === latest ? 'latest' : system_entry.slice(0, 16)));
    };
    // Lisbon: 01:30 summer, 01:59 summer, then 01:00 and 01:45 winter stand at the latest, 02:00 goes on.
    expect(await told(B)).toEqual(['2026-10-25T01:30', 'latest', 'latest', 'latest', '2026-10-25T02:00']);
    expect((await chainOf(B)).at(-2).system_entry).toMatch(/^2026-10-25T01:59:/);
    // The Azores, an hour behind: 00:30 summer … 00:00 winter.
    expect(await told(Z)).toEqual(['2026-10-25T00:30', 'latest', 'latest', 'latest', '2026-10-25T01:00']);
    expect((await chainOf(Z)).at(-2).system_entry).toMatch(/^2026-10-25T00:59:/);
    await verifyChain(B);
    await verifyChain(Z);
  });

  test('a day begins where its midnight is, also in the hour that is told twice', async () => {
    await service.setClock(new Date('2026-10-25T02:10:00Z'));
    expect((await B.draft({ date: '2026-10-25' })).date).toBe('2026-10-25T00:00:00.000+01:00');
    // On the Azores midnight comes before the change at 01:00 summer time.
    expect((await Z.draft({ date: '2026-10-25' })).date).toBe('2026-10-25T00:00:00.000+00:00');
    expect((await Z.draft({ date: '2026-10-26' })).date).toBe('2026-10-26T00:00:00.000-01:00');
  });
});

describe('a clock that goes back', () => {
  test('a little: it is waited for', async () => {
    await service.setClock(new Date('2026-11-02T10:00:00Z'));
    const before = await B.issue(await B.draft());
    const draft = await B.draft();
    await service.setClock(new Date(Date.parse(before.issuedAt!) - 400));
    const after = await B.issue(draft);
    expect(Date.parse(after.issuedAt!)).toBeGreaterThanOrEqual(Date.parse(before.issuedAt!));
    await verifyChain(B);
  });

  test('more: nothing is signed, of whatever series, until it has caught up', async () => {
    const ahead = new Date('2026-11-03T10:00:00Z');
    await service.setClock(ahead);
    await B.issue(await B.draft());
    const drafts = [await B.draft(), await B.draft({ type: 'INVOICE_RECEIPT' })];
    await service.setClock(new Date(ahead.getTime() - 60_000));
    for (const draft of drafts) {
      const answer = await B.post(
        `/invoices/${draft.id}/issue`,
        { expectedUpdatedAt: draft.updatedAt },
        { mayFail: true },
      );
      expect(refusal(answer)).toEqual([503, 'CLOCK_REGRESSION']);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(55);
    }
    // Another company's time is its own matter.
    expect((await tryIssue(A, await A.draft())).status).toBe(200);
    await service.setClock(new Date(ahead.getTime() + 1000));
    for (const draft of drafts) expect((await tryIssue(B, draft)).status).toBe(200);
    await verifyChain(B);
  });
});

test('an item that cannot be priced on the day of issue refuses, and says where', async () => {
  await service.setClock(new Date('2026-11-04T10:00:00Z'));
  const item = await A.item({ vatRate: 'EXEMPT', vatExemptionReason: 'M07' });
  const items = [{ id: (item as ItemJson).id, quantity: 1, vatExemptionReason: 'M26' }];
  const refused = await A.post('/invoices', {
    type: 'INVOICE',
    cae: '62010',
    customerId: (await A.customer()).id,
    items,
  });
  expect(refused.json.errors?.[0]).toMatchObject({ pointer: '/items/0/vatExemptionReason', code: 'EXEMPTION_UNKNOWN' });
});
