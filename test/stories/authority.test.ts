/** The tax authority behind it all: reports that arrive once, outages that only delay, credentials, readiness. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClockDoor } from '../../src/doors/clock/clock.ts';
import { reportGroup } from '../../src/doors/clock/reports.ts';
import { refusedReports, tellAgain } from '../../src/operations/reports/tell-again.ts';
import { registerSeries, type SeriesWorld, syncSeries } from '../../src/operations/series/registration.ts';
import { eventually } from '../eventually.ts';
import type { CompanyJson, InvoiceJson } from '../replies.ts';
import { baseUrl, nifFrom, type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
let clock: ClockDoor;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'], clock: new Date('2026-03-02T10:00:00Z') });
  ({ A, B } = service.companies);
  clock = service.startReports();
});
afterAll(() => service.stop());

interface LedgerDocument {
  readonly number: string;
  readonly gross: string;
  readonly atcud: string;
  readonly status: string;
  readonly history: readonly { readonly status: string }[];
}

const ledger = async (company: TestCompany) =>
  service.control<{ documents: LedgerDocument[]; series: { state: string; documents: number; gaps: unknown[] }[] }>(
    'GET',
    `/__ledger?nif=${company.taxpayerNumber}`,
  );
const told = () =>
  service.control<{ operation: string; username: string; subject: string }[]>('GET', '/__log?limit=1000');
const fault = (rule: Record<string, unknown>) => service.control('PUT', '/__fault', rule);
const noFault = () => service.control('DELETE', '/__fault');
const read = async (company: TestCompany, { id }: { id: string }) =>
  (await company.get<InvoiceJson>(`/invoices/${id}`)).json;
const company = async (one: TestCompany) => (await one.get<CompanyJson>('/company')).json;
const reasons = async (one: TestCompany) => (await company(one)).readiness.reasons.map(({ code }) => code);
const pass = (minutes: number) => service.setClock(new Date(service.now().getTime() + minutes * 60_000));

const accepted = (one: TestCompany, documents: readonly InvoiceJson[]) =>
  eventually(async () => {
    for (const document of documents) expect((await read(one, document)).syncWithAt.status).toBe('ACCEPTED');
  });

async function issueMany(one: TestCompany, count: number, over: Record<string, unknown> = {}): Promise<InvoiceJson[]> {
  const drafts = await Promise.all(Array.from({ length: count }, () => one.draft(over)));
  const issued: InvoiceJson[] = [];
  for (const draft of drafts) issued.push(await one.issue(draft));
  return issued;
}

/** Every document of the company stands in the ledger, once, as it was issued, and cancelled where it was cancelled. */
async function standsOnce(one: TestCompany): Promise<void> {
  const { documents, series } = await ledger(one);
  const { rows } = await service.owner.query(
    `select number, atcud, content -> 'books' ->> 'gross' as gross from certo.documents
     where company_id = $1 and number is not null and at_status = 'ACCEPTED' order by number`,
    [one.id],
  );
  const canceled = await service.owner.query(`select number from certo.documents where status = 'CANCELED'`);
  const isCanceled = (number: string) => canceled.rows.some((row) => row.number === number);
  const listed = documents.map(({ number, atcud, gross }) => ({ number, atcud, gross }));
  expect(listed.toSorted((a, b) => (a.number < b.number ? -1 : 1))).toEqual(rows);
  for (const { number, history } of documents) {
    const statuses = history.map(({ status }) => status);
    expect([number, statuses]).toEqual([number, isCanceled(number) ? ['N', 'A'] : ['N']]);
  }
  for (const { gaps } of series) expect(gaps).toEqual([]);
}

test('issued is PENDING; a moment later it is ACCEPTED, once, in the order of issue', async () => {
  const issued = await issueMany(A, 25);
  expect(issued.map(({ syncWithAt }) => syncWithAt)).toEqual(issued.map(() => ({ status: 'PENDING' })));
  await accepted(A, issued);
  const last = await read(A, issued.at(-1)!);
  expect(last.syncWithAt).toEqual({ status: 'ACCEPTED', atCode: '0', atMessage: expect.any(String) });
  // What the AT says is no new revision of the document.
  expect(last.updatedAt).toBe(issued.at(-1)!.updatedAt);
  const reported = (await told()).filter(({ operation }) => operation === 'reportInvoice');
  expect(reported.map(({ subject }) => subject)).toEqual(issued.map(({ number }) => number));
  await standsOnce(A);
});

