/**
 * The whole service for tests, of real parts: a database of its own, the app listening on a loopback port, the SOAP
 * gateway against a simulated tax authority behind real TLS, a fresh signing key. Time is handed in: the database's
 * clock, the gateway's and the simulator's move together. Three companies: A and B on the mainland, Z on the Azores.
 */

import { createPublicKey, randomBytes } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { uuidv7 } from 'uuidv7';
import { type App, type AppParts, buildApp } from '../src/app.ts';
import { type Simulator, startSimulator } from '../src/at/simulator/simulator.ts';
import { openSoapGateway, type SoapGateway } from '../src/at/soap-gateway.ts';
import { openDb } from '../src/db/open.ts';
import type { Db } from '../src/db/transact.ts';
import type { ClockDoor } from '../src/doors/clock/clock.ts';
import { checkBooks } from '../src/doors/clock/integrity.ts';
import { Unreached } from '../src/doors/clock/unreached.ts';
import { FailureLog } from '../src/doors/failure-log.ts';
import type { Region } from '../src/fiscal/document.ts';
import { createApiKey, revokeApiKey } from '../src/identity/api-keys.ts';
import { entryOfCompany } from '../src/identity/principal.ts';
import { booksSeal, masterKey } from '../src/keys/sealing.ts';
import { generateSigningKey, localSigner, type Signer } from '../src/keys/signer.ts';
import { currentSigningKey, listSigningKeys } from '../src/keys/signing-keys.ts';
import { createCompany, setAtCredentials } from '../src/operations/company/create-company.ts';
import { registerSeries, type SeriesWorld, syncSeries } from '../src/operations/series/registration.ts';
import { type Finding, verifyCompany } from '../src/operations/verify/verify-series.ts';
import { openPrint } from '../src/print/print.ts';
import { type Answer, openWire, type Refused, type Sent, type Wire } from './client.ts';
import { conforms, operationOf } from './conforms.ts';
import { setClock, type TestDatabase, testDatabase } from './database.ts';
import type { CustomerJson, InvoiceJson, ItemJson, ProposalJson, TransportJson } from './replies.ts';

/** The address in links and in the description; nothing listens there. `open` translates. */
export const baseUrl = 'http://certo.test';
/** Whose program it is and of which version, in SAF-T files and in the description. */
export const program = {
  producerTaxId: '508025095',
  productId: 'Certo/Testes',
  version: '1.2.3',
  certificateNumber: 9999,
};
const masterSecret = Buffer.alloc(32, 7);
/** No password or key may ever be logged: stop() looks for these. */
const atPassword = 'senha-secreta-da-at';

export const seriesTypes = [
  'INVOICE',
  'SIMPLIFIED_INVOICE',
  'INVOICE_RECEIPT',
  'DEBIT_NOTE',
  'CREDIT_NOTE',
  'RECEIPT',
  'PROFORMA',
  'GUIA_DE_ATIVOS_PROPRIOS',
  'GUIA_DE_CONSIGNACAO',
  'GUIA_DE_DEVOLUCAO',
  'GUIA_DE_REMESSA',
  'GUIA_DE_TRANSPORTE',
] as const;
type SeriesType = (typeof seriesTypes)[number];

export interface ServiceOptions {
  /** Default: all three. */
  readonly companies?: readonly ('A' | 'B' | 'Z')[];
  /** Where every clock stands at the start; default: real time. */
  readonly clock?: Date;
  /** Requests per minute; default so high that no test meets it. 0: off. */
  readonly apiKeyRate?: number;
  readonly ipRate?: number;
  readonly trustedProxies?: readonly string[];
  /** Milliseconds for the limits per minute; default: the real ones. */
  readonly milliseconds?: () => number;
  /** For a request to arrive, and for a caller that takes nothing; default: 60. */
  readonly httpDeadline_seconds?: number;
}

export interface CallOptions {
  /** A JSON value to send, or the exact bytes. */
  readonly body?: unknown;
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** null: no credential. Absent: the company's key. */
  readonly key?: string | null;
  /** A 5xx is what the test is about. */
  readonly mayFail?: boolean;
}

