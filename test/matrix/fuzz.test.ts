/**
 * Requests made by chance from the operations' own schemas: mostly right, at the edges of what is right, and sometimes
 * wrong in any way. Whatever comes, the answer is one that is declared, and none is a fault of ours: the client of
 * test/service.ts throws on a 5xx, on a reply that breaks its schema and on a refusal that is not declared.
 *
 * Chance is seeded. More of it: FUZZ_RUNS=2000 FUZZ_SEED=7 npx vitest run test/matrix/fuzz.test.ts
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wrongWithKept } from '../../src/engine/plain-text.ts';
import { operations } from '../../src/operations/all.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { nifFrom, type Service, startService, type TestCompany } from '../service.ts';

const runs = Number(process.env['FUZZ_RUNS'] ?? 60);
const seed = Number(process.env['FUZZ_SEED'] ?? 20260302);

let service: Service;
let A: TestCompany;
/** Ids of records by what they are: mostly of the company, some of another one. */
const known = {
  customers: [] as string[],
  items: [] as string[],
  invoices: [] as string[],
  'transport-documents': [] as string[],
  proposals: [] as string[],
  lines: [] as string[],
  series: [] as string[],
};

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'], clock: new Date('2026-03-02T10:15:30Z') });
  ({ A } = service.companies);
  for (const company of [A, A, A, A, A, service.companies.B]) {
    const withheld = { withholdingTaxAvailable: true, withholdingTaxType: 'IRS', withholdingTaxPercent: 23 };
    const items = [await company.item(withheld), await company.item({ vatRate: 'EXEMPT', vatExemptionReason: 'M07' })];
    for (let i = 0; i < 3; i++) {
      const issued = await company.issue(await company.draft({ items: items.map(({ id }) => ({ id, quantity: 2 })) }));
      known.invoices.push(issued.id);
      known.customers.push(issued.customer.ref);
      known.lines.push(...issued.items.map(({ id }) => id));
    }
    known.invoices.push((await company.draft()).id);
    for (let i = 0; i < 3; i++) {
      const proposal = await company.proposal({ items: items.map(({ id }) => ({ id, quantity: 5 })) });
      known.proposals.push(proposal.id);
      known.lines.push(...proposal.items.map(({ id }) => id));
      const transport = await company.transport();
      known['transport-documents'].push(transport.id, (await company.issueTransport(await company.transport())).id);
    }
    known.items.push(...items.map(({ id }) => id));
    known.series.push(...Object.values(company.series).map(({ id }) => id));
  }
});
afterAll(() => service.stop());

const one = (of: keyof typeof known): fc.Arbitrary<unknown> => fc.nat().map((n) => known[of][n % known[of].length]);
const any = fc.oneof(...(Object.keys(known) as (keyof typeof known)[]).map(one));

interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly maxLength?: number;
  readonly decimals?: number;
}

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    null,
    '',
    0,
    -1,
    1e308,
    [],
    {},
    '\u0000',
    '\ud800',
    '😀😀',
    'a\u202eb',
    'null',
    true,
    '../../x',
    "' or 1=1 --",
    '%',
    '$1',
  ),
);
const day = fc.oneof(
  fc.constantFrom('2026-03-02', '2026-03-01', '2026-03-03', '2024-02-29', '0001-01-01', '9999-12-31', '2021-06-30'),
  fc.constantFrom(
    '2026-03-02T10:15:30Z',
    '2026-03-29T01:30:00+01:00',
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59:59-12:00',
  ),
);
const formats: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  uuid: any,
  day,
  instant: fc.constantFrom('2026-03-02T10:15:30.000Z', '2026-03-02T10:15:30Z'),
  country: fc.constantFrom('PT', 'ES', 'US', 'XK'),
  currency: fc.constantFrom('EUR', 'USD', 'JPY'),
};
/** Values that mean something by the name of their field. */
const byName: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  customerId: one('customers'),
  parentInvoiceId: one('invoices'),
  seriesId: one('series'),
  id: fc.oneof({ weight: 6, arbitrary: one('items') }, { weight: 1, arbitrary: one('lines') }),
  cae: fc.constantFrom('62010', '62010', '62010', '47410', '99999'),
  taxpayerNumber: fc.constantFrom(nifFrom('21234567'), nifFrom('50123456'), '999999990', 'B12345678', '123'),
  vatExemptionReason: fc.constantFrom('M07', 'M26', 'M99', 'M00', ''),
  postalCode: fc.constantFrom('1000-001', '1000', ''),
  email: fc.constantFrom('a@b.pt', 'x', ''),
  method: fc.constantFrom('MB', 'Numerário', 'conchas'),
  movementDate: fc.constantFrom('2026-03-02T12:00:00Z', '2026-03-03T12:00:00+01:00', '9999-12-31T23:59:59-12:00'),
  movementEndDate: fc.constantFrom('2026-03-05T12:00:00Z', '2026-03-02T09:00:00Z', '0001-01-01T00:00:00+14:00'),
  licensePlate: fc.constantFrom('AA-00-AA', 'aa 00 aa', '', '??'),
  exchangeRate: fc.constantFrom(0.9, 1, 0.0001, 10000, 0.000001),
};

function numbers(schema: Schema): fc.Arbitrary<unknown> {
  const low = schema.minimum ?? schema.exclusiveMinimum ?? 0;
  const high = schema.maximum ?? schema.exclusiveMaximum ?? 1000;
  const step = 10 ** -(schema.decimals ?? 0);
  return fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 20_000 }).map((n) => Math.min(n / 100, high)) },
    fc.constantFrom(low, low + step, high, high - 1, 1, 0.1, 33.33, 1e9 - 1, 0.000001, -0),
  );
}

