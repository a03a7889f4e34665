/**
 * What every row of documents and series has to be, whoever writes it (db/migrations/0031_sound_by_columns.sql and
 * 0018_series_ending.sql): each rule is broken alone, and what it must let pass passes.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../service.ts';

let service: Service;
let issued: string;
let draft: string;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  const { A } = service.companies;
  issued = (await A.issue(await A.draft())).id;
  draft = (await A.draft()).id;
});
afterAll(() => service.stop());

type Change = Readonly<Record<string, unknown>>;

async function soundOf(table: 'documents' | 'series', where: string, changes: readonly Change[]): Promise<unknown[]> {
  const { rows: checks } = await service.owner.query<{ text: string }>(
    `select pg_get_expr(conbin, conrelid) as text from pg_constraint where conrelid = 'certo.${table}'::regclass and contype = 'c'`,
  );
  const { rows } = await service.owner.query<{ sound: boolean | null }>(
    `select (select ${checks[0]!.text} from jsonb_populate_record(r, c.change) ${table}) as sound
     from certo.${table} r, jsonb_array_elements($1::jsonb) with ordinality c (change, place) where ${where} order by c.place`,
    [JSON.stringify(changes)],
  );
  expect(rows).toHaveLength(changes.length);
  // Of a CHECK null is no objection.
  return changes.filter((_, i) => rows[i]!.sound !== false);
}

const bytes = (length: number): string => `\\x${'ab'.repeat(length)}`;
const now = '2026-03-02T10:00:00Z';
const numbering = {
  sequence: 7,
  number: 'FT X/7',
  atcud: 'X-7',
  hash: '',
  key_version: 1,
  certificate_number: 9999,
  system_entry: '2026-03-02T10:00:00',
  qr: 'A:1',
  issued_at: now,
  issued_by: 'x',
};
const seals = { seal: bytes(32), state_seal: bytes(32), issued_state: {} };

const ofDraft = {
  allowed: [
    {},
    { status: 'CREATED' },
    { status: 'SCHEDULED' },
    { status: 'PROCESSING' },
    { at_told: 'N' },
    { at_told: null },
    { origin_id: randomUUID() },
    { family: 'TRANSPORT', movement_start: now },
    { recovered_key: 'x', recovered_file: 'y' },
    { series_id: null, date: null },
    { family: 'PROFORMA' },
    { family: 'RECEIPT' },
  ],
  refused: [
    { status: 'LOST' },
    { family: 'OTHER' },
    { outstanding: -0.01 },
    { credited: -0.01 },
    { at_status: 'LATE' },
    { at_told: 'X' },
    { status: 'ISSUED' },
    { status: 'PAID' },
    { status: 'CANCELED' },
    ...Object.entries(numbering)
      .filter(([column]) => column !== 'number')
      .map(([column, value]) => ({ [column]: value })),
    { number: 'FT X/7', ...seals, date: '2026-03-02', series_id: randomUUID() },
    ...Object.entries(seals).map(([column, value]) => ({ [column]: value })),
    { last_event: 1 },
    { recovered_key: 'x' },
    { recovered_file: 'x' },
    { family: 'PROFORMA', origin_id: randomUUID() },
    { movement_start: now },
    { family: 'TRANSPORT', at_doc_code: 'x' },
    { family: 'PROFORMA', converted_at: now },
    { family: 'PROFORMA', hidden_at: now },
  ],
};

const ofIssued = {
  allowed: [
    {},
    { status: 'PAID' },
    { status: 'CANCELED' },
    { last_event: 1 },
    { family: 'TRANSPORT', at_doc_code: 'x' },
    { family: 'PROFORMA', converted_at: now },
    { family: 'PROFORMA', status: 'CANCELED', hidden_at: now },
  ],
  refused: [
    { status: 'DRAFT' },
    { status: 'SCHEDULED' },
    { last_event: -1 },
    ...Object.keys(numbering)
      .filter((column) => column !== 'number')
      .map((column) => ({ [column]: null })),
    { number: null, seal: null, state_seal: null, issued_state: null },
    ...Object.keys(seals).map((column) => ({ [column]: null })),
    { seal: bytes(31) },
    { state_seal: bytes(33) },
    { date: null },
    { series_id: null },
    { at_doc_code: 'x' },
    { converted_at: now },
    { family: 'PROFORMA', status: 'CANCELED', converted_at: now },
    { family: 'PROFORMA', hidden_at: now },
    { status: 'CANCELED', hidden_at: now },
  ],
};

test.each([
  ['a draft', () => draft, ofDraft],
  ['an issued document', () => issued, ofIssued],
] as const)('of %s', async (_, id, { allowed, refused }) => {
  expect(await soundOf('documents', `r.id = '${id()}'`, allowed)).toEqual(allowed);
  expect(await soundOf('documents', `r.id = '${id()}'`, refused)).toEqual([]);
});

test('of a series', async () => {
  const where = `r.id = (select series_id from certo.documents where id = '${issued}')`;
  const closed = { status: 'CLOSED', closed_by: 1, is_default: false };
  const ending = { status: 'ENDING', is_default: false };
  const allowed = [
    {},
    { status: 'PENDING', validation_code: null },
    { status: 'FINALIZED' },
    { status: 'ANNULLED' },
    ending,
    { ...ending, was_default: true, end_told_at: now },
    { ...closed, was_default: true, end_told_at: now },
    closed,
    { is_default: false, kind: 'F' },
    { is_default: false, kind: 'R' },
    { cash_vat: true },
    { cash_vat: true, document_type: 'RECEIPT', at_type: 'RC' },
    { last_seal: null, head_seal: null },
    { last_number: 0 },
  ];
  const refused = [
    { status: 'LOST' },
    { validation_code: null },
    { kind: 'X', is_default: false },
    { code: '' },
    { code: 'X'.repeat(36) },
    { start_number: 0 },
    { last_number: -1 },
    { closed_by: 1 },
    { ...closed, closed_by: null },
    { ...closed, is_default: true },
    { ...ending, is_default: true },
    { ...ending, validation_code: null },
    { was_default: true },
    { end_told_at: now },
    { status: 'PENDING', end_told_at: now },
    { is_default: true, kind: 'F' },
    { cash_vat: true, at_type: 'GT' },
    { at_type: 'RC' },
    { cash_vat: true, at_type: 'RC' },
    { cash_vat: true, document_type: 'RECEIPT', at_type: 'FT' },
    { last_seal: null },
    { head_seal: null },
    { last_seal: bytes(31) },
    { head_seal: bytes(33) },
  ];
  expect(await soundOf('series', where, allowed)).toEqual(allowed);
  expect(await soundOf('series', where, refused)).toEqual([]);
});

test.each([
  ['documents', () => `update certo.documents set outstanding = -1 where id = '${draft}'`],
  ['series', () => `update certo.series set closed_by = 1`],
])('nobody writes another row into %s', async (table, text) => {
  await expect(service.owner.query(text())).rejects.toMatchObject({ code: '23514', constraint: `${table}_sound` });
});

// The server reads and compiles all of them anew in each statement that writes (docs/decisions/0043-one-check-per-table.md).
test('tables that every request writes to have one CHECK at most', async () => {
  const { rows } = await service.owner.query(
    `select t.relname as name from pg_constraint c join pg_class t on t.oid = c.conrelid
     where c.contype = 'c' and t.relnamespace = 'certo'::regnamespace and t.relname in ('documents', 'series', 'claims', 'audit')`,
  );
  expect(rows.map(({ name }) => name).sort()).toEqual(['documents', 'series']);
});