export interface TestCompany {
  readonly id: string;
  readonly name: string;
  readonly taxpayerNumber: string;
  readonly region: Region;
  readonly key: string;
  readonly keyId: string;
  readonly series: Readonly<Record<SeriesType, { readonly id: string; readonly validationCode: string }>>;
  call<T = Refused>(method: string, path: string, options?: CallOptions): Promise<Answer<T>>;
  get<T = Refused>(path: string, options?: CallOptions): Promise<Answer<T>>;
  post<T = Refused>(path: string, body?: unknown, options?: CallOptions): Promise<Answer<T>>;
  patch<T = Refused>(path: string, body: unknown, options?: CallOptions): Promise<Answer<T>>;
  delete<T = Refused>(path: string, options?: CallOptions): Promise<Answer<T>>;
  /** These make a record and throw when that is refused. */
  customer(over?: Readonly<Record<string, unknown>>): Promise<CustomerJson>;
  item(over?: Readonly<Record<string, unknown>>): Promise<ItemJson>;
  /** A draft of one item, made for it when `items` is not given. */
  draft(over?: Readonly<Record<string, unknown>>): Promise<InvoiceJson>;
  issue(draft: { readonly id: string; readonly updatedAt: string }): Promise<InvoiceJson>;
  /** A draft of a transport document that starts in an hour. */
  transport(over?: Readonly<Record<string, unknown>>): Promise<TransportJson>;
  issueTransport(draft: { readonly id: string }): Promise<TransportJson>;
  proposal(over?: Readonly<Record<string, unknown>>): Promise<ProposalJson>;
  /** Another key of the company; `revoke` ends it. */
  anotherKey(lineage?: string): Promise<{ readonly key: string; readonly id: string; revoke(): Promise<void> }>;
}

export interface Service {
  readonly app: App;
  readonly db: Db;
  readonly owner: Pool;
  readonly connection: TestDatabase['connection'];
  /** What the file of the master key holds, for commands on the same database. */
  readonly masterKeyHex: string;
  readonly companies: Readonly<Record<'A' | 'B' | 'Z', TestCompany>>;
  readonly publicPem: string;
  readonly simulator: Simulator;
  readonly gateway: SoapGateway;
  readonly world: SeriesWorld;
  readonly log: AppParts['log'];
  /** Of background work that a test does by itself. */
  readonly failures: FailureLog;
  /** And of what it could not reach. */
  readonly unreached: Unreached;
  /** Where files for callers are made. */
  readonly spoolDirectory: string;
  /** Lines of the log so far, as JSON text. */
  readonly logs: readonly string[];
  /** Any request, credential or not. */
  call<T = Refused>(method: string, path: string, options?: CallOptions): Promise<Answer<T>>;
  /** Follows a link of a reply. */
  open(url: string): Promise<Answer<unknown>>;
  /** Moves every clock to the instant; they go on from there. null: real time. */
  setClock(at: Date | null): Promise<void>;
  now(): Date;
  /** With every clock a year back: documents may be dated back, but not before their series was registered. */
  aYearAgo<T>(work: () => Promise<T>): Promise<T>;
  /** Starts the door that reports to the AT. */
  startReports(): ClockDoor;
  /** A second process on the same database and signing key, as far as one process can be two. */
  another(
    changed?: (db: Db) => Db,
    slowed?: (signer: Signer) => Signer,
    /** Where it says that it is. */
    address?: string,
  ): Promise<{ app: App; call: Service['call']; stop(): Promise<void> }>;
  control<T = unknown>(method: string, path: string, body?: unknown): Promise<T>;
  setCredentials(company: TestCompany, password?: string): Promise<void>;
  /** One more company as it is made: without credentials at the AT and without series. */
  newCompany(facts: {
    readonly name: string;
    readonly taxpayerNumber: string;
    readonly region?: Region;
  }): Promise<TestCompany>;
  /** Checks the books as the clock does at start and every night; how many new things it found. */
  checkBooks(): Promise<number>;
  /** What a check of the books finds now: of a company, or of all. */
  findings(companyId?: string): Promise<Finding[]>;
  /** Throws when the books do not prove themselves, unless the test has tampered with them. */
  stop(how?: 'tampered'): Promise<void>;
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const base = await testDatabase();
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-service-'));
  let shift = 0;
  const now = (): Date => new Date(Date.now() + shift);
  const moveClock = async (at: Date | null): Promise<void> => {
    shift = at === null ? 0 : at.getTime() - Date.now();
    await setClock(base.ownerPool, at);
  };
  if (options.clock !== undefined) await moveClock(options.clock);

