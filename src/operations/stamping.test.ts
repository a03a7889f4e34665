import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sampleContent, sampleLine } from '../../test/fiscal-samples.ts';
import { type Service, startService } from '../../test/service.ts';
import { StatementError } from '../db/errors.ts';
import { joinCalls } from '../db/joined.ts';
import { type Call, Line, type Row } from '../db/transact.ts';
import { encodeAll } from '../db/wire-types.ts';
import { entryOfCompany } from '../identity/principal.ts';
import { generateSigningKey, localSigner } from '../keys/signer.ts';
import { numberDocument } from './numbering.ts';
import { type RunningHead, runningFrom } from './running-head.ts';
import { begunOf, type Numbered, stampedAt } from './stamp.ts';
import { stampCalls } from './stamping.ts';
import type { World } from './world.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  // Each statement is judged by its own conditions here: the triggers that hold a head and its documents together are off.
  await service.owner.query(`alter table certo.documents disable trigger document_numbered;
    alter table certo.series disable trigger series_moved`);
});
afterAll(() => service.stop('tampered'));

const signer = localSigner(generateSigningKey().privatePem, 1);
const world = { signer: () => signer, baseUrl: 'http://certo.test', certificateNumber: 9999 } as unknown as World;

/** The next document of a series, which is named or the default. */
async function numberedIn(
  draft: Row,
  series: Row,
  running: RunningHead = runningFrom('c', series),
  isNamed = false,
): Promise<Numbered> {
  const now = new Date();
  const moment = { id: draft['company_id'], now, last_signed: null, cash_vat_from: null, key_version: 1 };
  const ready = { at_state: 'OK', at_synced_at: now, at_series_differ: false, has_invoice_series: true };
  const [itemId] = draft['item_ids'] as string[];
  const customer = { id: String(draft['customer_id']), name: 'Cliente', taxpayerNumber: '501442600', country: 'PT' };
  const content = sampleContent('INVOICE', [sampleLine({ id: randomUUID(), itemId: itemId! })], { customer });
  return numberDocument(
    { id: String(draft['id']), content, region: 'PT' },
    { series, isNamed, moment: { ...moment, ...ready }, running, byScheme: false },
    world,
  );
}

/** The move of the head, and what is written over the draft. */
function callsOf(numbered: Numbered, draft: Row, asDrafted: boolean): [Call, Call] {
  const stamp = { status: 'ISSUED', outstanding: '1', actor: 'test', begun: begunOf(draft) } as const;
  const [move, over] = stampCalls(numbered, stamp, () => Buffer.alloc(32, 1), { marked: true, asDrafted });
  return [move!, over!];
}

/** 'written', or the SQLSTATE by which it was refused. */
const written = (call: Call) =>
  service.db.write(entryOfCompany(service.companies.A.id, 'test'), [call], new Line()).then(
    () => 'written',
    (error: unknown) => (error instanceof StatementError ? error.code : error),
  );

async function draftAndSeries(): Promise<{ draft: Row; series: Row }> {
  const { A } = service.companies;
  const { id } = await A.draft();
  const [draft] = (await service.owner.query<Row>('select * from certo.documents where id = $1', [id])).rows;
  const [series] = (
    await service.owner.query<Row>(
      `select * from certo.series where company_id = $1 and document_type = 'INVOICE' and is_default`,
      [A.id],
    )
  ).rows;
  return { draft: draft!, series: series! };
}

// No foreign key looks for the series (docs/decisions/0089-less-for-each-group.md).
test.each([true, false])('a number is written only in a series that is there (as drafted: %s)', async (asDrafted) => {
  const { draft, series } = await draftAndSeries();
  const numberedAs = async (seriesId: unknown) => {
    const [, over] = callsOf(await numberedIn(draft, { ...series, id: seriesId }), draft, asDrafted);
    return written(over);
  };
  const sequence = Number(series['last_number']) + (asDrafted ? 1 : 2);
  series['last_number'] = sequence - 1;
  expect([await numberedAs(randomUUID()), await numberedAs(series['id'])]).toEqual(['CE003', 'written']);
  const { rows } = await service.owner.query('select sequence::int, series_id from certo.documents where id = $1', [
    draft['id'],
  ]);
  expect(rows).toEqual([{ sequence, series_id: series['id'] }]);
});

