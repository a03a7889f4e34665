/**
 * A company to try things with, ready to issue against the simulator. Every step looks first at what is there, so that
 * it can be repeated after a crash anywhere in it; masters are made through the API's own operations.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import type { DocumentType, Region, VatRate } from '../fiscal/document.ts';
import { documentTypes } from '../fiscal/document.ts';
import { Refusal } from '../fiscal/refusal.ts';
import { createApiKey } from '../identity/api-keys.ts';
import { entryOfCompany } from '../identity/principal.ts';
import { createCompany, type NewCompany, setAtCredentials } from '../operations/company/create-company.ts';
import { registerSeries, type SeriesWorld, syncSeries } from '../operations/series/registration.ts';
import type { DemoCompany, Letter } from './demo-file.ts';
import { CommandError, exit } from './exit.ts';

export interface DemoWorld {
  readonly owner: Pool;
  readonly http: FastifyInstance;
  readonly series: SeriesWorld;
  /** Resolves when the simulator can be called; asked for only when there is something to tell it. */
  readonly simulatorUp: () => Promise<void>;
}

const common = { cae: ['62010', '46900'], email: 'demo@example.com' } as const;
const companies: Readonly<Record<Letter, NewCompany & { readonly region: Region }>> = {
  A: {
    ...common,
    name: 'Demonstração A, Lda',
    taxpayerNumber: '599999900',
    region: 'PT',
    address: 'Rua do Exemplo, 1',
    postalCode: '1000-001',
    city: 'Lisboa',
  },
  B: {
    ...common,
    name: 'Demonstração B, Lda',
    taxpayerNumber: '599999918',
    region: 'PT',
    address: 'Rua do Exemplo, 2',
    postalCode: '4000-001',
    city: 'Porto',
  },
  Z: {
    ...common,
    name: 'Demonstração Açores, Lda',
    taxpayerNumber: '599999926',
    region: 'PT-AC',
    address: 'Rua do Exemplo, 3',
    postalCode: '9500-001',
    city: 'Ponta Delgada',
  },
};

const customers: readonly Record<string, unknown>[] = [
  {
    companyName: 'Cliente Empresa, Lda',
    taxpayerNumber: '599999934',
    country: 'PT',
    address: 'Avenida do Cliente, 10',
    postalCode: '1100-001',
    city: 'Lisboa',
  },
  { name: 'Maria Exemplo', country: 'PT', address: 'Travessa do Cliente, 4', postalCode: '3000-001', city: 'Coimbra' },
];

const items: Readonly<Record<VatRate, Record<string, unknown>>> = {
  NORMAL: { name: 'Consultoria', type: 'SERVICE', unitType: 'HOUR', unitPrice: 40 },
  INTERMEDIATE: { name: 'Vinho de mesa', type: 'PRODUCT', unitPrice: 6.5 },
  REDUCED: { name: 'Livro', type: 'PRODUCT', unitPrice: 14.9 },
  EXEMPT: { name: 'Formação certificada', type: 'SERVICE', unitPrice: 30, vatExemptionReason: 'M07' },
};

/** The company of the letter as it is to be printed; `known` is what was printed before. */
export async function ensureDemoCompany(
  world: DemoWorld,
  letter: Letter,
  known: DemoCompany | undefined,
): Promise<DemoCompany> {
  if (known !== undefined && (await stillGood(world, known))) return known;
  const company = companies[letter];
  const id = await ensureCompany(world.owner, company, world.series.newId);
  const series = await ensureReady(world, id, company.taxpayerNumber);
  const apiKey = await ensureKey(world, id, known?.apiKey);
  const call = caller(world.http, apiKey);
  const made: string[] = [];
  for (const [index, body] of customers.entries()) made.push(await call('/customers', `demo-customer-${index}`, body));
  const catalogue: [VatRate, string][] = [];
  for (const [vatRate, body] of Object.entries(items) as [VatRate, Record<string, unknown>][]) {
    catalogue.push([vatRate, await call('/items', `demo-item-${vatRate}`, { ...body, vatRate })]);
  }
  const { name, taxpayerNumber, cae } = company;
  return {
    id,
    name,
    taxpayerNumber,
    cae,
    apiKey,
    series,
    customers: made,
    items: Object.fromEntries(catalogue) as Record<VatRate, string>,
  };
}