/** Mostly what the schema asks for; here and there something else. */
function valueFor(schema: Schema, name = ''): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 40, arbitrary: rightValue(schema, name) }, { weight: 1, arbitrary: junk });
}

function rightValue(schema: Schema, name: string): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const meant = byName[name] ?? (schema.format === undefined ? undefined : formats[schema.format]);
  if (meant !== undefined) return meant;
  switch (schema.type) {
    case 'number':
    case 'integer':
      return numbers(schema);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.oneof(
        { weight: 10, arbitrary: fc.array(valueFor(schema.items ?? {}), { minLength: 1, maxLength: 3 }) },
        { weight: 1, arbitrary: fc.constant([]) },
      );
    case 'object':
      return objectOf(schema);
    default:
      return fc.oneof(
        fc.string({ unit: 'grapheme', minLength: 2, maxLength: Math.min(schema.maxLength ?? 40, 40) }).map(printedOf),
        fc.constantFrom('x'.repeat(schema.maxLength ?? 100), 'Ação & <b>', '漢字'),
      );
  }
}

/** Without what nothing prints, which is seldom taken. */
function printedOf(text: string): string {
  const printed = [...text].filter((character) => wrongWithKept(character) === undefined).join('');
  return wrongWithKept(printed) === undefined ? printed.padEnd(2, 'x') : 'xx';
}

function objectOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<Record<string, unknown>> {
  const members = Object.entries(properties).map(([name, schema]) => {
    const value = valueFor(schema, name);
    const often = required.includes(name) ? 40 : 1;
    // Many optional fields at once seldom fit together.
    const absent = required.includes(name) ? 1 : Object.keys(properties).length;
    return fc
      .oneof({ weight: often, arbitrary: value.map((v) => [v]) }, { weight: absent, arbitrary: fc.constant([]) })
      .map((found: readonly unknown[]) => found.map((v) => [name, v] as const));
  });
  const more = fc.oneof(
    { weight: 30, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: junk.map((v) => [['nonsense', v] as const]) },
  );
  return fc.tuple(more, ...members).map((entries) => Object.fromEntries(entries.flat()));
}

interface Made {
  readonly path: string;
  readonly body: unknown;
}

function requestOf({ path, query, body }: Operation): fc.Arbitrary<Made> {
  const own = path.split('/')[1] as keyof typeof known;
  const id = fc.oneof(
    { weight: 20, arbitrary: own in known ? one(own) : any },
    { weight: 1, arbitrary: any },
    { weight: 1, arbitrary: fc.constantFrom('x', '%00', '..') },
  );
  const asked = query === undefined ? fc.constant({}) : objectOf(query as unknown as Schema);
  const sent = body === undefined ? fc.constant(undefined) : valueFor(body as unknown as Schema);
  return fc.tuple(id, asked, sent).map(([recordId, parameters, value]) => {
    const pairs = Object.entries(parameters).map(
      ([name, v]) => `${name}=${encodeURIComponent(toWellFormed(String(v)))}`,
    );
    return {
      path: `${path.replace(':id', String(recordId))}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`,
      body: value,
    };
  });
}

/** encodeURIComponent throws on what is no Unicode. */
function toWellFormed(text: string): string {
  return text.replace(/[\ud800-\udfff]/gu, '');
}

const done = new Map<string, number>();

describe.each(operations.map((operation) => [operation.name, operation] as const))('%s', (name, operation) => {
  // What chance archived is missing to what comes after it.
  beforeAll(async () => {
    for (const table of ['customers', 'items'])
      await service.owner.query(`update certo.${table} set is_archived = false`);
    // What chance deleted does not come back: there are always some to act on.
    for (let i = 0; i < 5; i++) {
      if (operation.path.includes('/proposals/')) known.proposals.unshift((await A.proposal()).id);
      if (operation.path.includes('/transport-documents/'))
        known['transport-documents'].unshift((await A.transport()).id);
    }
  });

  test('answers whatever comes', async () => {
    await fc.assert(
      fc.asyncProperty(requestOf(operation), async ({ path, body }) => {
        const answer = await A.call(operation.method, path, { body });
        expect(answer.status).toBeLessThan(500);
        if (answer.status < 300) done.set(name, (done.get(name) ?? 0) + 1);
      }),
      { numRuns: runs, seed },
    );
  }, 600_000);
});

test('enough of it was right to go all the way', () => {
  const never = operations.map(({ name }) => name).filter((name) => (done.get(name) ?? 0) === 0);
  // Only a revision that is current can be issued, and what is paid cannot be cancelled: chance does not know.
  expect(never.filter((name) => name !== 'issueInvoice' && name !== 'cancelInvoice')).toEqual([]);
});

test('every draft that chance made can be issued, or is refused with a reason', async () => {
  const { rows } = await service.owner.query(
    `select id, family, updated_at from certo.documents where company_id = $1 and status = 'DRAFT' order by id`,
    [A.id],
  );
  expect(new Set(rows.map(({ family }) => family))).toEqual(new Set(['SALES', 'TRANSPORT']));
  for (const { id, family, updated_at } of rows) {
    const path = `/${family === 'SALES' ? 'invoices' : 'transport-documents'}/${id}`;
    const answer = await A.post(`${path}/issue`, { expectedUpdatedAt: updated_at.toISOString() });
    expect([200, 400]).toContain(answer.status);
    if (answer.status === 200) expect((await A.get(`${path}/pdf`)).status).toBe(200);
  }
}, 600_000);