test('every type of sales document is told', async () => {
  const [invoice] = await issueMany(A, 1);
  const others = [
    await A.issue(await A.draft({ type: 'SIMPLIFIED_INVOICE' })),
    await A.issue(await A.draft({ type: 'INVOICE_RECEIPT' })),
    await A.issue(await A.draft({ type: 'DEBIT_NOTE', parentInvoiceId: invoice!.id, reason: 'Preço' })),
    await A.issue(await A.draft({ currency: 'USD', exchangeRate: 0.9 })),
  ];
  await accepted(A, others);
  await standsOnce(A);
});

test('while the AT is down issuing goes on; when it is back everything arrives, once', async () => {
  await fault({ kind: 'refused' });
  const issued = await issueMany(A, 5);
  await eventually(async () => {
    const { syncWithAt } = await read(A, issued[0]!);
    expect(syncWithAt).toEqual({ status: 'PENDING', atMessage: expect.any(String) });
  });
  expect(await reasons(A)).toEqual([]);
  await noFault();
  await pass(10);
  await accepted(A, issued);
  await standsOnce(A);
});

test.each(['reset-after', 'http-503-after', 'html'])(
  'an answer that is lost or no answer at all (%s): sent again, registered once',
  async (kind) => {
    await fault({ kind, count: 1, operation: 'reportInvoice' });
    const issued = await issueMany(A, 2);
    await eventually(async () => {
      const rules = await service.control<{ kind: string; played: number }[]>('GET', '/__fault');
      expect(rules.find((rule) => rule.kind === kind)?.played).toBe(1);
    });
    await noFault();
    await eventually(async () => {
      await pass(10);
      for (const document of issued) expect((await read(A, document)).syncWithAt.status).toBe('ACCEPTED');
    });
    await standsOnce(A);
  },
);

test('a wrong password stops the reports of that company, at once and only there; the right one resumes them', async () => {
  await service.setCredentials(A, 'agora-wrong');
  const issued = await A.post<InvoiceJson>('/customers', { name: 'X', country: 'PT' });
  expect(issued.status).toBe(201);
  await eventually(async () => expect(await reasons(A)).toEqual(['AT_CREDENTIALS_REQUIRED', 'AT_SYNC_REQUIRED']));
  const draft = await A.draft();
  const refused = await A.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt });
  expect([refused.status, refused.json.code, refused.json.reasons]).toEqual([
    400,
    'NOT_READY',
    ['AT_CREDENTIALS_REQUIRED', 'AT_SYNC_REQUIRED'],
  ]);
  const ofA = async () => (await told()).filter(({ username }) => username.startsWith(A.taxpayerNumber)).length;
  const calls = await ofA();
  await accepted(B, await issueMany(B, 2));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await ofA()).toBe(calls);

  await service.setCredentials(A);
  await eventually(async () => expect((await company(A)).readiness).toEqual({ ready: true, reasons: [] }));
  await accepted(A, [await A.issue((await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json)]);
});

test('documents that wait when the password turns out wrong are told once it is right', async () => {
  await fault({ kind: 'refused' });
  const issued = await issueMany(A, 3);
  await service.control('PUT', '/__accounts', { [`${A.taxpayerNumber}/1`]: 'another' });
  await noFault();
  await eventually(async () => {
    await pass(10);
    expect(await reasons(A)).toContain('AT_CREDENTIALS_REQUIRED');
  });
  for (const document of issued) expect((await read(A, document)).syncWithAt.status).toBe('PENDING');
  await service.control('PUT', '/__accounts', { [`${A.taxpayerNumber}/1`]: null });
  await service.setCredentials(A);
  await accepted(A, issued);
});