  const simulator = await startSimulator({
    directory: join(folder, 'simulator'),
    port: 0,
    controlPort: 0,
    now,
    random: () => 0.5,
    seed: 'test',
  });
  const gateway = openSoapGateway({
    mode: 'simulator',
    simulatorUrl: simulator.url,
    tls: { ...simulator.clientCertificate, caPem: simulator.caPem },
    atPublicKey: createPublicKey(simulator.atPublicKeyPem),
    now,
    randomBytes,
    // The simulator is in this process too, and has a hundred calls at once when companies are made.
    deadlineMilliseconds: 30_000,
  });
  const pair = generateSigningKey();
  const master = masterKey(masterSecret);
  const logs: string[] = [];
  const parts: AppParts = {
    db: base.db,
    longReads: base.db,
    at: gateway,
    atMode: 'simulator',
    signer: localSigner(pair.privatePem, 1),
    async newestSigner() {
      const newest = await currentSigningKey(base.ownerPool, master);
      return localSigner(newest?.privatePem ?? pair.privatePem, newest?.version ?? 1);
    },
    master,
    print: openPrint({ workers: 0 }),
    log: pino({ level: 'info' }, { write: (line: string) => void logs.push(line) }),
    newId: uuidv7,
    random: () => 0.5,
    milliseconds: options.milliseconds ?? Date.now,
    companyIds: async () => {
      const { rows } = await base.ownerPool.query<{ id: string }>('select id from certo.companies order by id');
      return rows.map(({ id }) => id);
    },
    async publicKeys() {
      const later = (await listSigningKeys(base.ownerPool)).filter(({ version }) => version > 1);
      return [{ version: 1, publicPem: pair.publicPem }, ...later];
    },
    config: {
      baseUrl,
      certificateNumber: 9999,
      program,
      spoolDirectory: join(folder, 'spool'),
      apiKeyRate: options.apiKeyRate ?? 1_000_000,
      ipRate: options.ipRate ?? 1_000_000,
      trustedProxies: options.trustedProxies ?? [],
      httpDeadline_seconds: options.httpDeadline_seconds ?? 60,
    },
  };
  const first = await openDoor(parts, logs);
  const world: SeriesWorld = { ...parts, certificateNumber: 9999 };
  const aYearAgo: Service['aYearAgo'] = async (work) => {
    const year_ms = 366 * 86_400_000;
    const stood = shift;
    await moveClock(new Date(now().getTime() - year_ms));
    const result = await work();
    await moveClock(stood === 0 ? null : new Date(now().getTime() + year_ms));
    return result;
  };
  const companies = await makeCompanies(base, world, first.call, now, aYearAgo, options.companies ?? ['A', 'B', 'Z']);
  let reports: ClockDoor | undefined;
  const service: Service = {
    app: first.app,
    db: base.db,
    owner: base.ownerPool,
    connection: base.connection,
    masterKeyHex: masterSecret.toString('hex'),
    companies,
    publicPem: pair.publicPem,
    simulator,
    gateway,
    world,
    log: parts.log,
    failures: new FailureLog(parts.log, 60_000),
    unreached: new Unreached(() => now().getTime()),
    spoolDirectory: parts.config.spoolDirectory,
    logs,
    call: first.call,
    open: (url) => first.wire.send({ method: 'GET', path: url.replace(baseUrl, '') }),
    setClock: moveClock,
    now,
    aYearAgo,
    startReports() {
      reports = first.app.startClock();
      return reports;
    },
    async another(changed = (db) => db, slowed = (signer) => signer, address = baseUrl) {
      const db = await openDb({ connection: base.connection, max: 8 });
      const config = { ...parts.config, baseUrl: address };
      const door = await openDoor({ ...parts, config, db: changed(db), signer: slowed(parts.signer) }, logs);
      return {
        app: door.app,
        call: door.call,
        async stop() {
          await door.close();
          await db.close();
        },
      };
    },
    async control<T>(method: string, path: string, body?: unknown) {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const reply = await fetch(simulator.controlUrl + path, { method, ...sent });
      if (!reply.ok) throw new Error(`the simulator answered ${reply.status}: ${await reply.text()}`);
      return (await reply.json()) as T;
    },
    setCredentials: (company, password = atPassword) =>
      setAtCredentials(base.ownerPool, parts.master, company.id, {
        username: `${company.taxpayerNumber}/1`,
        password,
      }),
    async newCompany({ name, taxpayerNumber, region = 'PT' }) {
      const id = await createCompany(base.ownerPool, { name, taxpayerNumber, region, cae: ['62010'] }, uuidv7);
      const none = {} as TestCompany['series'];
      return openCompany(base.db, first.call, now, { id, name, taxpayerNumber, region, series: none });
    },
    checkBooks: () => checkBooks(parts),
    async findings(companyId) {
      const { rows } = await base.ownerPool.query<{ id: string }>(
        'select id from certo.companies where $1::uuid is null or id = $1 order by id',
        [companyId ?? null],
      );
      const found: Finding[] = [];
      const verifying = { db: base.db, publicKeys: parts.publicKeys, seal: booksSeal(parts.master) };
      const watch = { found: (finding: Finding) => void found.push(finding), done: () => undefined, piece: 7 };
      for (const { id } of rows) await verifyCompany(verifying, id, watch);
      return found;
    },
    async stop(how) {
      await reports?.stop();
      const found = how === 'tampered' ? [] : await service.findings();
      await first.close();
      await parts.print.close();
      gateway.close();
      await simulator.close();
      await base.drop();
      rmSync(folder, { recursive: true, force: true });
      const leaked = [atPassword, ...Object.values(companies).map(({ key }) => key)].filter((secret) =>
        logs.some((line) => line.includes(secret)),
      );
      if (leaked.length > 0) throw new Error('a secret was logged');
      if (found.length > 0) throw new Error(`the books do not prove themselves: ${JSON.stringify(found[0])}`);
    },
  };
  return service;
}

