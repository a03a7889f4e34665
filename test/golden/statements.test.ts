/**
 * How many statements and round trips each operation takes, on the wire: of one record with one line, and of many. A
 * number that grows is a loss of speed for every caller; one that grows with the lines is an N+1. A change on purpose is
 * accepted with: UPDATE_GOLDEN=1 npx vitest run test/golden/statements.test.ts && npx biome format --write test/golden
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDb } from '../../src/db/open.ts';
import type { Db } from '../../src/db/transact.ts';
import { operations } from '../../src/operations/all.ts';
import { type CountingSocket, countingSocket } from '../counting-socket.ts';
import { type Sample, samples } from '../matrix/samples.ts';
import type { ItemJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

interface Taken {
  readonly statements: number;
  readonly roundTrips: number;
}
type Counts = Record<string, { readonly one: Taken; readonly many: Taken }>;

const golden = fileURLToPath(new URL('./statements.json', import.meta.url));
const many_lines = 50;
const many_records = 25;

/**
 * Open drafts that show what was changed are priced anew (src/operations/invoices/refresh-drafts.ts): three statements
 * more, and three round trips, for fifty of them, since they are read only once it is known how many they are. How many
 * fifties there are by then: what archives comes last, behind all that makes drafts.
 */
const perDraft: Record<string, number> = { archiveCustomer: 2, archiveItem: 2, patchCustomer: 1, patchItem: 1 };

let service: Service;
let socket: CountingSocket;
let counted: Db;
let door: Awaited<ReturnType<Service['another']>>;
let counts: Counts;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
  socket = await countingSocket(service.connection);
  counted = await openDb({ connection: socket.connection, max: 1 });
  door = await service.another(() => counted);
  const { A, B } = service.companies;
  const large = await withMuch(A);
  const one = await takenBy(B, (sample) => sample);
  const many = await takenBy(large.company, large.enlarge);
  counts = Object.fromEntries(operations.map(({ name }) => [name, { one: one[name]!, many: many[name]! }]));
  if (process.env['UPDATE_GOLDEN'] !== undefined) writeFileSync(golden, `${JSON.stringify(counts, null, 2)}\n`);
});
afterAll(async () => {
  await door.stop();
  await counted.close();
  await socket.close();
  await service.stop();
});

/** The company with many records of each kind, whose documents have many lines. */
async function withMuch(company: TestCompany) {
  const items: ItemJson[] = [];
  for (let i = 0; i < many_lines; i++) items.push(await company.item({ name: `Artigo ${i}` }));
  const lines = items.map(({ id }) => ({ id, quantity: 1 }));
  const customer = await company.customer();
  const big: TestCompany = {
    ...company,
    draft: (over) => company.draft({ customerId: customer.id, items: lines, ...over }),
    transport: (over) => company.transport({ customerId: customer.id, items: lines, ...over }),
    proposal: (over) => company.proposal({ customerId: customer.id, items: lines, ...over }),
    // The one that everything shows.
    customer: () => Promise.resolve(customer),
    item: () => Promise.resolve(items[0]!),
  };
  for (let i = 0; i < many_records; i++) {
    await big.draft();
    await big.transport();
    await big.proposal();
    await company.customer({ name: `Cliente ${i}` });
  }
  const enlarge = (sample: Sample): Sample =>
    Array.isArray(sample.body?.['items']) ? { ...sample, body: { ...sample.body, items: lines } } : sample;
  return { company: big, enlarge };
}

async function takenBy(company: TestCompany, enlarge: (sample: Sample) => Sample): Promise<Record<string, Taken>> {
  const taken: Record<string, Taken> = {};
  // What would take a record away from the others comes last.
  const inOrder = [...operations].sort(
    (a, b) => Number(a.name.startsWith('archive')) - Number(b.name.startsWith('archive')),
  );
  for (const operation of inOrder) {
    const { path, body } = enlarge(await samples[operation.name]!(company));
    const asked = path.includes('?') || !operation.name.startsWith('list') ? path : withLimit(operation.query, path);
    const before = { ...socket };
    // Writes with a key, as integrations make them.
    const headers: Record<string, string> = operation.kind === 'write' ? { 'idempotency-key': uuidv7() } : {};
    const answer = await door.call(operation.method, asked, { key: company.key, body, headers });
    expect([operation.name, answer.status]).toEqual([operation.name, operation.reply[0]]);
    taken[operation.name] = {
      statements: socket.statements - before.statements,
      roundTrips: socket.roundTrips - before.roundTrips,
    };
  }
  return taken;
}

const withLimit = (query: unknown, path: string): string => (query === undefined ? path : `${path}?limit=100`);

test('a draft and its issue take one round trip each beyond the claim', () => {
  for (const name of ['createDraft', 'issueInvoice']) expect([name, counts[name]!.many.roundTrips]).toEqual([name, 2]);
});

test('no operation takes more statements or round trips than it did', () => {
  const known = JSON.parse(readFileSync(golden, 'utf8')) as Counts;
  expect(Object.keys(known).sort()).toEqual(operations.map(({ name }) => name).sort());
  const grown = Object.entries(counts).flatMap(([name, now]) =>
    (['one', 'many'] as const).flatMap((size) =>
      (['statements', 'roundTrips'] as const)
        .filter((what) => now[size][what] > known[name]![size][what])
        .map((what) => `${name} of ${size}: ${now[size][what]} ${what}, was ${known[name]![size][what]}`),
    ),
  );
  // Find out why. Meant so, or fewer by now: the top of this file says how it is written down.
  expect(grown).toEqual([]);
});

test('none takes more for many lines or records than for one', () => {
  const grown = Object.entries(counts).filter(
    ([name, { one, many }]) =>
      !(name in perDraft) && (many.roundTrips > one.roundTrips || many.statements > one.statements),
  );
  expect(grown).toEqual([]);
});

test('what is refreshed costs three statements and round trips more for fifty drafts', () => {
  for (const [name, fifties] of Object.entries(perDraft)) {
    const { one, many } = counts[name]!;
    expect([name, many.roundTrips - one.roundTrips]).toEqual([name, 3 * fifties]);
    expect([name, many.statements - one.statements]).toEqual([name, 3 * fifties]);
  }
});