describe('cancellation', () => {
  const cancel = (document: InvoiceJson) =>
    A.post<InvoiceJson>(`/invoices/${document.id}/cancel`, { reason: 'Engano' });

  test('is told after the document, once', async () => {
    const [issued] = await issueMany(A, 1);
    await accepted(A, [issued!]);
    const canceled = (await cancel(issued!)).json;
    expect([canceled.status, canceled.syncWithAt.status]).toEqual(['CANCELED', 'PENDING']);
    await accepted(A, [issued!]);
    await standsOnce(A);
  });

  test('whose answer is lost is sent again and believed', async () => {
    const [issued] = await issueMany(A, 1);
    await accepted(A, [issued!]);
    await fault({ kind: 'reset-after', count: 1, operation: 'changeInvoiceStatus' });
    await cancel(issued!);
    await eventually(async () => {
      await pass(10);
      expect((await read(A, issued!)).syncWithAt.status).toBe('ACCEPTED');
    });
    await noFault();
    await standsOnce(A);
  });

  test('of what the AT never heard of: first it was issued, then cancelled', async () => {
    await fault({ kind: 'refused' });
    const [issued] = await issueMany(A, 1);
    await cancel(issued!);
    await noFault();
    await eventually(async () => {
      await pass(10);
      expect((await read(A, issued!)).syncWithAt.status).toBe('ACCEPTED');
    });
    await standsOnce(A);
  });
});

test('several that look for work at the same time share it: each document is told once', async () => {
  await clock.stop();
  await issueMany(B, 40);
  const before = (await told()).length;
  const world = { ...service.world, log: service.log, random: () => 0.5, busy: () => false };
  for (let round = 0; round < 2; round++)
    await Promise.all([1, 2, 3, 4].map(() => reportGroup(world, B.id, service.failures, service.unreached)));
  const subjects = (await told()).slice(before).map(({ subject }) => subject);
  expect(subjects).toHaveLength(40);
  expect(new Set(subjects).size).toBe(40);
  clock = service.startReports();
  await standsOnce(B);
});

test('two processes report side by side: each document is told once', async () => {
  const other = await service.another();
  const otherClock = other.app.startClock();
  const before = (await told()).length;
  await accepted(B, await issueMany(B, 45));
  const reports = (await told()).slice(before).filter(({ operation }) => operation === 'reportInvoice');
  expect(reports).toHaveLength(45);
  expect(new Set(reports.map(({ subject }) => subject)).size).toBe(45);
  await standsOnce(B);
  await otherClock.stop();
  await other.stop();
});

test('a document that the AT cannot digest holds up none of the others', async () => {
  await fault({ kind: 'refused' });
  const [first, ...others] = await issueMany(A, 5);
  await eventually(async () => expect((await read(A, first!)).syncWithAt.atMessage).toMatch(/refused the connection/));
  await noFault();
  await fault({ kind: 'http-500', subject: first!.number });
  // All of them are due at the same time, and the first was issued first.
  await eventually(async () => {
    await pass(10);
    for (const document of others) expect((await read(A, document)).syncWithAt.status).toBe('ACCEPTED');
  });
  expect((await read(A, first!)).syncWithAt.status).toBe('PENDING');
  await noFault();
  await eventually(async () => {
    await pass(10);
    expect((await read(A, first!)).syncWithAt.status).toBe('ACCEPTED');
  });
  await standsOnce(A);
});

test('what the AT refuses is REJECTED with its words; what follows is told all the same', async () => {
  await fault({ kind: 'document-refused', count: 1, operation: 'reportInvoice' });
  const [first, second] = await issueMany(A, 2);
  await accepted(A, [second!]);
  expect((await read(A, first!)).syncWithAt).toEqual({
    status: 'REJECTED',
    atCode: expect.any(String),
    atMessage: expect.stringMatching(/\S/),
  });
  await noFault();
});

test('what was refused is told again when the operator says so, and stands there once', async () => {
  const canceled = await refusedCancellation();
  const refused = await refusedReports(service.db, A.id);
  expect(refused.map(({ number }) => number)).toContain(canceled.number);
  expect(refused.every(({ code, message }) => code !== '' && message !== '')).toBe(true);
  expect(refused.length).toBeGreaterThan(1);
  const [first, ...others] = refused;
  expect(await tellAgain(service.world, A.id, [first!])).toBe(1);
  await eventually(async () => expect(await refusedReports(service.db, A.id)).toEqual(others));
  // It is refused no more: what was listed before is passed by.
  expect(await tellAgain(service.world, A.id, refused)).toBe(others.length);
  expect(await tellAgain(service.world, B.id, refused)).toBe(0);
  await eventually(async () => {
    const { rows } = await service.owner.query(
      `select number from certo.documents where company_id = $1 and at_status not in ('ACCEPTED', 'NOT_APPLICABLE') and number is not null`,
      [A.id],
    );
    expect(rows).toEqual([]);
  });
  expect((await read(A, canceled)).syncWithAt).toMatchObject({ status: 'ACCEPTED', atCode: '0' });
  await standsOnce(A);
  expect(await service.findings()).toEqual([]);
});

