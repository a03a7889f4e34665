/** What texts may hold: what turns them around or is printed by no font is refused where it is given, and stands where it stood. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { validate } from '../../src/engine/validate.ts';
import { RecoveredBody } from '../../src/operations/recovery/recovered-document.ts';
import type { Answer } from '../client.ts';
import { textOf } from '../golden/print-reading.ts';
import type { CustomerJson, InvoiceJson, ItemJson, ProposalJson } from '../replies.ts';
import { type LostDocuments, openLostDocuments } from './lost-documents.ts';

let books: LostDocuments;
let A: LostDocuments['A'];
let customer: CustomerJson;
let item: ItemJson;
let draft: InvoiceJson;
beforeAll(async () => {
  books = await openLostDocuments(['INVOICE']);
  ({ A } = books);
  [customer, item] = [await A.customer(), await A.item()];
  draft = await A.draft({ customerId: customer.id, items: [{ id: item.id, quantity: 1 }] });
});
afterAll(() => books.service.stop());

async function kept(): Promise<unknown> {
  const { rows } = await books.service.owner.query(
    `select (select json_agg(d order by id) from certo.documents d) as documents,
       (select json_agg(c order by id) from certo.customers c) as customers,
       (select json_agg(i order by id) from certo.items i) as items`,
  );
  return rows[0];
}
let before: unknown;
beforeEach(async () => {
  before = await kept();
});

const drafted = (over: object) => ({
  cae: '62010',
  customerId: customer.id,
  items: [{ id: item.id, quantity: 1 }],
  ...over,
});
const lineOf = (over: object) => ({ items: [{ id: item.id, quantity: 1, ...over }] });

/** Every kind of text that is kept, with where it is told. */
const requests = (text: string): [method: 'post' | 'patch', path: string, body: object, pointer: string][] => [
  ['post', '/customers', { name: text, country: 'PT' }, '/name'],
  ['post', '/customers', { name: 'x', address: text, city: 'Lisboa', country: 'PT' }, '/address'],
  ['patch', `/customers/${customer.id}`, { name: text }, '/name'],
  ['patch', `/customers/${customer.id}`, { city: text }, '/city'],
  ['post', '/items', { name: text, type: 'SERVICE', unitPrice: 1, vatRate: 'NORMAL' }, '/name'],
  ['patch', `/items/${item.id}`, { description: text }, '/description'],
  ['post', '/invoices', { type: 'INVOICE', ...drafted({ notes: text }) }, '/notes'],
  ['post', '/invoices', { type: 'INVOICE', ...drafted({ description: text }) }, '/description'],
  ['post', '/invoices', { type: 'INVOICE', ...drafted(lineOf({ name: text })) }, '/items/0/name'],
  ['patch', `/invoices/${draft.id}`, { notes: text }, '/notes'],
  ['patch', `/invoices/${draft.id}`, lineOf({ description: text }), '/items/0/description'],
  ['post', '/proposals', drafted({ notes: text }), '/notes'],
];
const told = ({ status, json }: Answer<unknown>) => [
  status,
  (json as Answer['json']).errors?.map(({ pointer, code }) => [pointer, code]),
];

const turning = [...'\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'];
test('what turns a text around is refused wherever a text is kept, by its number alone', async () => {
  for (const [method, path, body, pointer] of requests('Ana\u202eavliS')) {
    const answer = await A[method](path, body);
    expect([path, told(answer)]).toEqual([path, [400, [[pointer, 'INVALID_CHARACTER']]]]);
    expect(answer.json.errors![0]!.message).toBe(
      'The character U+202E cannot be printed or exported. Remove or replace it.',
    );
  }
  for (const control of turning) {
    const answer = await A.post('/customers', { name: `Ana ${control}Silva`, country: 'PT' });
    expect([control, told(answer)]).toEqual([control, [400, [['/name', 'INVALID_CHARACTER']]]]);
  }
  expect(await kept()).toEqual(before);
});

test('what no bundled font prints is refused and named', async () => {
  for (const [method, path, body, pointer] of requests('Gelado 🍦'))
    expect([path, told(await A[method](path, body))]).toEqual([path, [400, [[pointer, 'INVALID_CHARACTER']]]]);
  for (const [text, named] of [
    ['Gelado 🍦', 'U+1F366 (🍦)'],
    ['שלום', 'U+05E9 (ש)'],
    ['متجر', 'U+0645 (م)'],
    ['ร้าน', 'U+0E23 (ร)'],
    ['서울', 'U+C11C (서)'],
    ['a\u20e3', 'U+20E3'],
    ['∃\u0338', 'U+2204 (∄)'],
    ['𠮷野家', 'U+20BB7 (𠮷)'],
    ['a\u0092b', 'U+0092'],
    ['a\ue000b', 'U+E000'],
    ['a\u{e0041}b', 'U+E0041'],
    ['a\u3164b', 'U+3164'],
  ] as const) {
    const answer = await A.patch(`/items/${item.id}`, { name: text }, { headers: { 'accept-language': 'pt' } });
    expect([text, answer.json.errors?.map(({ message }) => message)]).toEqual([
      text,
      [`O carácter ${named} não pode ser impresso nem exportado. Remova-o ou substitua-o.`],
    ]);
  }
  expect(await kept()).toEqual(before);
});