interface Door {
  readonly app: App;
  readonly wire: Wire;
  readonly call: Service['call'];
  close(): Promise<void>;
}

async function openDoor(parts: AppParts, logs: readonly string[]): Promise<Door> {
  const app = await buildApp(parts);
  await app.http.listen({ port: 0, host: '127.0.0.1' });
  const wire = openWire((app.http.server.address() as AddressInfo).port);
  const description = await wire.send<Description>({ method: 'GET', path: '/-json' });
  const call = async <T>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> => {
    const answer = await wire.send<T>(sentOf(method, path, options));
    if (answer.status >= 500 && options.mayFail !== true)
      throw new Error(`${method} ${path} answered ${answer.status} ${answer.text}\n${logs.at(-1)}`);
    const operation = operationOf(method, path);
    if (operation !== undefined)
      conforms(operation, answer as Answer, documentedAnswers(description.json, method, operation.path));
    return answer;
  };
  return {
    app,
    wire,
    call,
    async close() {
      wire.close();
      await app.http.close();
    },
  };
}

interface Description {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, { headers: object }>> }>>>
  >;
}

/** Header fields, in lower case, by status. */
function documentedAnswers(
  { paths }: Description,
  method: string,
  path: string,
): ReadonlyMap<number, ReadonlySet<string>> {
  const responses = paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]?.responses ?? {};
  return new Map(
    Object.entries(responses).map(([status, { headers }]) => [
      Number(status),
      new Set(Object.keys(headers).map((name) => name.toLowerCase())),
    ]),
  );
}

function sentOf(method: string, path: string, options: CallOptions): Sent {
  const { body, raw, headers = {}, key } = options;
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  return {
    method,
    path,
    body: text,
    headers: {
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined || key === null ? {} : { 'x-api-key': key }),
      ...headers,
    },
  };
}

const founders = {
  A: { name: 'Casa Alfa, Lda', taxpayerNumber: '508025095', region: 'PT', city: 'Lisboa', postalCode: '1000-001' },
  B: { name: 'Beta Serviços, SA', taxpayerNumber: '500000000', region: 'PT', city: 'Porto', postalCode: '4000-001' },
  Z: { name: 'Zimbro dos Açores, Lda', taxpayerNumber: '510000002', region: 'PT-AC', city: 'Ponta Delgada' },
} as const;

async function makeCompanies(
  base: TestDatabase,
  world: SeriesWorld,
  call: Service['call'],
  now: () => Date,
  aYearAgo: Service['aYearAgo'],
  wanted: readonly ('A' | 'B' | 'Z')[],
): Promise<Service['companies']> {
  const made: Partial<Record<'A' | 'B' | 'Z', TestCompany>> = {};
  for (const letter of wanted) {
    const founder = founders[letter];
    const id = await createCompany(
      base.ownerPool,
      { ...founder, cae: ['62010', '47410'], address: 'Rua do Teste, 1' },
      uuidv7,
    );
    await setAtCredentials(base.ownerPool, world.master, id, {
      username: `${founder.taxpayerNumber}/1`,
      password: atPassword,
    });
    const registered = await aYearAgo(() =>
      Promise.all(
        seriesTypes.map((documentType) => registerSeries(world, id, { documentType, code: `${letter}2026` })),
      ),
    );
    if ((await syncSeries(world, id)) !== 'ok') throw new Error('the series of a new company differ from the AT');
    const series = Object.fromEntries(
      registered.map((one) => [one.documentType, one]),
    ) as unknown as TestCompany['series'];
    made[letter] = await openCompany(base.db, call, now, { ...founder, id, series });
  }
  return made as Service['companies'];
}