/** Whether the key still opens that company and it may issue: then nothing has to be made or asked. */
async function stillGood(world: DemoWorld, known: DemoCompany): Promise<boolean> {
  const answer = await world.http.inject({ url: '/company', headers: { 'x-api-key': known.apiKey } });
  if (answer.statusCode !== 200) return false;
  const { id, readiness } = answer.json() as { id: string; readiness: { ready: boolean } };
  if (id !== known.id || !readiness.ready) return false;
  const { rows } = await world.owner.query(
    `select count(*)::int as active from certo.series where company_id = $1 and id = any($2) and status = 'ACTIVE'`,
    [id, Object.values(known.series)],
  );
  return rows[0].active === Object.keys(documentTypes).length;
}

async function ensureCompany(owner: Pool, company: NewCompany, newId: () => string): Promise<string> {
  const { rows } = await owner.query('select id from certo.companies where taxpayer_number = $1', [
    company.taxpayerNumber,
  ]);
  return rows[0]?.id ?? createCompany(owner, company, newId);
}

/** Credentials, series of every type, and the comparison with what the AT has. */
async function ensureReady(world: DemoWorld, id: string, nif: string): Promise<Record<DocumentType, string>> {
  const { owner, series } = world;
  const { rows } = await owner.query<{ at_state: string; year: string }>(
    'select at_state, to_char(certo.now(), $2) as year from certo.companies where id = $1',
    [id, 'YYYY'],
  );
  const { at_state, year } = rows[0]!;
  if (at_state === 'NONE' || at_state === 'WRONG') {
    await setAtCredentials(owner, series.master, id, { username: `${nif}/1`, password: 'demo' });
  }
  await world.simulatorUp();
  const registered = await Promise.all(
    (Object.keys(documentTypes) as DocumentType[]).map(async (documentType) => {
      return [documentType, await ensureSeries(series, id, documentType, `DEMO${year}`)] as const;
    }),
  );
  const result = await syncSeries(series, id);
  if (result !== 'ok') {
    throw new CommandError(
      exit.environment,
      `The demo company ${nif} could not be compared with the simulator: ${result}.`,
    );
  }
  return Object.fromEntries(registered) as Record<DocumentType, string>;
}

/** As many identifiers are tried, "DEMO2026", "DEMO2026-2" and so on. */
const most_series = 100;

/** The first of its identifiers that can be used: a restore closes series for good, and some the AT has from before it. */
async function ensureSeries(
  world: SeriesWorld,
  companyId: string,
  documentType: DocumentType,
  code: string,
): Promise<string> {
  for (let which = 1; ; which += 1) {
    try {
      const wanted = { documentType, code: which === 1 ? code : `${code}-${which}` };
      return (await registerSeries(world, companyId, wanted)).id;
    } catch (error) {
      const taken = error instanceof Refusal && error.code === 'SERIES_CODE_TAKEN';
      if (!taken || which === most_series) throw error;
    }
  }
}

async function ensureKey(world: DemoWorld, id: string, known: string | undefined): Promise<string> {
  if (known !== undefined) {
    const answer = await world.http.inject({ url: '/company', headers: { 'x-api-key': known } });
    if (answer.statusCode === 200 && (answer.json() as { id: string }).id === id) return known;
  }
  const { db, newId } = world.series;
  return db.transact(entryOfCompany(id, 'operator'), (tx) =>
    createApiKey(tx, { id: newId(), name: 'demo', random: randomBytes(32) }),
  );
}

/** Creates a record; the idempotency key makes a repeated call answer with the one made before. */
function caller(http: FastifyInstance, apiKey: string) {
  return async (url: string, idempotencyKey: string, body: unknown): Promise<string> => {
    const answer = await http.inject({
      method: 'POST',
      url,
      headers: { 'x-api-key': apiKey, 'idempotency-key': idempotencyKey, 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
    if (answer.statusCode !== 201)
      throw new Error(`the demo's POST ${url} answered ${answer.statusCode}: ${answer.body}`);
    return (answer.json() as { id: string }).id;
  };
}