test('what is printed is kept as it was given, composed or not, with what only shapes it', async () => {
  for (const name of [
    'Ação Ωμέγα Жук 张伟 さくら क्षेत्र',
    'Ac\u0327a\u0303o q\u0301',
    'か\u3099',
    'Tubo ≥ 40 mm → ★ ✓',
    'co\u00adoperar\u200bção',
    'क्\u200dष क्\u200cष',
    '葛\u{e0100}城 ♥\ufe0e',
  ])
    expect((await A.customer({ name })).name).toBe(name);
  const notes = 'um\tdois\r\ntrês\u2028quatro\u0085cinco';
  expect((await A.draft({ ...drafted({ notes }) })).notes).toBe(notes);
});

/** As an earlier version let them through. */
async function givenBefore(name: string): Promise<void> {
  const { owner } = books.service;
  await owner.query('update certo.customers set name = $2, shown_name = $2 where id = $1', [customer.id, name]);
  await owner.query('update certo.items set name = $2, description = $2 where id = $1', [item.id, name]);
}

test('filters look for any text', async () => {
  await givenBefore('Gelado 🍦 \u202eabc');
  for (const sought of ['🍦', '\u202eabc', 'שלום']) {
    const found = await A.get<CustomerJson[]>(`/customers?search=${encodeURIComponent(sought)}`);
    expect([found.status, found.json.length]).toEqual([200, sought === 'שלום' ? 0 : 1]);
    expect((await A.get(`/invoices?search=${encodeURIComponent(sought)}`)).status).toBe(200);
  }
});

test('what was given before stands: it is changed in other ways, invoiced, printed, corrected, paid and recovered', async () => {
  const name = 'Gelado 🍦 \u202eabc';
  await givenBefore(name);
  const moved = await A.patch<CustomerJson>(`/customers/${customer.id}`, { city: 'Porto' });
  expect([moved.status, moved.json.name]).toEqual([200, name]);
  expect((await A.patch(`/items/${item.id}`, { unitPrice: 7 })).status).toBe(200);
  const { id } = await A.draft(drafted({}));
  const changed = await A.patch<InvoiceJson>(`/invoices/${id}`, { notes: 'x' });
  expect([changed.status, changed.json.customer.data.name]).toEqual([200, name]);
  const invoice = await A.issue(changed.json);
  expect(invoice.items[0]!.data['name']).toBe(name);
  const { url } = (await A.get<{ url: string }>(`/invoices/${id}/pdf`)).json;
  expect(await textOf((await books.service.open(url)).bytes)).toContain('Gelado \ufffd abc');
  const credit = { parentInvoiceId: id, items: [{ id: invoice.items[0]!.id, quantity: 0.5 }] };
  expect((await A.post('/invoices/credit-notes', credit)).status).toBe(201);
  expect((await A.post(`/invoices/${id}/pay`, {})).status).toBe(200);
  const proposal = (await A.post<ProposalJson>('/proposals', drafted({}))).json;
  expect((await A.post(`/proposals/${proposal.id}/convert`, {})).status).toBe(201);

  const lost = books.lost('FT A2025/9', {
    items: [{ id: books.itemId, quantity: 3, name: 'Gelado 🍦' }],
    notes: 'שלום',
  });
  expect(validate(RecoveredBody, structuredClone(lost), 'file')).toEqual([]);
  const [recovered] = await books.recover([lost]);
  expect((await A.get<InvoiceJson>(`/invoices/${recovered!.id}`)).json.notes).toBe('שלום');
});

test('a body of a megabyte of what nothing prints is refused with its first fifty', async () => {
  const items = Array.from({ length: 1000 }, () => ({
    id: item.id,
    quantity: 1,
    description: `${'張'.repeat(150)}🍦`,
  }));
  const answer = await A.post('/invoices', { type: 'INVOICE', ...drafted({ items }) });
  expect([answer.status, answer.json.errors!.length]).toEqual([400, 50]);
  expect(new Set(answer.json.errors!.map(({ code }) => code))).toEqual(new Set(['INVALID_CHARACTER']));
});
