/**
 * What a tax inspector tries and must not get: F1 to F24 of the acceptance list. Each attempt is refused with its code,
 * over the wire or in the database as the service's own role, and leaves every table of the company as it was.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Refusal } from '../../src/fiscal/refusal.ts';
import { createApiKey, revokeApiKey } from '../../src/identity/api-keys.ts';
import { entryOfCompany } from '../../src/identity/principal.ts';
import { planRecovery } from '../../src/operations/recovery/plan.ts';
import { recoverDocument } from '../../src/operations/recovery/recover.ts';
import type { RecoveredBody } from '../../src/operations/recovery/recovered-document.ts';
import { registerSeries } from '../../src/operations/series/registration.ts';
import type { Answer } from '../client.ts';
import type { InvoiceJson, ItemJson, ProposalJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { asService, changingNothing, codesOf } from './books.ts';
import { runCommand } from './run-command.ts';

let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: new Date('2026-03-10T11:00:00Z') });
  A = service.companies.A;
});
afterAll(() => service.stop());

const unchanged = <T>(attempt: () => Promise<T>) => changingNothing(service, A, attempt);
const refused = (attempt: () => Promise<Answer<unknown>>) => unchanged(attempt).then(codesOf);
const invoice = async (over: Record<string, unknown> = {}) => A.issue(await A.draft(over));
const issue = (draft: InvoiceJson) => A.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt });
const credit = (of: { id: string }, more: Record<string, unknown> = {}) =>
  A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId: of.id, ...more });
const read = (id: string) => A.get<InvoiceJson>(`/invoices/${id}`).then(({ json }) => json);
async function done<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { status, json, text } = await answer;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return json;
}
const business = () => A.customer({ name: 'Atelier Maré, Lda', taxpayerNumber: '501442600' });

/** One numbered document of every family. */
async function oneOfEach() {
  const sale = await invoice({ notes: 'como emitida', globalDiscountPercent: 5 });
  const { receipt } = await done(A.post<InvoiceJson & { receipt: { id: string } }>(`/invoices/${sale.id}/pay`, {}));
  const transport = await A.issueTransport(await A.transport({ valued: true, licensePlate: 'AA-01-BB' }));
  return { SALES: sale.id, RECEIPT: receipt.id, TRANSPORT: transport.id, PROFORMA: (await A.proposal()).id };
}