test('a document is numbered once: whoever knows the row as it stands by then finds that it has a number', async () => {
  const { draft, series } = await draftAndSeries();
  series['last_number'] = 100;
  const numbered = async (row: Row, asDrafted: boolean) =>
    written(callsOf(await numberedIn(row, series), row, asDrafted)[1]);
  expect(await numbered(draft, true)).toBe('written');
  const { rows } = await service.owner.query<Row>('select * from certo.documents where id = $1', [draft['id']]);
  series['last_number'] = 101;
  for (const asDrafted of [true, false]) expect(await numbered(rows[0]!, asDrafted)).toBe('CE003');
});

test('the head of a series moves only from where it stands: by its number, its signature and its seal', async () => {
  const { draft, series } = await draftAndSeries();
  const moved = async (over: Row) => written(callsOf(await numberedIn(draft, { ...series, ...over }), draft, true)[0]);
  const elsewhere = [
    { last_number: Number(series['last_number']) + 1 },
    { last_hash: 'of another' },
    { last_seal: Buffer.alloc(32, 9) },
  ];
  for (const over of elsewhere) expect([over, await moved(over)]).toEqual([over, 'CE003']);
  expect(await moved({})).toBe('written');
});

test('documents that go on from each other move the head once, on the conditions of all; any other moves it again', async () => {
  const { draft, series: row } = await draftAndSeries();
  const lastSeal = Buffer.alloc(32, 9);
  const series: Row = { ...row, last_hash: 'of the one before', last_seal: lastSeal };
  const from = Number(series['last_number']);
  /** Of two documents: numbers before and behind each move, whether the series has to be the default, hash and seal before. */
  const moves = async (areNamed: [boolean, boolean], change: (second: Numbered) => Partial<Numbered> = () => ({})) => {
    const running = runningFrom('c', series);
    const first = await numberedIn(draft, series, running, areNamed[0]);
    const second = await numberedIn(draft, series, running, areNamed[1]);
    const members = [callsOf(first, draft, true), callsOf({ ...second, ...change(second) }, draft, true)];
    const { calls } = joinCalls(members.map(([move]) => [move]));
    return calls.map(([, values]) => [8, 1, 11, 9, 10].map((place) => encodeAll(values)[place]));
  };
  const before = ['of the one before', lastSeal];
  expect(await moves([true, true])).toEqual([[`${from}`, `${from + 2}`, 'false', ...before]]);
  for (const areNamed of [
    [false, false],
    [false, true],
    [true, false],
  ] as [boolean, boolean][])
    expect(await moves(areNamed)).toEqual([[`${from}`, `${from + 2}`, 'true', ...before]]);
  const others: ((second: Numbered) => Partial<Numbered>)[] = [
    () => ({ previousHash: 'of another' }),
    () => ({ seals: { lastSeal: Buffer.alloc(32, 1) } }),
    ({ issued }) => ({ issued: { ...issued, sequence: issued.sequence + 1 } }),
  ];
  for (const change of others) expect(await moves([true, true], change)).toHaveLength(2);
});

test('a number is a revision of its own, also where the clock has not gone on since the last one', () => {
  const [last, later] = [new Date(1_000_000), new Date(1_000_005)];
  const begun = { updatedAt: last } as Parameters<typeof stampedAt>[1];
  expect([later, last, new Date(0)].map((now) => stampedAt(now, begun).getTime())).toEqual([
    1_000_005, 1_000_001, 1_000_001,
  ]);
});