async function openCompany(
  db: Db,
  callAny: Service['call'],
  now: () => Date,
  facts: Pick<TestCompany, 'id' | 'name' | 'taxpayerNumber' | 'region' | 'series'>,
): Promise<TestCompany> {
  const entry = entryOfCompany(facts.id, 'test');
  const mint = async (lineage?: string) => {
    const id = uuidv7();
    const random = randomBytes(32);
    const key = await db.transact(entry, (tx) =>
      createApiKey(tx, { id, name: 'test', random, ...(lineage === undefined ? {} : { lineage }) }),
    );
    return { key, id };
  };
  const own = await mint();
  const call = <T>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> =>
    callAny<T>(method, path, { key: own.key, ...options });
  const made = async <T>(answer: Promise<Answer<T>>, status: number): Promise<T> => {
    const { status: got, json, text } = await answer;
    if (got !== status) throw new Error(`expected ${status}, got ${got}: ${text}`);
    return json;
  };
  /** A debit note has the customer of the invoice that it corrects. */
  const customerOfParent = async ({ parentInvoiceId }: Readonly<Record<string, unknown>>) => {
    if (parentInvoiceId === undefined) return undefined;
    const { json } = await call<Partial<InvoiceJson>>('GET', `/invoices/${parentInvoiceId}`);
    return json.customer?.ref;
  };
  const company: TestCompany = {
    ...facts,
    key: own.key,
    keyId: own.id,
    call,
    get: (path, options) => call('GET', path, options),
    post: (path, body, options) => call('POST', path, { body, ...options }),
    patch: (path, body, options) => call('PATCH', path, { body, ...options }),
    delete: (path, options) => call('DELETE', path, options),
    customer: (over = {}) =>
      made(call<CustomerJson>('POST', '/customers', { body: { name: 'Maria Silva', country: 'PT', ...over } }), 201),
    item: (over = {}) =>
      made(
        call<ItemJson>('POST', '/items', {
          body: { name: 'Consultoria', type: 'SERVICE', unitPrice: 10, vatRate: 'NORMAL', ...over },
        }),
        201,
      ),
    async draft(over = {}) {
      const customerId = over['customerId'] ?? (await customerOfParent(over)) ?? (await company.customer()).id;
      const items = over['items'] ?? [{ id: (await company.item()).id, quantity: 1 }];
      const body = { type: 'INVOICE', cae: '62010', ...over, customerId, items };
      return made(call<InvoiceJson>('POST', '/invoices', { body }), 201);
    },
    issue: (draft) =>
      made(
        call<InvoiceJson>('POST', `/invoices/${draft.id}/issue`, { body: { expectedUpdatedAt: draft.updatedAt } }),
        200,
      ),
    async transport(over = {}) {
      const customerId = over['customerId'] ?? (await company.customer()).id;
      const items = over['items'] ?? [{ id: (await company.item({ name: 'Caixa', type: 'PRODUCT' })).id, quantity: 2 }];
      const movementDate = new Date(now().getTime() + 3_600_000).toISOString();
      const body = { movementType: 'GUIA_DE_TRANSPORTE', movementDate, ...journey, ...over, customerId, items };
      return made(call<TransportJson>('POST', '/transport-documents', { body }), 201);
    },
    issueTransport: ({ id }) => made(call<TransportJson>('POST', `/transport-documents/${id}/issue`), 200),
    async proposal(over = {}) {
      const customerId = over['customerId'] ?? (await company.customer()).id;
      const items = over['items'] ?? [{ id: (await company.item()).id, quantity: 2 }];
      const body = { cae: '62010', ...over, customerId, items };
      return made(call<ProposalJson>('POST', '/proposals', { body }), 201);
    },
    async anotherKey(lineage) {
      const minted = await mint(lineage);
      return {
        ...minted,
        async revoke() {
          await db.transact(entry, (tx) => revokeApiKey(tx, minted.id));
        },
      };
    },
  };
  return company;
}

const journey = {
  loading: { address: 'Rua do Armazém, 1', postalCode: '1000-001', city: 'Lisboa', country: 'PT' },
  unloading: { address: 'Rua da Loja, 2', postalCode: '4000-001', city: 'Porto', country: 'PT' },
};

/** A valid Portuguese NIF made of eight digits. */
export function nifFrom(eight: string): string {
  let weighted = 0;
  for (let place = 0; place < 8; place += 1) weighted += (9 - place) * Number(eight[place]);
  const rest = weighted % 11;
  return eight + String(rest < 2 ? 0 : 11 - rest);
}