describe('F1 editing any fiscal field of an issued document', () => {
  test('F1 over the wire: no member of an issued document can be patched', async () => {
    const issued = await invoice();
    const customerId = (await A.customer()).id;
    const items = [{ id: (await A.item()).id, quantity: 1 }];
    const changes = {
      customerId,
      items,
      cae: '47410',
      date: '2026-03-10',
      taxPointDate: '2026-03-01',
      dueDate: '2026-04-01',
      currency: 'EUR',
      description: 'outra',
      notes: 'outras',
      globalDiscountPercent: 10,
      seriesId: A.series.INVOICE.id,
    };
    for (const [name, value] of Object.entries(changes)) {
      const codes = await refused(() => A.patch(`/invoices/${issued.id}`, { [name]: value }));
      expect([name, codes[0]]).toEqual([name, 'INVALID_STATE']);
    }
    const transport = await A.issueTransport(await A.transport());
    for (const [name, value] of Object.entries({ comments: 'outro', valued: true, licensePlate: 'ZZ-99-ZZ', items })) {
      const codes = await refused(() => A.patch(`/transport-documents/${transport.id}`, { [name]: value }));
      expect([name, codes[0]]).toEqual([name, 'INVALID_STATE']);
    }
    const proforma = await A.proposal();
    expect(await refused(() => A.patch(`/proposals/${proforma.id}`, { notes: 'x' }))).toEqual(['METHOD_NOT_ALLOWED']);
    expect(await refused(() => issue(issued))).toEqual(['INVALID_STATE']);
  });

  test.each(['SALES', 'RECEIPT', 'TRANSPORT', 'PROFORMA'] as const)(
    'F1 in the database: the role of the service changes no fiscal column of %s and nothing inside its content',
    async (family) => {
      const id = (await oneOfEach())[family];
      const { rows: columns } = await service.owner.query(
        `select column_name as name, data_type as type from information_schema.columns
         where table_schema = 'certo' and table_name = 'documents' and is_generated = 'NEVER'`,
      );
      const fiscal = columns.filter(({ name }) => !later.test(name));
      expect(fiscal.length).toBeGreaterThan(30);
      const { content } = (await service.owner.query('select content from certo.documents where id = $1', [id]))
        .rows[0];
      await unchanged(async () => {
        for (const { name, type } of fiscal) {
          const value = otherValue[type]?.replaceAll('@', name) ?? `unknown ${type}`;
          const sql = `update certo.documents set ${name} = ${value} where id = $1 returning 1 as one`;
          expect([name, await asService(service, A, sql, [id])]).toEqual([name, expect.stringMatching(noes)]);
        }
        const paths = leavesOf(content);
        expect(paths.length).toBeGreaterThan(20);
        for (const path of paths) {
          const sql = `update certo.documents set content = jsonb_set(content, $2::text[], '"outro"') where id = $1 returning 1 as one`;
          expect([path, await asService(service, A, sql, [id, path])]).toEqual([path, expect.stringMatching(noes)]);
        }
      });
    },
  );

  /** State, balance, what the AT answered: all that may change once a document is issued. */
  const later = /^(status|updated_at|outstanding|credited|cancel\w*|at_\w+|converted_at|hidden_at)$/;
  /** The trigger that freezes documents; no privilege; a constraint. */
  const noes = /^(CE001|42501|23\d{3})$/;

  const otherValue: Readonly<Record<string, string>> = {
    uuid: 'gen_random_uuid()',
    text: `coalesce(@, '') || 'x'`,
    'timestamp with time zone': `coalesce(@, now()) + interval '1 second'`,
    date: `coalesce(@, '2026-01-01') + 1`,
    numeric: 'coalesce(@, 0) + 1',
    integer: 'coalesce(@, 0) + 1',
    bigint: 'coalesce(@, 0) + 1',
    boolean: 'not coalesce(@, false)',
    bytea: `coalesce(@, '') || '\\x01'`,
    jsonb: `@ || '{"x":1}'`,
    ARRAY: 'array_append(@, gen_random_uuid())',
  };

  function leavesOf(value: unknown, path: readonly string[] = []): string[][] {
    if (value === null || typeof value !== 'object') return [[...path]];
    return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]));
  }
});

describe('F2 deleting an issued document', () => {
  test('F2 over the wire, issued, paid and cancelled', async () => {
    const [issued, paid, canceled] = [await invoice(), await invoice(), await invoice()];
    await done(A.post(`/invoices/${paid.id}/pay`, {}));
    await done(A.post(`/invoices/${canceled.id}/cancel`, {}));
    for (const { id } of [issued, paid, canceled])
      expect(await refused(() => A.delete(`/invoices/${id}`))).toEqual(['INVALID_STATE']);
    const transport = await A.issueTransport(await A.transport());
    expect(await refused(() => A.delete(`/transport-documents/${transport.id}`))).toEqual(['INVALID_STATE']);
  });

  test('F2 a pro forma that was invoiced is not deleted; another one only leaves the lists, never the books', async () => {
    const invoiced = await A.proposal();
    await A.issue(await done(A.post<InvoiceJson>(`/proposals/${invoiced.id}/convert`, {})));
    expect(await refused(() => A.delete(`/proposals/${invoiced.id}`))).toEqual(['PROPOSAL_CONVERTED']);
    const gone = await A.proposal();
    await done(A.delete(`/proposals/${gone.id}`));
    const { rows } = await service.owner.query('select number, status, hash from certo.documents where id = $1', [
      gone.id,
    ]);
    expect(rows).toEqual([{ number: gone.number, status: 'CANCELED', hash: expect.stringMatching(/^.{172}$/) }]);
  });

  test('F2 in the database: the role of the service removes no numbered row', async () => {
    const ids = Object.values(await oneOfEach());
    await unchanged(async () => {
      for (const id of ids) {
        const gone = await asService(service, A, 'delete from certo.documents where id = $1 returning 1 as one', [id]);
        expect([0, 'CE001', '42501']).toContain(gone);
      }
      expect(await asService(service, A, 'truncate certo.documents cascade')).toBe('42501');
      expect(await asService(service, A, 'delete from certo.series')).toBe('42501');
    });
  });
});