async function refusedCancellation(): Promise<InvoiceJson> {
  const [issued] = await issueMany(A, 1);
  await accepted(A, [issued!]);
  await fault({ kind: 'document-refused', count: 1, operation: 'changeInvoiceStatus' });
  await A.post(`/invoices/${issued!.id}/cancel`, { reason: 'Engano' });
  await eventually(async () => expect((await read(A, issued!)).syncWithAt.status).toBe('REJECTED'));
  await noFault();
  return issued!;
}

describe('readiness', () => {
  let young: TestCompany;
  beforeAll(async () => {
    young = await service.newCompany({ name: 'Nova, Lda', taxpayerNumber: nifFrom('51111111') });
  });
  const tryIssue = async (type = 'INVOICE') => {
    const draft = await young.draft({ type });
    const answer = await young.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt });
    return [answer.status, answer.json.code, answer.json.reasons];
  };

  test('a new company may draft; what keeps it from issuing is told in order, each with its page', async () => {
    expect(await company(young)).toEqual({
      id: young.id,
      name: 'Nova, Lda',
      taxpayerNumber: young.taxpayerNumber,
      cae: '62010',
      readiness: {
        ready: false,
        reasons: [
          { code: 'AT_CREDENTIALS_REQUIRED', actionUrl: `${baseUrl}/docs/readiness#AT_CREDENTIALS_REQUIRED` },
          { code: 'AT_SYNC_REQUIRED', actionUrl: `${baseUrl}/docs/readiness#AT_SYNC_REQUIRED` },
          { code: 'SERIES_REQUIRED', actionUrl: `${baseUrl}/docs/readiness#SERIES_REQUIRED` },
        ],
        actionUrl: `${baseUrl}/docs/readiness#AT_CREDENTIALS_REQUIRED`,
      },
    });
    expect(await tryIssue()).toEqual([
      400,
      'NOT_READY',
      ['AT_CREDENTIALS_REQUIRED', 'AT_SYNC_REQUIRED', 'SERIES_REQUIRED'],
    ]);
    await expect(
      registerSeries(service.world, young.id, { documentType: 'INVOICE', code: 'N1' }),
    ).rejects.toMatchObject({
      code: 'AT_CREDENTIALS_MISSING',
    });
  });

  test('what could not be told to the AT for want of credentials is free for another kind, or in other letters', async () => {
    const poor = await service.newCompany({ name: 'Sem senha, Lda', taxpayerNumber: nifFrom('51111112') });
    const register = (code: string, kind: 'N' | 'F' = 'N') =>
      registerSeries(service.world, poor.id, { documentType: 'INVOICE', code, kind });
    for (const code of ['P1', 'P2']) {
      await expect(register(code)).rejects.toMatchObject({ code: 'AT_CREDENTIALS_MISSING' });
    }
    const { rowCount } = await service.owner.query('select from certo.series where company_id = $1', [poor.id]);
    expect(rowCount).toBe(0);
    await service.setCredentials(poor);
    expect(await register('p1')).toMatchObject({ code: 'p1', existed: false });
    expect(await register('P2', 'F')).toMatchObject({ kind: 'F', existed: false });
    // What is registered is told without any.
    await service.owner.query(`update certo.companies set at_state = 'WRONG' where id = $1`, [poor.id]);
    expect(await register('p1')).toMatchObject({ code: 'p1', existed: true });
    await expect(register('P1')).rejects.toMatchObject({ code: 'SERIES_CODE_TAKEN' });
    await expect(register('P3')).rejects.toMatchObject({ code: 'AT_CREDENTIALS_MISSING' });
  });

  test('credentials, then the comparison of series by itself, then a series', async () => {
    await service.setCredentials(young);
    await eventually(async () => expect(await reasons(young)).toEqual(['SERIES_REQUIRED']));
    expect(await tryIssue()).toEqual([400, 'NOT_READY', ['SERIES_REQUIRED']]);
    const first = await registerSeries(service.world, young.id, { documentType: 'INVOICE', code: 'N1' });
    expect(first).toMatchObject({ existed: false, code: 'N1', validationCode: expect.stringMatching(/^[A-Z0-9]{8}$/) });
    expect(await reasons(young)).toEqual([]);
    expect((await tryIssue())[0]).toBe(200);
    // The other types need a series of their own.
    expect(await tryIssue('SIMPLIFIED_INVOICE')).toEqual([400, 'NOT_READY', ['SERIES_REQUIRED']]);
  });

  test('registering a series is safe to repeat, also after its answer was lost', async () => {
    const again = await registerSeries(service.world, young.id, { documentType: 'INVOICE', code: 'N1' });
    expect(again.existed).toBe(true);
    await fault({ kind: 'reset-after', count: 1, operation: 'registerSeries' });
    const wanted = { documentType: 'INVOICE_RECEIPT', code: 'N1' } as const;
    await expect(registerSeries(service.world, young.id, wanted)).rejects.toMatchObject({ code: 'AT_UNREACHABLE' });
    const recovered = await registerSeries(service.world, young.id, wanted);
    const known = (await ledger(young)).series as unknown as { validationCode: string }[];
    expect(known.map(({ validationCode }) => validationCode)).toContain(recovered.validationCode);
    expect((await tryIssue('INVOICE_RECEIPT'))[0]).toBe(200);
    await expect(
      registerSeries(service.world, young.id, { documentType: 'INVOICE', code: 'n1' }),
    ).rejects.toMatchObject({
      code: 'SERIES_CODE_TAKEN',
    });
  });

  test('a series that the AT holds as finalised is no series to issue in', async () => {
    const { validationCode } = await registerSeries(service.world, young.id, {
      documentType: 'SIMPLIFIED_INVOICE',
      code: 'N1',
    });
    expect((await tryIssue('SIMPLIFIED_INVOICE'))[0]).toBe(200);
    expect(await syncSeries(service.world, young.id)).toBe('ok');
    await eventually(async () => {
      const { documents } = await ledger(young);
      expect(documents.some(({ number }) => number === 'FS N1/1')).toBe(true);
    });
    const done = await service.gateway.finalizeSeries(
      { username: `${young.taxpayerNumber}/1`, password: 'certa' },
      { series: 'N1', documentCode: 'FS', validationCode, lastNumber: 1 },
    );
    expect(done.kind).toBe('done');
    expect(await syncSeries(service.world, young.id)).toBe('differ');
    expect(await reasons(young)).toEqual(['AT_SYNC_REQUIRED']);
    await service.owner.query(`update certo.series set status = 'FINALIZED' where validation_code = $1`, [
      validationCode,
    ]);
    expect(await syncSeries(service.world, young.id)).toBe('ok');
  });

  test('the AT is asked for active series alone: the ended ones would be too long an answer some day', async () => {
    const answers: string[][] = [];
    const listening: SeriesWorld = {
      ...service.world,
      at: {
        ...service.gateway,
        async listSeries(...call) {
          const answer = await service.gateway.listSeries(...call);
          answers.push(answer.kind === 'done' ? answer.series.map(({ state }) => state) : []);
          return answer;
        },
      },
    };
    const { series } = await ledger(young);
    expect(series.map(({ state }) => state)).toContain('F');
    expect(await syncSeries(listening, young.id)).toBe('ok');
    expect(answers).toEqual([series.map(({ state }) => state).filter((state) => state === 'A')]);
  });

  test('an outage does not make a company unready; a series the AT does not know does', async () => {
    await fault({ kind: 'refused' });
    expect(await syncSeries(service.world, young.id)).toBe('unreachable');
    expect(await reasons(young)).toEqual([]);
    await noFault();
    await service.owner.query(
      `insert into certo.series (company_id, id, document_type, at_type, code, status, validation_code)
       values ($1, gen_random_uuid(), 'INVOICE', 'FT', 'STRANGE', 'ACTIVE', 'ZZZZZZZZ')`,
      [young.id],
    );
    expect(await syncSeries(service.world, young.id)).toBe('differ');
    expect(await reasons(young)).toEqual(['AT_SYNC_REQUIRED']);
    expect(await tryIssue()).toEqual([400, 'NOT_READY', ['AT_SYNC_REQUIRED']]);
  });
});
