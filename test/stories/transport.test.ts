/** Goods on the road: from the draft to the AT's code, with everything that can be wrong on the way. */
import { createVerify } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ClockDoor } from '../../src/doors/clock/clock.ts';
import { reportGroup } from '../../src/doors/clock/reports.ts';
import type { Answer } from '../client.ts';
import { eventually } from '../eventually.ts';
import type { InvoiceJson, TransportEntryJson, TransportJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { saftOf } from './saft-of.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
let Z: TestCompany;
let clock: ClockDoor;

beforeAll(async () => {
  service = await startService({ clock: new Date('2026-03-02T10:00:00Z') });
  ({ A, B, Z } = service.companies);
  clock = service.startReports();
});
beforeEach(() => service.control('DELETE', '/__fault'));
afterAll(() => service.stop());

interface LedgerDocument {
  readonly number: string;
  readonly documentCode: string;
  readonly atcud: string;
  readonly customer: string;
  readonly start: string;
  readonly atDocCode: string;
  readonly history: readonly { readonly status: string }[];
}

const path = '/transport-documents';
const in_ms = (hours: number) => service.now().getTime() + hours * 3_600_000;
const inHours = (hours: number) => new Date(in_ms(hours)).toISOString();
const pass = (minutes: number) => service.setClock(new Date(in_ms(minutes / 60)));
const fault = (rule: Record<string, unknown>) => service.control('PUT', '/__fault', rule);
const read = async (id: string, company = A) => (await company.get<TransportJson>(`${path}/${id}`)).json;
const list = async (query = '', company = A) => (await company.get<TransportEntryJson[]>(`${path}${query}`)).json;
const issue = (id: string, body?: unknown) => A.post<TransportJson>(`${path}/${id}/issue`, body);
const cancel = (id: string, body?: unknown) => A.post<TransportJson>(`${path}/${id}/cancel`, body);
const refusal = ({ status, json }: { status: number; json: unknown }) => [status, (json as { code: string }).code];
const places = (answer: { status: number; json: unknown }) => [
  answer.status,
  (answer as Answer).json.errors?.map(({ pointer, code }) => [pointer, code]),
];
const inLedger = async (number: string | undefined, company = A): Promise<LedgerDocument | undefined> =>
  (
    await service.control<{ documents: LedgerDocument[] }>('GET', `/__ledger?nif=${company.taxpayerNumber}`)
  ).documents.find((document) => document.number === number);
const statusesInLedger = async (number: string | undefined) =>
  (await inLedger(number))?.history.map(({ status }) => status);
const issued = async (over: Record<string, unknown> = {}, company = A) =>
  company.issueTransport(await company.transport(over));

/** Read until the AT has answered. */
async function settled(id: string, status = 'ACCEPTED', company = A): Promise<TransportJson> {
  await eventually(async () => expect((await read(id, company)).syncWithAt.status).toBe(status));
  return read(id, company);
}

describe('a draft', () => {
  test('has its goods, places and times, and no number', async () => {
    const movementDate = inHours(5);
    const draft = await A.transport({ movementDate: movementDate.replace('Z', '+00:00'), licensePlate: 'aa-00-aa' });
    expect(draft).toMatchObject({
      movementType: 'GUIA_DE_TRANSPORTE',
      issueStatus: 'DRAFT',
      movementDate,
      loading: { address: 'Rua do Armazém, 1', postalCode: '1000-001', city: 'Lisboa', country: 'PT' },
      unloading: { city: 'Porto' },
      licensePlate: 'AA-00-AA',
      valued: false,
      syncWithAt: { status: 'NOT_APPLICABLE' },
      summary: { total: 0, taxAmount: 0, amountWithoutTax: 0 },
    });
    expect(draft.items.map(({ meta, data }) => [meta['quantity'], data['unitPrice'], data.name])).toEqual([
      [2, 0, 'Caixa'],
    ]);
    for (const name of ['number', 'atcud', 'atDocCode', 'date', 'series', 'qrCode', 'signature', 'issuedAt'])
      expect(draft).not.toHaveProperty(name);
    expect(await read(draft.id)).toEqual(draft);
    expect(refusal(await A.get(`${path}/${draft.id}/pdf`))).toEqual([400, 'DRAFT_NOT_PRINTABLE']);
    expect(refusal(await cancel(draft.id))).toEqual([400, 'INVALID_STATE']);
  });

  test('changes where it is told to, and only there', async () => {
    const draft = await A.transport({ licensePlate: 'AA-00-AA', comments: 'Frágil', movementEndDate: inHours(6) });
    const patch = async (body: Record<string, unknown>) =>
      (await A.patch<TransportJson>(`${path}/${draft.id}`, body)).json;
    const cleared = await patch({ licensePlate: '', comments: '' });
    const { licensePlate: _1, comments: _2, updatedAt: _3, ...same } = draft;
    const { updatedAt, ...now } = cleared;
    expect(now).toEqual(same);
    expect(updatedAt > draft.updatedAt).toBe(true);
    expect((await patch({ licensePlate: 'aa-00-aa' })).licensePlate).toBe('AA-00-AA');
    const blank = await patch({ licensePlate: '  ' });
    expect([blank.id, blank.licensePlate]).toEqual([draft.id, undefined]);
    const item = await A.item({ name: 'Palete', type: 'PRODUCT', unitPrice: 12.5 });
    const changed = await patch({
      movementType: 'GUIA_DE_REMESSA',
      valued: true,
      items: [{ id: item.id, quantity: 1.5 }],
      unloading: { address: 'Rue Haute 1', postalCode: 'L-1234', city: 'Luxembourg', country: 'LU' },
    });
    expect(changed).toMatchObject({
      movementType: 'GUIA_DE_REMESSA',
      summary: { amountWithoutTax: 18.75, taxAmount: 4.31, total: 23.06, totalToPay: 23.06 },
      loading: draft.loading,
      unloading: { postalCode: 'L-1234', country: 'LU' },
      movementEndDate: draft.movementEndDate,
    });
    expect(await patch({ comments: 'Com preços' })).toMatchObject({ valued: true, summary: { total: 23.06 } });
    expect((await patch({ valued: false })).summary.total).toBe(0);
  });

  test('of another type does not keep the series of the former', async () => {
    const draft = await A.transport({ seriesId: A.series.GUIA_DE_TRANSPORTE.id });
    expect(draft.series?.ref).toBe(A.series.GUIA_DE_TRANSPORTE.id);
    const wrong = await A.patch(`${path}/${draft.id}`, { seriesId: A.series.GUIA_DE_REMESSA.id });
    expect(places(wrong)).toEqual([400, [['/seriesId', 'UNKNOWN_SERIES']]]);
    const same = await A.patch<TransportJson>(`${path}/${draft.id}`, { comments: 'Frágil' });
    expect(same.json.series?.ref).toBe(A.series.GUIA_DE_TRANSPORTE.id);
    const other = await A.patch<TransportJson>(`${path}/${draft.id}`, { movementType: 'GUIA_DE_REMESSA' });
    expect([other.status, other.json.series]).toEqual([200, undefined]);
    expect((await A.issueTransport(draft)).number).toMatch(/^GR A2026\/\d+$/);
  });

  test('is deleted for good; its places in the series are not touched', async () => {
    const draft = await A.transport();
    const { json } = await A.delete<{ id: string; deleted: boolean }>(`${path}/${draft.id}`);
    expect(json).toEqual({ id: draft.id, deleted: true });
    for (const answer of [
      await A.get(`${path}/${draft.id}`),
      await A.delete(`${path}/${draft.id}`),
      await A.patch(`${path}/${draft.id}`, { comments: 'x' }),
      await issue(draft.id),
      await cancel(draft.id),
      await A.get(`${path}/${draft.id}/pdf`),
    ])
      expect(refusal(answer)).toEqual([404, 'TRANSPORT_NOT_FOUND']);
  });

  test('follows its customer and its goods until it is issued', async () => {
    const customer = await A.customer({ city: 'antes' });
    const item = await A.item({ type: 'PRODUCT', name: 'Caixa', unitPrice: 1 });
    const draft = await A.transport({ customerId: customer.id, items: [{ id: item.id, quantity: 3 }], valued: true });
    await A.patch(`/customers/${customer.id}`, { city: 'depois' });
    await A.patch(`/items/${item.id}`, { unitPrice: 2 });
    const now = await read(draft.id);
    expect([now.customer.data, now.summary.amountWithoutTax]).toMatchObject([{ city: 'depois' }, 6]);
    expect(refusal(await issue(draft.id, { expectedUpdatedAt: draft.updatedAt }))).toEqual([400, 'DRAFT_CHANGED']);
    expect((await issue(draft.id, { expectedUpdatedAt: now.updatedAt })).status).toBe(200);
  });
});

describe('a body that is wrong', () => {
  const place = { address: 'Rua 1', postalCode: '1000-001', city: 'Lisboa', country: 'PT' };
  const { city: _city, ...nowhere } = place;
  const cases: [string, () => Record<string, unknown>, [string, string][]][] = [
    ['a start in the past', () => ({ movementDate: inHours(-0.01) }), [['/movementDate', 'MOVEMENT_IN_PAST']]],
    ['a start that is a day', () => ({ movementDate: '2026-03-03' }), [['/movementDate', 'INVALID_FORMAT']]],
    ['a start that is no day', () => ({ movementDate: '2026-02-30T10:00:00Z' }), [['/movementDate', 'INVALID_FORMAT']]],
    ['an end before the start', () => ({ movementEndDate: inHours(0.5) }), [['/movementEndDate', 'END_BEFORE_START']]],
    [
      'no places',
      () => ({ loading: undefined, unloading: undefined }),
      [
        ['/loading', 'REQUIRED'],
        ['/unloading', 'REQUIRED'],
      ],
    ],
    ['half a place', () => ({ loading: nowhere }), [['/loading/city', 'REQUIRED']]],
    ['a place of spaces', () => ({ unloading: { ...place, address: '  ' } }), [['/unloading/address', 'TOO_SHORT']]],
    ['an empty place', () => ({ unloading: { ...place, address: '' } }), [['/unloading/address', 'TOO_SHORT']]],
    [
      'a foreign postal code in Portugal',
      () => ({ loading: { ...place, postalCode: 'SW1A 1AA' } }),
      [['/loading/postalCode', 'INVALID_FORMAT']],
    ],
    [
      'a short postal code',
      () => ({ loading: { ...place, postalCode: '1000' } }),
      [['/loading/postalCode', 'INVALID_FORMAT']],
    ],
    ['no such country', () => ({ loading: { ...place, country: 'XX' } }), [['/loading/country', 'INVALID_FORMAT']]],
    [
      'a country in small letters',
      () => ({ loading: { ...place, country: 'pt' } }),
      [['/loading/country', 'INVALID_FORMAT']],
    ],
    ['a place with more', () => ({ loading: { ...place, door: '1' } }), [['/loading/door', 'UNKNOWN_FIELD']]],
    ['no goods', () => ({ items: [] }), [['/items', 'TOO_FEW']]],
    ['nothing of the goods', () => ({ items: [{ id: uuidv7(), quantity: 0 }] }), [['/items/0/quantity', 'TOO_SMALL']]],
    ['unknown goods', () => ({ items: [{ id: uuidv7(), quantity: 1 }] }), [['/items/0/id', 'UNKNOWN_ITEM']]],
    [
      'prices of its own',
      () => ({ items: [{ id: uuidv7(), quantity: 1, unitPrice: 1 }] }),
      [['/items/0/unitPrice', 'UNKNOWN_FIELD']],
    ],
    ['nobody', () => ({ customerId: uuidv7() }), [['/customerId', 'UNKNOWN_CUSTOMER']]],
    ['a series of invoices', () => ({ seriesId: A.series.INVOICE.id }), [['/seriesId', 'UNKNOWN_SERIES']]],
    ['an invoice', () => ({ movementType: 'INVOICE' }), [['/movementType', 'INVALID_VALUE']]],
    ['small letters', () => ({ movementType: 'guia_de_transporte' }), [['/movementType', 'INVALID_VALUE']]],
    ['no plate', () => ({ licensePlate: 'camião' }), [['/licensePlate', 'INVALID_FORMAT']]],
    ['no plate of pairs', () => ({ licensePlate: 'A\u{e0100}'.repeat(16) }), [['/licensePlate', 'INVALID_FORMAT']]],
    ['more than SAF-T holds', () => ({ comments: 'x'.repeat(61) }), [['/comments', 'TOO_LONG']]],
    ['two lines', () => ({ comments: 'a\nb' }), [['/comments', 'LINE_BREAK']]],
    ['text for a truth', () => ({ valued: 'true' }), [['/valued', 'INVALID_TYPE']]],
    [
      'what invoices have',
      () => ({ cae: '62010', date: '2026-03-02' }),
      [
        ['/cae', 'UNKNOWN_FIELD'],
        ['/date', 'UNKNOWN_FIELD'],
      ],
    ],
  ];
  const whole = async () => ({
    movementType: 'GUIA_DE_REMESSA',
    customerId: (await A.customer()).id,
    items: [{ id: (await A.item({ type: 'PRODUCT' })).id, quantity: 1 }],
    movementDate: inHours(1),
    loading: place,
    unloading: place,
  });

  test.each(cases)('%s', async (_name, over, errors) => {
    const created = await A.post(path, { ...(await whole()), ...over() });
    expect(places(created)).toEqual([400, errors]);
    // A change is judged alike; but what it does not give is no problem.
    const given = Object.fromEntries(Object.entries(over()).filter(([, value]) => value !== undefined));
    if (Object.keys(given).length === 0) return;
    const draft = await A.transport();
    expect(places(await A.patch(`${path}/${draft.id}`, given))).toEqual([400, errors]);
    expect(await read(draft.id)).toEqual(draft);
  });

  test('all that is wrong is told at once', async () => {
    const body = {
      ...(await whole()),
      movementType: 'X',
      movementDate: 'soon',
      loading: { ...place, postalCode: '1' },
      licensePlate: '?',
    };
    expect(places(await A.post(path, body))).toEqual([
      400,
      expect.arrayContaining([
        ['/movementType', 'INVALID_VALUE'],
        ['/movementDate', 'INVALID_FORMAT'],
        ['/loading/postalCode', 'INVALID_FORMAT'],
        ['/licensePlate', 'INVALID_FORMAT'],
      ]),
    ]);
  });

  test('a foreign place has the postal code of its country', async () => {
    const abroad = { address: '10 Downing Street', postalCode: 'SW1A 2AA', city: 'London', country: 'GB' };
    const document = await settled((await issued({ unloading: abroad })).id);
    expect([document.unloading, document.syncWithAt.status]).toEqual([abroad, 'ACCEPTED']);
  });

  test("another company's records do not exist", async () => {
    const body = { customerId: (await B.customer()).id, items: [{ id: (await B.item()).id, quantity: 1 }] };
    expect(places(await A.post(path, { ...(await whole()), ...body }))).toEqual([
      400,
      [
        ['/customerId', 'UNKNOWN_CUSTOMER'],
        ['/items/0/id', 'UNKNOWN_ITEM'],
      ],
    ]);
    const theirs = await B.transport();
    for (const answer of [
      await A.get(`${path}/${theirs.id}`),
      await issue(theirs.id),
      await A.patch(`${path}/${theirs.id}`, {}),
      await A.delete(`${path}/${theirs.id}`),
    ])
      expect(refusal(answer)).toEqual([404, 'TRANSPORT_NOT_FOUND']);
  });
});

describe('issuing', () => {
  const types = {
    GUIA_DE_ATIVOS_PROPRIOS: 'GA',
    GUIA_DE_CONSIGNACAO: 'GC',
    GUIA_DE_DEVOLUCAO: 'GD',
    GUIA_DE_REMESSA: 'GR',
    GUIA_DE_TRANSPORTE: 'GT',
  } as const;

  test.each(Object.entries(types))('%s: numbered, signed, and told with its code', async (movementType, code) => {
    const customer = await A.customer({ name: 'Destino, Lda', taxpayerNumber: '501442600' });
    for (const valued of [false, true]) {
      const document = await issued({ movementType, customerId: customer.id, valued });
      const { validationCode } = A.series[movementType as keyof typeof types];
      const sequence = Number(document.number?.split('/')[1]);
      expect(document).toMatchObject({
        issueStatus: 'ISSUED',
        number: `${code} A2026/${sequence}`,
        atcud: `${validationCode}-${sequence}`,
        date: '2026-03-02T00:00:00.000+00:00',
        syncWithAt: { status: 'PENDING' },
        summary: { total: valued ? 24.6 : 0 },
      });
      const { text, value } = document.signature!;
      expect(text.split(';')[3]).toBe(valued ? '24.60' : '0.00');
      expect(createVerify('RSA-SHA1').update(text).verify(service.publicPem, value, 'base64')).toBe(true);
      const vat = valued ? 'I1:PT\\*I7:20\\.00\\*I8:4\\.60\\*N:4\\.60\\*O:24\\.60' : 'I1:0\\*N:0\\.00\\*O:0\\.00';
      expect(document.qrCode?.data).toMatch(new RegExp(`\\*D:${code}\\*E:N\\*F:20260302\\*.*\\*${vat}\\*Q:`));
      const told = await settled(document.id);
      expect(told.atDocCode).toMatch(/^\d{10}$/);
      // The code is no new revision of the document.
      expect([told.syncWithAt.atCode, told.updatedAt]).toEqual(['0', document.updatedAt]);
      expect(await inLedger(document.number)).toMatchObject({
        documentCode: code,
        atcud: document.atcud,
        customer: '501442600',
        atDocCode: told.atDocCode,
        history: [{ status: 'N' }],
      });
    }
  });

  test('is told in the civil time of the company', async () => {
    await service.setClock(new Date('2026-07-01T08:00:00Z'));
    const [lisbon, azores] = [
      await issued({ movementDate: '2026-07-01T12:00:00Z' }),
      await issued({ movementDate: '2026-07-01T12:00:00Z' }, Z),
    ];
    await settled(lisbon.id);
    await settled(azores.id, 'ACCEPTED', Z);
    expect([(await inLedger(lisbon.number))?.start, (await inLedger(azores.number, Z))?.start]).toEqual([
      '2026-07-01T13:00:00',
      '2026-07-01T12:00:00',
    ]);
  });

  test('freezes: no change, no second issue, no deletion, and nothing by the routes of invoices', async () => {
    const document = await issued();
    for (const answer of [
      await A.patch(`${path}/${document.id}`, { comments: 'depois' }),
      await A.patch(`${path}/${document.id}`, {}),
      await issue(document.id),
      await A.delete(`${path}/${document.id}`),
    ])
      expect(refusal(answer)).toEqual([400, 'INVALID_STATE']);
    const body = { expectedUpdatedAt: document.updatedAt };
    for (const answer of [
      await A.get(`/invoices/${document.id}`),
      await A.patch(`/invoices/${document.id}`, { notes: 'x' }),
      await A.delete(`/invoices/${document.id}`),
      await A.post(`/invoices/${document.id}/issue`, body),
      await A.post(`/invoices/${document.id}/pay`, {}),
      await A.post(`/invoices/${document.id}/cancel`),
      await A.get(`/invoices/${document.id}/pdf`),
    ])
      expect(refusal(answer)).toEqual([404, 'INVOICE_NOT_FOUND']);
    const invoice = await A.issue(await A.draft());
    expect(refusal(await A.get(`${path}/${invoice.id}`))).toEqual([404, 'TRANSPORT_NOT_FOUND']);
    const customer = await A.patch(`/customers/${document.customer.ref}`, { name: 'Outro nome' });
    expect(refusal(customer)).toEqual([400, 'CUSTOMER_NAME_LOCKED']);
    expect((await read(document.id)).customer).toEqual(document.customer);
  });

  test('after the start is refused, and takes no number; with a new start it goes', async () => {
    const draft = await A.transport({ movementDate: inHours(1) });
    await pass(61);
    expect(refusal(await issue(draft.id))).toEqual([400, 'MOVEMENT_IN_PAST']);
    // A change of something else is not held up by the time that went by.
    expect((await A.patch(`${path}/${draft.id}`, { comments: 'tarde' })).status).toBe(200);
    const before = await issued();
    await A.patch(`${path}/${draft.id}`, { movementDate: inHours(1) });
    const { json } = await issue(draft.id);
    const sequence = ({ number }: { number?: string }) => Number(number?.split('/')[1]);
    expect(sequence(json)).toBe(sequence(before) + 1);
  });

  test('more than three months ahead is refused: the AT would not take it', async () => {
    const draft = await A.transport({ movementDate: inHours(24 * 95) });
    expect(refusal(await issue(draft.id))).toEqual([400, 'MOVEMENT_TOO_FAR']);
    expect((await read(draft.id)).issueStatus).toBe('DRAFT');
  });

  test('twenty at once: one number each, one chain, one code each', async () => {
    const drafts = await Promise.all(
      Array.from({ length: 20 }, () => A.transport({ movementType: 'GUIA_DE_CONSIGNACAO' })),
    );
    const documents = await Promise.all(drafts.map((draft) => A.issueTransport(draft)));
    const sequences = documents.map(({ number }) => Number(number?.split('/')[1])).toSorted((a, b) => a - b);
    expect(sequences).toEqual(sequences.map((_, i) => sequences[0]! + i));
    const codes = await Promise.all(documents.map(async ({ id }) => (await settled(id)).atDocCode));
    expect(new Set(codes).size).toBe(20);
    const one = await A.transport();
    const answers = await Promise.all(Array.from({ length: 8 }, () => issue(one.id)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(400)]);
  });
});

describe('cancelling', () => {
  test('before the start: kept in the books, told after the issue, once', async () => {
    const document = await settled((await issued()).id);
    const { status, json } = await cancel(document.id, { reason: 'Avaria' });
    expect([status, json.issueStatus, json.syncWithAt.status]).toEqual([200, 'CANCELED', 'PENDING']);
    expect(json).toMatchObject({ number: document.number, atcud: document.atcud, atDocCode: document.atDocCode });
    await settled(document.id);
    expect(await statusesInLedger(document.number)).toEqual(['N', 'A']);
    expect(refusal(await cancel(document.id))).toEqual([400, 'ALREADY_CANCELED']);
    expect(refusal(await issue(document.id))).toEqual([400, 'INVALID_STATE']);
    const { rows } = await service.owner.query('select cancel_reason from certo.documents where id = $1', [
      document.id,
    ]);
    expect(rows).toEqual([{ cancel_reason: 'Avaria' }]);
  });

  test('ten at once: one', async () => {
    const document = await issued();
    const answers = await Promise.all(Array.from({ length: 10 }, () => cancel(document.id)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(400)]);
    await settled(document.id);
    expect(await statusesInLedger(document.number)).toEqual(['N', 'A']);
  });

  test('ends at the moment of the start', async () => {
    const movementDate = inHours(2);
    const documents = await Promise.all(Array.from({ length: 10 }, () => issued({ movementDate })));
    const start = Date.parse(movementDate);
    await service.setClock(new Date(start - 60_000));
    expect((await cancel(documents.pop()!.id)).status).toBe(200);
    // The start comes while these requests are on their way, one after the other.
    await service.setClock(new Date(start - 500));
    const answers = await Promise.all(
      documents.map(async ({ id }, i) => {
        await new Promise((resolve) => setTimeout(resolve, i * 100));
        return { id, answer: await cancel(id) };
      }),
    );
    for (const { id, answer } of answers) {
      const { rows } = await service.owner.query(
        'select status, canceled_at < movement_start as in_time from certo.documents where id = $1',
        [id],
      );
      const canceled = { status: 'CANCELED', in_time: true };
      expect(rows).toEqual([answer.status === 200 ? canceled : { status: 'ISSUED', in_time: null }]);
      if (answer.status !== 200) expect(refusal(answer)).toEqual([400, 'MOVEMENT_STARTED']);
    }
    expect(answers.at(-1)?.answer.status).toBe(400);
  });

  test('while the AT is down: told as issued, then as cancelled, when it is back', async () => {
    await fault({ kind: 'refused' });
    const document = await issued({ movementDate: inHours(24) });
    expect((await cancel(document.id)).status).toBe(200);
    await eventually(async () => expect((await read(document.id)).syncWithAt.atMessage).toMatch(/\S/));
    expect((await read(document.id)).atDocCode).toBeUndefined();
    await service.control('DELETE', '/__fault');
    await pass(10);
    const told = await settled(document.id);
    expect(told.atDocCode).toMatch(/^\d{10}$/);
    expect(await statusesInLedger(document.number)).toEqual(['N', 'A']);
  });

  test('whose answer is lost is sent again and believed', async () => {
    const document = await settled((await issued({ movementDate: inHours(24) })).id);
    await fault({ kind: 'reset-after', count: 1, operation: 'reportTransport' });
    await cancel(document.id);
    await eventually(async () => {
      await pass(10);
      expect((await read(document.id)).syncWithAt.status).toBe('ACCEPTED');
    });
    expect(await statusesInLedger(document.number)).toEqual(['N', 'A']);
  });
});

describe("the AT's code", () => {
  /** A group of reports, while the clock rests. */
  const reportOnce = () =>
    reportGroup(
      { ...service.world, log: service.log, random: () => 0.5, busy: () => false },
      A.id,
      service.failures,
      service.unreached,
    );

  test('is lost with a lost answer: the document says where to find it, and to cancel it', async () => {
    await fault({ kind: 'reset-after', count: 1, operation: 'reportTransport' });
    const document = await issued({ movementDate: inHours(24) });
    await eventually(async () => {
      await pass(10);
      expect((await read(document.id)).syncWithAt.status).toBe('ACCEPTED');
    });
    const told = await read(document.id);
    expect([told.atDocCode, told.syncWithAt]).toEqual([
      undefined,
      { status: 'ACCEPTED', atCode: '-3', atMessage: expect.stringContaining('Portal das Finanças') },
    ]);
    expect(await statusesInLedger(document.number)).toEqual(['N']);
    await cancel(document.id);
    const canceled = await settled(document.id, 'REJECTED');
    expect(canceled.syncWithAt.atMessage).toMatch(/anule-o no Portal das Finanças/);
    expect(await statusesInLedger(document.number)).toEqual(['N']);
  });

  test('of the process that was slow is kept, though another has told the document meanwhile', async () => {
    await clock.stop();
    const document = await issued({ movementDate: inHours(24) });
    try {
      await fault({ kind: 'slow', count: 1, operation: 'reportTransport', milliseconds: 6_000 });
      const slow = reportOnce();
      await eventually(async () => expect(await statusesInLedger(document.number)).toEqual(['N']));
      // The lease of the slow one is over: another one takes the document, and hears that the AT has it.
      await pass(10);
      await reportOnce();
      expect(await read(document.id)).toMatchObject({ syncWithAt: { status: 'ACCEPTED', atCode: '-3' } });
      expect((await read(document.id)).atDocCode).toBeUndefined();
      await slow;
      expect(await read(document.id)).toMatchObject({
        atDocCode: (await inLedger(document.number))?.atDocCode,
        syncWithAt: { status: 'ACCEPTED', atCode: '0' },
      });
    } finally {
      clock = service.startReports();
    }
    await cancel(document.id);
    await settled(document.id);
    expect(await statusesInLedger(document.number)).toEqual(['N', 'A']);
  });

  test('of a cancellation that was slow changes nothing, once another has told it', async () => {
    const document = await settled((await issued({ movementDate: inHours(24) })).id);
    await clock.stop();
    try {
      await cancel(document.id);
      await fault({ kind: 'slow', count: 1, operation: 'reportTransport', milliseconds: 6_000 });
      const slow = reportOnce();
      await eventually(async () => expect(await statusesInLedger(document.number)).toEqual(['N', 'A']));
      await pass(10);
      await reportOnce();
      const told = await read(document.id);
      expect(told).toMatchObject({ atDocCode: document.atDocCode, syncWithAt: { status: 'ACCEPTED', atCode: '-4' } });
      await slow;
      const { syncWithAt, atDocCode } = told;
      expect(await read(document.id)).toMatchObject({ syncWithAt, atDocCode });
    } finally {
      clock = service.startReports();
    }
  });

  test('comes also while the service for invoices is down, and the other way round', async () => {
    await clock.stop();
    try {
      for (const [down, ...expected] of [
        ['reportInvoice', 'PENDING', 'ACCEPTED', 'PENDING'],
        ['reportTransport', 'ACCEPTED', 'PENDING', 'ACCEPTED'],
      ] as const) {
        await fault({ kind: 'http-503', operation: down });
        const documents = [
          await A.issue(await A.draft()),
          await issued({ movementDate: inHours(24) }),
          await A.issue(await A.draft()),
        ];
        // All of them in one group.
        await reportOnce();
        const { rows } = await service.owner.query(
          'select at_status from certo.documents where id = any ($1) order by issued_at',
          [documents.map(({ id }) => id)],
        );
        expect(rows.map(({ at_status }) => at_status)).toEqual(expected);
        await service.control('DELETE', '/__fault');
        await pass(10);
        await reportOnce();
      }
    } finally {
      clock = service.startReports();
    }
  });

  test('comes with the next group, however many invoices wait for their service', async () => {
    await clock.stop();
    const told = () => service.control<{ operation: string; subject: string }[]>('GET', '/__log?limit=1000');
    try {
      await fault({ kind: 'http-503', operation: 'reportInvoice' });
      const drafts = await Promise.all(Array.from({ length: 25 }, () => A.draft()));
      await Promise.all(drafts.map((draft) => A.issue(draft)));
      const [first, second] = [
        await issued({ movementDate: inHours(30) }),
        await issued({ movementDate: inHours(24) }),
      ];
      const before = (await told()).length;
      await reportOnce();
      const requests = (await told()).slice(before);
      expect(requests.map(({ operation }) => operation)).toEqual([
        'reportTransport',
        'reportTransport',
        'reportInvoice',
      ]);
      expect(requests.slice(0, 2).map(({ subject }) => subject)).toEqual([first.number, second.number]);
      await cancel(second.id);
      await reportOnce();
      expect(await statusesInLedger(second.number)).toEqual(['N', 'A']);
    } finally {
      await service.control('DELETE', '/__fault');
      clock = service.startReports();
      await pass(10);
    }
  });

  test('is asked for again before the start, however long the AT has been away', async () => {
    await clock.stop();
    try {
      await fault({ kind: 'http-503', operation: 'reportTransport' });
      const { id, movementDate } = await issued({ movementDate: inHours(24) });
      const start = Date.parse(movementDate);
      // As after many attempts, of which the last was two minutes before the start: the next would be 5 minutes later.
      await service.owner.query('update certo.documents set at_attempts = 12 where id = $1', [id]);
      await service.setClock(new Date(start - 120_000));
      await reportOnce();
      const next = 'select at_next_at from certo.documents where id = $1';
      const [row] = (await service.owner.query<{ at_next_at: Date }>(next, [id])).rows;
      // Half of what is left: two minutes, less what the attempt took.
      const left_seconds = (start - row!.at_next_at.getTime()) / 1000;
      expect(left_seconds).toBeGreaterThan(30);
      expect(left_seconds).toBeLessThanOrEqual(60);
      await service.control('DELETE', '/__fault');
      await service.setClock(row!.at_next_at);
      await reportOnce();
      expect((await read(id)).syncWithAt).toMatchObject({ status: 'ACCEPTED', atCode: '0' });
    } finally {
      await service.control('DELETE', '/__fault');
      clock = service.startReports();
    }
  });

  test('what the AT refuses is REJECTED with its words', async () => {
    await fault({ kind: 'document-refused', count: 1, operation: 'reportTransport' });
    const document = await settled((await issued()).id, 'REJECTED');
    expect(document).toMatchObject({
      issueStatus: 'ISSUED',
      syncWithAt: { atCode: expect.any(String), atMessage: expect.stringMatching(/\S/) },
    });
  });
});

test('lists: filters, words, order by the start', async () => {
  const customer = await B.customer({ name: 'Órbita, Lda', taxpayerNumber: '501442600' });
  const make = (hours: number, over: Record<string, unknown> = {}) =>
    B.transport({ customerId: customer.id, movementDate: inHours(hours), ...over });
  const late = await make(30, { movementType: 'GUIA_DE_REMESSA', licensePlate: '22-ZZ-33' });
  const early = await make(10, { comments: 'Cuidado com o cão' });
  const middle = await B.issueTransport(await make(20));
  await settled(middle.id, 'ACCEPTED', B);
  const canceled = await B.issueTransport(await make(25));
  await B.post(`${path}/${canceled.id}/cancel`);
  const ids = async (query: string) =>
    (await list(query, B)).filter(({ customer: { ref } }) => ref === customer.id).map(({ id }) => id);
  expect(await ids('?sort=movementDate:asc')).toEqual([early.id, middle.id, canceled.id, late.id]);
  expect(await ids('?sort=movementDate:desc&limit=2&offset=1')).toEqual([canceled.id, middle.id]);
  expect(await ids('?sort=createdAt:asc&issueStatus=DRAFT')).toEqual([late.id, early.id]);
  expect(await ids('?issueStatus=ISSUED')).toEqual([middle.id]);
  expect(await ids('?issueStatus=CANCELED')).toEqual([canceled.id]);
  expect(await ids('?movementType=GUIA_DE_REMESSA')).toEqual([late.id]);
  const { atDocCode, number } = await read(middle.id, B);
  for (const [words, found] of [
    ['orbita', 4],
    ['501442600', 4],
    ['22-zz', 1],
    ['CAO', 1],
    [atDocCode!, 1],
    [number!, 1],
    ['%', 0],
    ['nada disto', 0],
  ] as const)
    expect([words, (await ids(`?search=${encodeURIComponent(words)}`)).length]).toEqual([words, found]);
  const {
    qrCode: _1,
    items: _2,
    signature: _3,
    shortHash: _4,
    cae: _5,
    createdAt: _6,
    issuedAt: _7,
    series: _8,
    issuer: _9,
    summary,
    customer: who,
    ...entry
  } = (await read(middle.id, B)) as TransportJson & { issuer: unknown };
  const listed = (await list(`?search=${encodeURIComponent(number!)}`, B))[0]!;
  expect(listed).toMatchObject(entry);
  expect([listed.summary.total, listed.customer.data.name]).toEqual([summary.total, who.data.name]);
  for (const query of [
    'sort=dueDate:asc',
    'sort=movementDate',
    'issueStatus=PAID',
    'movementType=INVOICE',
    'status=DRAFT',
    'limit=101',
  ])
    expect((await B.get(`${path}?${query}`)).status).toBe(400);
  expect((await list('?search=orbita')).length).toBe(0);
});

test('the PDF is another one with the code, and another when cancelled; each has its bytes for ever', async () => {
  await fault({ kind: 'refused' });
  const document = await issued({ movementDate: inHours(24) });
  const bytes = async () => {
    const { status, json } = await A.get<{ id: string; name: string; url: string }>(`${path}/${document.id}/pdf`);
    expect([status, json.name]).toEqual([200, `${document.number?.replace(/[ /]/g, '-')}.pdf`]);
    return (await service.open(json.url)).bytes;
  };
  const before = await bytes();
  expect(before.subarray(0, 5).toString()).toBe('%PDF-');
  await service.control('DELETE', '/__fault');
  await pass(10);
  await settled(document.id);
  const coded = await bytes();
  expect(coded.equals(before)).toBe(false);
  expect((await bytes()).equals(coded)).toBe(true);
  await cancel(document.id);
  expect((await bytes()).equals(coded)).toBe(false);
  const wrong = await A.get(`${path}/${document.id}/pdf?templateId=${uuidv7()}`);
  expect(refusal(wrong)).toEqual([404, 'TEMPLATE_NOT_FOUND']);
});

test.each(['A', 'Z'] as const)(
  'SAF-T of company %s: valid, without findings, every signature verified',
  async (letter) => {
    const company = service.companies[letter];
    const consumer = (await company.get<{ id: string; system: boolean }[]>('/customers?system=true')).json[0]!;
    await issued({ customerId: consumer.id, comments: 'Sem destinatário', movementEndDate: inHours(30) }, company);
    await issued({ valued: true, movementType: 'GUIA_DE_REMESSA', licensePlate: 'AA-00-AA' }, company);
    const document = await settled((await issued({}, company)).id, 'ACCEPTED', company);
    const { xml, written, report } = await saftOf(service, company, '2026-01-01', '2026-12-31');
    expect(report.documents.movement).toBe(written.counts.TRANSPORT);
    expect(written.counts.TRANSPORT).toBeGreaterThan(2);
    expect(xml).toContain(`<ATDocCodeID>${document.atDocCode}</ATDocCodeID>`);
    const canceled = await service.owner.query(
      `select count(*)::int as count from certo.documents where company_id = $1 and family = 'TRANSPORT' and status = 'CANCELED'`,
      [company.id],
    );
    expect(xml.match(/<MovementStatus>A</g)?.length ?? 0).toBe(canceled.rows[0].count);
    const invoice = (await company.get<InvoiceJson[]>('/invoices?search=GT')).json;
    expect(invoice).toEqual([]);
  },
);

test('in all of this nobody waited for each other', async () => {
  const asked = 'select deadlocks::int from pg_stat_database where datname = current_database()';
  expect((await service.owner.query(asked)).rows).toEqual([{ deadlocks: 0 }]);
});