describe('F3 to F5 time', () => {
  test('F3 a date before the last one of the series', async () => {
    await invoice();
    const draft = await A.draft({ date: '2026-03-09' });
    expect(await refused(() => issue(draft))).toEqual(['DATE_GOES_BACK']);
    const paid = await invoice();
    await done(A.post(`/invoices/${paid.id}/pay`, { amount: 1 }));
    expect(await refused(() => A.post(`/invoices/${paid.id}/pay`, { date: '2026-03-09' }))).toEqual(['DATE_GOES_BACK']);
    await done(credit(paid, { items: [{ id: paid.items[0]!.id, quantity: 0.1 }] }));
    expect(await refused(() => credit(paid, { date: '2026-03-09' }))).toEqual(['DATE_GOES_BACK']);
    const { customer, items } = await A.proposal();
    const again = { cae: '62010', customerId: customer.ref, items: [{ id: items[0]!.ref, quantity: 1 }] };
    expect(await refused(() => A.post('/proposals', { ...again, date: '2026-03-09' }))).toEqual(['DATE_GOES_BACK']);
  });

  test('F4 a date in the future', async () => {
    const draft = await A.draft({ date: '2026-03-11' });
    expect(await refused(() => issue(draft))).toEqual(['DATE_IN_FUTURE']);
    const paid = await invoice();
    expect(await refused(() => A.post(`/invoices/${paid.id}/pay`, { date: '2026-03-11' }))).toEqual(['DATE_IN_FUTURE']);
    expect(await refused(() => credit(paid, { date: '2026-03-11' }))).toEqual(['DATE_IN_FUTURE']);
    const body = { cae: '62010', customerId: paid.customer.ref, items: [{ id: paid.items[0]!.ref, quantity: 1 }] };
    expect(await refused(() => A.post('/proposals', { ...body, date: '2026-03-11' }))).toEqual(['DATE_IN_FUTURE']);
  });

  test('F5 the clock set back: nothing is signed in any series until it has caught up', async () => {
    await invoice();
    const drafts = [await A.draft(), await A.draft({ type: 'INVOICE_RECEIPT' })];
    const { customer, items } = drafts[0]!;
    const proforma = { cae: '62010', customerId: customer.ref, items: [{ id: items[0]!.ref, quantity: 1 }] };
    const transport = await A.transport();
    const now = service.now();
    await service.setClock(new Date(now.getTime() - 60_000));
    const post = (path: string, body: unknown) => () => A.post(path, body, { mayFail: true });
    for (const { id, updatedAt } of drafts) {
      const attempt = post(`/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt });
      expect(await refused(attempt)).toEqual(['CLOCK_REGRESSION']);
    }
    expect(await refused(post('/proposals', proforma))).toEqual(['CLOCK_REGRESSION']);
    expect(await refused(post(`/transport-documents/${transport.id}/issue`, {}))).toEqual(['CLOCK_REGRESSION']);
    await service.setClock(new Date(now.getTime() + 1000));
    expect((await issue(drafts[0]!)).status).toBe(200);
  });
});

describe('F6 to F8 masters that documents name', () => {
  test('F6 the NIF of a customer with documents; it may be filled in where there was none', async () => {
    const customer = await business();
    await invoice({ customerId: customer.id });
    const patch = (body: unknown) => A.patch(`/customers/${customer.id}`, body);
    for (const taxpayerNumber of ['508025095', '']) {
      expect((await refused(() => patch({ taxpayerNumber })))[0]).toBe('CUSTOMER_NIF_LOCKED');
    }
    expect((await refused(() => patch({ country: 'ES', taxpayerNumber: 'B12345678' })))[0]).toBe('CUSTOMER_NIF_LOCKED');
    expect((await refused(() => patch({ country: 'US' })))[0]).toBe('CUSTOMER_COUNTRY_LOCKED');
    const person = await A.customer();
    await invoice({ customerId: person.id });
    expect((await A.patch(`/customers/${person.id}`, { taxpayerNumber: '123456789' })).status).toBe(200);
    expect((await refused(() => A.patch(`/customers/${person.id}`, { taxpayerNumber: '287024008' })))[0]).toBe(
      'CUSTOMER_NIF_LOCKED',
    );
  });

  test('F7 the name of a customer without NIF who has documents', async () => {
    const customer = await A.customer();
    await invoice({ customerId: customer.id });
    const patch = (body: unknown) => () => A.patch(`/customers/${customer.id}`, body);
    expect((await refused(patch({ name: 'Outra Pessoa' })))[0]).toBe('CUSTOMER_NAME_LOCKED');
    expect((await refused(patch({ name: 'Outra Pessoa', taxpayerNumber: '123456789' })))[0]).toBe(
      'CUSTOMER_NAME_LOCKED',
    );
    expect((await refused(patch({ name: '', companyName: 'Outra, Lda' })))[0]).toBe('CUSTOMER_NAME_LOCKED');
  });

  test('F8 the description of a product that documents name', async () => {
    const item = await A.item();
    await invoice({ items: [{ id: item.id, quantity: 1 }] });
    expect((await refused(() => A.patch(`/items/${item.id}`, { name: 'Outra coisa' })))[0]).toBe('ITEM_NAME_LOCKED');
  });
});

describe('F9 to F11 corrections', () => {
  test('F9 a credit note above the remaining quantity or value', async () => {
    const items = [{ id: (await A.item()).id, quantity: 3 }];
    const issued = await invoice({ items });
    const line = (quantity: number) => ({ items: [{ id: issued.items[0]!.id, quantity }] });
    expect(await refused(() => credit(issued, line(3.000001)))).toContain('QUANTITY_EXCEEDS_OPEN /items/0/quantity');
    const waiting = await done(credit(issued, { ...line(2), issue: false }));
    await done(credit(issued, line(2)));
    expect(await refused(() => credit(issued, line(1.5)))).toContain('QUANTITY_EXCEEDS_OPEN /items/0/quantity');
    expect(await refused(() => issue(waiting))).toContain('QUANTITY_EXCEEDS_OPEN /items/0/quantity');
    await done(credit(issued));
    const { summary } = await read(issued.id);
    expect(summary.creditNotesTotal).toBe(summary.total);
  });

  test('F9 of two that together take too much, at once, one is refused', async () => {
    const issued = await invoice({ items: [{ id: (await A.item()).id, quantity: 3 }] });
    const part = { items: [{ id: issued.items[0]!.id, quantity: 2 }] };
    const answers = await Promise.all([credit(issued, part), credit(issued, part)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
  });

  test('F10 a credit note on a cancelled or fully credited invoice', async () => {
    const canceled = await invoice();
    await done(A.post(`/invoices/${canceled.id}/cancel`, {}));
    expect(await refused(() => credit(canceled))).toEqual(['NOT_CREDITABLE']);
    const credited = await invoice();
    await done(credit(credited));
    expect(await refused(() => credit(credited))).toContain('NOTHING_TO_CREDIT /parentInvoiceId');
  });

  test('F11 cancelling an invoice that has a credit or debit note', async () => {
    const credited = await invoice();
    await done(credit(credited, { items: [{ id: credited.items[0]!.id, quantity: 0.5 }] }));
    const debited = await invoice();
    await invoice({ type: 'DEBIT_NOTE', parentInvoiceId: debited.id, reason: 'Acerto' });
    for (const { id } of [credited, debited])
      expect(await refused(() => A.post(`/invoices/${id}/cancel`, {}))).toEqual(['HAS_NOTES']);
  });
});

/** The same lines as an invoice, as a change of one, and as a pro forma: what one refuses, all refuse. */
async function refusedLines(lines: (item: ItemJson) => object, more: object, item?: ItemJson): Promise<string[][]> {
  const [customer, product] = [await A.customer(), item ?? (await A.item())];
  const draft = await A.draft({ customerId: customer.id, items: [{ id: product.id, quantity: 1 }] });
  const body = { items: [{ id: product.id, quantity: 1, ...lines(product) }], ...more };
  const whole = { cae: '62010', customerId: customer.id, ...body };
  return [
    await refused(() => A.post('/invoices', { type: 'INVOICE', ...whole })),
    await refused(() => A.patch(`/invoices/${draft.id}`, body)),
    await refused(() => A.post('/proposals', whole)),
  ];
}

describe('F12, F13, F15 values that cannot be', () => {
  test.each([
    ['a line discount above 100 %', { unitDiscountPercent: 100.01 }, {}, 'TOO_LARGE /items/0/unitDiscountPercent'],
    ['a line discount below 0', { unitDiscountPercent: -0.01 }, {}, 'TOO_SMALL /items/0/unitDiscountPercent'],
    [
      'an amount above the price',
      { unitDiscountAmount: 10.01 },
      {},
      'DISCOUNT_OUT_OF_RANGE /items/0/unitDiscountAmount',
    ],
    ['an amount below 0', { unitDiscountAmount: -1 }, {}, 'TOO_SMALL /items/0/unitDiscountAmount'],
    ['a global discount above 100 %', {}, { globalDiscountPercent: 101 }, 'TOO_LARGE /globalDiscountPercent'],
    ['a global discount below 0', {}, { globalDiscountPercent: -1 }, 'TOO_SMALL /globalDiscountPercent'],
    [
      'a global amount above the total',
      {},
      { globalDiscountAmount: 10.01 },
      'DISCOUNT_OUT_OF_RANGE /globalDiscountAmount',
    ],
    ['a global amount below 0', {}, { globalDiscountAmount: -1 }, 'TOO_SMALL /globalDiscountAmount'],
  ])('F12 %s', async (_what, line, more, code) => {
    for (const codes of await refusedLines(() => line, more)) expect(codes).toContain(code);
  });

  test.each([
    ['0 % without an exemption code', { vatRate: 'EXEMPT' }, 'EXEMPTION_REQUIRED'],
    ['a code with a rate above 0', { vatExemptionReason: 'M07' }, 'EXEMPTION_NOT_ALLOWED'],
    ['a code that ended', { vatRate: 'EXEMPT', vatExemptionReason: 'M03' }, 'EXEMPTION_UNKNOWN'],
  ])('F13 %s', async (_what, line, code) => {
    for (const codes of await refusedLines(() => line, {}))
      expect(codes.some((told) => told.startsWith(`${code} /items/0/`))).toBe(true);
    const item = { name: 'Aula', type: 'SERVICE', unitPrice: 10, vatRate: 'NORMAL', ...line };
    const codes = await refused(() => A.post('/items', item));
    expect(codes.some((told) => told.startsWith(code))).toBe(true);
  });

  test.each([
    ['a negative quantity: a return inside a sale', { quantity: -1 }, '/items/0/quantity'],
    ['no quantity', { quantity: 0 }, '/items/0/quantity'],
    ['a negative price', { unitPrice: -10 }, '/items/0/unitPrice'],
  ])('F15 %s', async (_what, line, pointer) => {
    for (const codes of await refusedLines(() => line, {})) expect(codes).toContain(`TOO_SMALL ${pointer}`);
    const [customer, item] = [await A.customer(), await A.item({ unitPrice: 5 })];
    const receipt = { type: 'INVOICE_RECEIPT', cae: '62010', customerId: customer.id };
    const sale = { id: item.id, quantity: 2 };
    const mixed = [sale, { ...sale, ...line }];
    expect(await refused(() => A.post('/invoices', { ...receipt, items: mixed }))).toContain(
      `TOO_SMALL ${pointer.replace('/0/', '/1/')}`,
    );
  });

  test('F15 a catalogue item with a negative price', async () => {
    const item = { name: 'Devolução', type: 'PRODUCT', unitPrice: -1, vatRate: 'NORMAL' };
    expect(await refused(() => A.post('/items', item))).toContain('TOO_SMALL /unitPrice');
  });
});

test('F14 printing a draft', async () => {
  const drafts = [await A.draft(), await A.draft({ type: 'SIMPLIFIED_INVOICE' })].map(
    ({ id }) => `/invoices/${id}/pdf`,
  );
  const note = await done(credit(await invoice(), { issue: false }));
  const transport = await A.transport();
  const places = [...drafts, `/invoices/${note.id}/pdf`, `/transport-documents/${transport.id}/pdf`];
  for (const place of places) {
    for (const how of ['', '?isDuplicate=true'])
      expect(await refused(() => A.get(place + how))).toEqual(['DRAFT_NOT_PRINTABLE']);
  }
});

describe('F16 to F18 series', () => {
  const register = (code: string) => registerSeries(service.world, A.id, { documentType: 'INVOICE', code });
  const refusal = (code: string) => unchanged(() => register(code).then(String, ({ code }) => code));

  test('F16 a series id again for the same type, in other letter case too', async () => {
    await register('Loja1');
    for (const code of ['LOJA1', 'loja1', 'lOJA1']) expect(await refusal(code)).toBe('SERIES_CODE_TAKEN');
    // In the same letters it is the series itself, made safe to repeat; no second one comes of it.
    expect(await unchanged(() => register('Loja1'))).toMatchObject({ existed: true });
    const copy = `insert into certo.series (company_id, id, document_type, at_type, code) values ($1, gen_random_uuid(), 'INVOICE', 'FT', $2) returning 1 as one`;
    await unchanged(async () => {
      for (const code of ['Loja1', 'LOJA1']) expect(await asService(service, A, copy, [A.id, code])).toBe('23505');
    });
  });

  test.each(['FINALIZED', 'ANNULLED'])('F16 nor again once it is %s', async (status) => {
    const { id } = await register(`Fim-${status}`);
    await service.owner.query('update certo.series set status = $2 where id = $1', [id, status]);
    for (const code of [`Fim-${status}`, `FIM-${status}`]) expect(await refusal(code)).toBe('SERIES_CODE_TAKEN');
  });

  test.each(['FINALIZED', 'ANNULLED', 'PENDING'])('F17 a series that is %s numbers nothing', async (status) => {
    const { id: seriesId } = await register(`Fora-${status}`);
    const before = await A.draft({ seriesId });
    const state = status === 'PENDING' ? `status = 'PENDING'` : `status = '${status}'`;
    await service.owner.query(`update certo.series set ${state} where id = $1`, [seriesId]);
    expect(await refused(() => issue(before))).toEqual(['SERIES_NOT_ACTIVE']);
    const [customer, item] = [await A.customer(), await A.item()];
    const body = { type: 'INVOICE', cae: '62010', customerId: customer.id, items: [{ id: item.id, quantity: 1 }] };
    expect(await refused(() => A.post('/invoices', { ...body, seriesId }))).toContain('UNKNOWN_SERIES /seriesId');
  });

  test('F17 nor one of another type', async () => {
    const [customer, item] = [await A.customer(), await A.item()];
    const body = { type: 'INVOICE', cae: '62010', customerId: customer.id, items: [{ id: item.id, quantity: 1 }] };
    expect(await refused(() => A.post('/invoices', { ...body, seriesId: A.series.RECEIPT.id }))).toContain(
      'UNKNOWN_SERIES /seriesId',
    );
  });

  test('F18 two issues at once in one series: numbers that follow, each signed over the one before', async () => {
    const drafts = [await A.draft(), await A.draft()];
    const [one, two] = (await Promise.all(drafts.map((draft) => A.issue(draft)))).sort(
      (a, b) => sequenceOf(a) - sequenceOf(b),
    );
    expect(sequenceOf(two!)).toBe(sequenceOf(one!) + 1);
    expect(two!.signature!.text.endsWith(`;${one!.signature!.value}`)).toBe(true);
  });

  const sequenceOf = ({ number }: InvoiceJson) => Number(number?.split('/')[1]);
});

describe('F21 a user code of somebody who is gone', () => {
  const entry = () => entryOfCompany(A.id, 'test');
  const random = () => crypto.getRandomValues(new Uint8Array(32));
  const attempt = (key: { id: string; lineage?: string }) =>
    service.db
      .transact(entry(), (tx) => createApiKey(tx, { name: 'outra', random: random(), ...key }))
      .then(String, ({ code, message }) => code ?? message);

  test('F21 its id is not given again, nor another one that would sign with the same code', async () => {
    const gone = await A.anotherKey();
    const issued = await A.issue(await A.draft());
    await service.db.transact(entry(), (tx) => revokeApiKey(tx, gone.id));
    expect(await unchanged(() => attempt({ id: gone.id }))).toBe('23505');
    const alike = `01890000-0000-7000-8000-${gone.id.slice(-12)}`;
    expect(await unchanged(() => attempt({ id: alike }))).toContain('user code');
    expect(issued.number).toBeDefined();
  });

  test('F21 the service cannot remove the record of a user', async () => {
    const gone = await A.anotherKey();
    await gone.revoke();
    await unchanged(async () => {
      expect(await asService(service, A, 'delete from certo.api_keys where id = $1', [gone.id])).toBe('42501');
      for (const column of ['id', 'lineage'])
        expect(await asService(service, A, `update certo.api_keys set ${column} = gen_random_uuid()`)).toBe('42501');
    });
  });
});

describe('F22 limits of simplified invoices', () => {
  const draftOf = (customerId: string, item: ItemJson, quantity: number) =>
    A.draft({ type: 'SIMPLIFIED_INVOICE', customerId, items: [{ id: item.id, quantity }] });

  test('F22 above 100 EUR to a business, and for services to anybody', async () => {
    const [company, person] = [await business(), await A.customer()];
    const goods = await A.item({ type: 'PRODUCT', name: 'Livro', unitPrice: 1, vatRate: 'REDUCED' });
    const service = await A.item({ unitPrice: 1, vatRate: 'EXEMPT', vatExemptionReason: 'M07' });
    for (const draft of [await draftOf(company.id, goods, 94.35), await draftOf(person.id, service, 100.01)]) {
      expect(draft.summary.total).toBe(100.01);
      expect(await refused(() => issue(draft))).toEqual(['SIMPLIFIED_LIMIT']);
    }
    expect((await issue(await draftOf(person.id, service, 100))).status).toBe(200);
  });

  test('F22 above 1000 EUR of goods to a consumer', async () => {
    const person = await A.customer();
    const goods = await A.item({ type: 'PRODUCT', name: 'Livro', unitPrice: 1, vatRate: 'REDUCED' });
    const [most, more] = [await draftOf(person.id, goods, 943.396), await draftOf(person.id, goods, 943.41)];
    expect([most.summary.total, more.summary.total]).toEqual([1000, 1000.01]);
    expect(await refused(() => issue(more))).toEqual(['SIMPLIFIED_LIMIT']);
    expect((await issue(most)).status).toBe(200);
  });
});

test('F23 a NIF with a wrong check digit, for country PT', async () => {
  const customer = await A.customer();
  for (const taxpayerNumber of ['123456788', '999999991', '501442601', '12345678', '420000000', '12.449.965-4']) {
    const body = { name: 'X', country: 'PT', taxpayerNumber };
    expect(await refused(() => A.post('/customers', body))).toContain('NIF_INVALID /taxpayerNumber');
    expect(await refused(() => A.patch(`/customers/${customer.id}`, { taxpayerNumber }))).toContain(
      'NIF_INVALID /taxpayerNumber',
    );
  }
  const generic = { name: 'X', country: 'PT', taxpayerNumber: '999999990' };
  expect(await refused(() => A.post('/customers', generic))).toContain('NIF_RESERVED /taxpayerNumber');
  const company = ['company', 'create', '--name', 'X', '--nif', '508025096', '--cae', '62010', '--city', 'Lisboa'];
  const { code, err } = await unchanged(() => runCommand(service, company));
  expect([code, err]).toEqual([2, expect.stringContaining('NIF')]);
});

describe('F24 converting a pro forma beyond its quantities', () => {
  const convert = (id: string, body: object = {}) => A.post<InvoiceJson>(`/proposals/${id}/convert`, body);

  test('F24 more than there is, more than is left, and when nothing is left', async () => {
    const proforma = await A.proposal({ items: [{ id: (await A.item()).id, quantity: 5 }] });
    const part = (quantity: number) => ({ items: [{ id: proforma.items[0]!.id, quantity }] });
    expect(await refused(() => convert(proforma.id, part(6)))).toContain('QUANTITY_EXCEEDS_OPEN /items/0/quantity');
    await A.issue(await done(convert(proforma.id, part(3))));
    expect(await refused(() => convert(proforma.id, part(2.5)))).toContain('QUANTITY_EXCEEDS_OPEN /items/0/quantity');
    await A.issue(await done(convert(proforma.id)));
    expect(await refused(() => convert(proforma.id))).toEqual(['NOTHING_TO_CONVERT']);
  });

  test('F24 drafts reserve nothing, so the second one is refused when it is issued', async () => {
    const proforma = await A.proposal();
    const drafts = [await done(convert(proforma.id)), await done(convert(proforma.id))];
    await A.issue(drafts[0]!);
    expect(await refused(() => issue(drafts[1]!))).toEqual(['PROPOSAL_EXCEEDED']);
    const [one, two] = [await A.proposal(), await A.proposal()];
    const both = [await done(convert(one.id)), await done(convert(one.id))];
    const answers = await Promise.all(both.map(issue));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    const { relatedDocuments } = await done(A.get<ProposalJson>(`/proposals/${two.id}`));
    expect(relatedDocuments).toEqual([]);
  });
});

describe('F19 recovering the same manual document twice', () => {
  const file = (digest: string, documents: readonly RecoveredBody[]) => ({
    companyId: A.id,
    digest,
    documents,
    seriesCode: undefined,
  });
  const plan = (digest: string, ...documents: RecoveredBody[]) =>
    planRecovery(service.db, service.app.world, file(digest, documents));
  const problems = (digest: string, ...documents: RecoveredBody[]) =>
    unchanged(() => plan(digest, ...documents)).then(
      () => [],
      ({ problems: told }: Refusal) => told.map(({ code, pointer }) => `${code} ${pointer}`),
    );

  test('F19 in another file, in other letters or twice in one file, and by two at once', async () => {
    await registerSeries(service.world, A.id, { documentType: 'INVOICE', code: 'R2026', kind: 'R' });
    const [customer, item] = [await business(), await A.item({ unitPrice: 100 })];
    const form = (original: string): RecoveredBody => ({
      kind: 'M',
      original,
      type: 'INVOICE',
      cae: '62010',
      customerId: customer.id,
      items: [{ id: item.id, quantity: 1 }],
      date: '2026-03-02',
      total: 123,
    });
    const [planned] = await plan('first', form('abc/00001'));
    await recoverDocument(service.db, service.app.world, file('first', [form('abc/00001')]), planned!);
    for (const original of ['abc/00001', 'ABC/00001', 'abc/1'])
      expect(await problems(`again ${original}`, form(original))).toEqual([
        expect.stringContaining('RECOVERED_ALREADY'),
      ]);
    expect(await problems('both', form('abc/00002'), form('ABC/00002'))).toEqual([
      expect.stringContaining('RECOVERED_TWICE'),
    ]);
    const [one, two] = [await plan('one', form('abc/00003')), await plan('two', form('abc/00003'))];
    const done = await Promise.allSettled([
      recoverDocument(service.db, service.app.world, file('one', [form('abc/00003')]), one[0]!),
      recoverDocument(service.db, service.app.world, file('two', [form('abc/00003')]), two[0]!),
    ]);
    expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const { rows } = await service.owner.query(
      `select content -> 'recovered' ->> 'original' as original from certo.documents
       where company_id = $1 and number is not null and content ? 'recovered' order by sequence`,
      [A.id],
    );
    expect(rows.map(({ original }) => original)).toEqual(['abc/00001', 'abc/00003']);
  });
});

describe('F20 leaving a document type out of SAF-T', () => {
  const period = ['saft', 'export', '--company', '508025095', '--from', '2026-01-01', '--to', '2026-12-31'];

  test('F20 the export has no such option', async () => {
    const { out } = await runCommand(service, ['saft', 'export', '--help']);
    const options = [...out.matchAll(/^\s+(?:-\w, )?(--[\w-]+)/gm)].map(([, name]) => name);
    expect(options.sort()).toEqual(
      ['--company', '--encoding', '--from', '--help', '--json', '--out', '--producer', '--producer-nif', '--to'].sort(),
    );
    for (const wish of [['--exclude', 'INVOICE'], ['--types', 'INVOICE'], ['--series', 'A2026'], ['INVOICE']]) {
      const { code, out } = await unchanged(() => runCommand(service, [...period, ...wish]));
      expect([wish, code, out]).toEqual([wish, 2, '']);
    }
    for (const wish of ['types=RECEIPT', 'documentType=INVOICE', 'exclude=INVOICE', 'series=A2026']) {
      const codes = await refused(() => A.get(`/saft?fromDate=2026-01-01&toDate=2026-12-31&${wish}`));
      expect(codes[1]).toMatch(/^UNKNOWN_PARAMETER /);
    }
  });

  test('F20 the file holds every number that was ever given, of every type, cancelled and hidden ones too', async () => {
    await oneOfEach();
    const gone = await A.proposal();
    await done(A.delete(`/proposals/${gone.id}`));
    const { code, out } = await runCommand(service, period);
    expect(code).toBe(0);
    const told = [...out.matchAll(/<(?:InvoiceNo|DocumentNumber|PaymentRefNo)>([^<]+)</g)].map(([, number]) => number);
    const download = await A.get('/saft?fromDate=2026-01-01&toDate=2026-12-31');
    const parts = (xml: string) => xml.slice(xml.indexOf('<MasterFiles>'));
    expect(parts(download.text)).toBe(parts(out));
    const { rows } = await service.owner.query(
      'select number, type from certo.documents where company_id = $1 and number is not null',
      [A.id],
    );
    expect(new Set(rows.map(({ type }) => type)).size).toBeGreaterThan(5);
    expect(told.sort()).toEqual(rows.map(({ number }) => number).sort());
    expect(told).toContain(gone.number);
  });
});
