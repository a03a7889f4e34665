/** How a series ends: numbering stops first, and goes on only when it is known that the AT did not end it. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DocumentType } from '../../src/fiscal/document.ts';
import { endSeries, type SeriesEnd } from '../../src/operations/series/end-series.ts';
import { registerSeries, type SeriesWorld, syncSeries } from '../../src/operations/series/registration.ts';
import { eventually } from '../eventually.ts';
import { quickWrites } from '../quick-writes.ts';
import type { CompanyJson, InvoiceJson } from '../replies.ts';
import { nifFrom, type Service, startService, type TestCompany } from '../service.ts';
import { saftOf } from './saft-of.ts';

let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: new Date('2026-03-02T10:00:00Z') });
  ({ A } = service.companies);
  service.startReports();
  // The clock asks for a company's series once at first, and then not before tomorrow.
  await eventually(async () => {
    const due = await service.owner.query('select from certo.companies where at_sync_next_at <= certo.now()');
    expect(due.rowCount).toBe(0);
  });
});
afterAll(() => service.stop());
beforeEach(() => service.control('DELETE', '/__fault'));

const fault = (kind: string, operation?: string, count = 1) =>
  service.control('PUT', '/__fault', { kind, count, ...(operation === undefined ? {} : { operation }) });
/** What the AT was asked of series, since the last time. */
let heard = 0;
async function asked(): Promise<string[]> {
  const log = await service.control<{ operation: string }[]>('GET', '/__log?limit=1000');
  const all = log.map(({ operation }) => operation).filter((operation) => operation.endsWith('Series'));
  const since = all.slice(heard);
  heard = all.length;
  return since;
}

interface Made {
  readonly id: string;
  readonly code: string;
  readonly validationCode: string;
}

/** A series that is nobody's default, with documents that the AT has. */
async function made(code: string, documents: number, of = A): Promise<Made> {
  const series = await registerSeries(service.world, of.id, { documentType: 'INVOICE', code });
  const issued = [];
  for (let i = 0; i < documents; i += 1) issued.push(await of.issue(await of.draft({ seriesId: series.id })));
  await there(issued);
  await asked();
  return series;
}

const there = (issued: readonly InvoiceJson[], of = A) =>
  eventually(async () => {
    for (const { id } of issued)
      expect((await of.get<InvoiceJson>(`/invoices/${id}`)).json.syncWithAt.status).toBe('ACCEPTED');
  });

const impatient = async () => false;
const end = (seriesId: string, how: SeriesEnd = 'FINALIZED', world: SeriesWorld = service.world, wait = impatient) =>
  endSeries(world, A.id, { seriesId, end: how, wait });

async function stands(id: string): Promise<unknown[]> {
  const { rows } = await service.owner.query(
    'select status, is_default, last_number::int as last from certo.series where id = $1',
    [id],
  );
  return [rows[0].status, rows[0].is_default, rows[0].last];
}

/** Number or code. */
async function tried(draft: InvoiceJson, of = A): Promise<string | undefined> {
  const { json } = await of.post<InvoiceJson & { code?: string }>(`/invoices/${draft.id}/issue`, {
    expectedUpdatedAt: draft.updatedAt,
  });
  return json.number ?? json.code;
}

const unanswered = (code: string) => ({
  kind: 'stopped',
  code,
  because: { kind: 'unknown', problem: 'the AT closed the connection without an answer' },
});

describe('an answer of the AT that is lost', () => {
  test('leaves the series ENDING; then the AT is asked first, and what it did is done here', async () => {
    const series = await made('L1', 2);
    const draft = await A.draft({ seriesId: series.id });
    await fault('reset-after', 'finalizeSeries');
    expect(await end(series.id)).toMatchObject(unanswered('L1'));
    expect(await tried(draft)).toBe('SERIES_NOT_ACTIVE');
    expect(await asked()).toEqual(['finalizeSeries']);
    expect(await end(series.id)).toEqual({ kind: 'ended', code: 'L1', lastNumber: 2 });
    expect(await asked()).toEqual(['listSeries']);
    expect(await stands(series.id)).toEqual(['FINALIZED', false, 2]);
    expect(await end(series.id)).toEqual({ kind: 'not-active', code: 'L1', status: 'FINALIZED' });
  });

  test('of a series that is active there still: it is told again', async () => {
    const series = await made('L2', 1);
    await fault('reset-before', 'finalizeSeries');
    expect(await end(series.id)).toMatchObject(unanswered('L2'));
    expect(await stands(series.id)).toEqual(['ENDING', false, 1]);
    expect(await end(series.id)).toMatchObject({ kind: 'ended' });
    expect(await asked()).toEqual(['finalizeSeries', 'listSeries', 'finalizeSeries']);
  });

  test('stays so while the AT does not say how the series stands', async () => {
    const series = await made('L3', 1);
    await fault('reset-after', 'finalizeSeries');
    await end(series.id);
    await fault('reset-before', 'listSeries');
    expect(await end(series.id)).toMatchObject(unanswered('L3'));
    await fault('wrong-credentials', 'listSeries');
    expect(await end(series.id)).toMatchObject({
      because: { problem: expect.stringMatching(/^it refused: .*code 99/) },
    });
    expect(await stands(series.id)).toEqual(['ENDING', false, 1]);
    expect(await asked()).toEqual(['finalizeSeries', 'listSeries', 'listSeries']);
    expect(await end(series.id)).toMatchObject({ kind: 'ended' });
  });

  test('of an annulled series is the same', async () => {
    const series = await made('L4', 0);
    await fault('reset-after', 'annulSeries');
    expect(await end(series.id, 'ANNULLED')).toMatchObject(unanswered('L4'));
    expect(await end(series.id)).toEqual({ kind: 'other-end', code: 'L4', lastNumber: 0 });
    expect(await stands(series.id)).toEqual(['ENDING', false, 0]);
    expect(await end(series.id, 'ANNULLED')).toMatchObject({ kind: 'ended' });
    expect(await stands(series.id)).toEqual(['ANNULLED', false, 0]);
  });
});

describe('a draft that names a series which does not number any more', () => {
  const read = async ({ id }: InvoiceJson) => (await A.get<InvoiceJson>(`/invoices/${id}`)).json;
  const patch = (id: string, body: unknown) => A.patch<InvoiceJson & { errors?: unknown }>(`/invoices/${id}`, body);

  test('is changed, follows its item and customer, and is issued once the series is back', async () => {
    const series = await made('N1', 1);
    const [customer, item] = [await A.customer(), await A.item({ unitPrice: 10 })];
    const items = [{ id: item.id, quantity: 1 }];
    const draft = await A.draft({ customerId: customer.id, items, seriesId: series.id });
    await fault('reset-before', 'finalizeSeries');
    expect(await end(series.id)).toMatchObject(unanswered('N1'));
    const changed = await patch(draft.id, { notes: 'x' });
    expect([changed.status, changed.json.notes]).toEqual([200, 'x']);
    await A.patch(`/items/${item.id}`, { unitPrice: 20 });
    await A.patch(`/customers/${customer.id}`, { city: 'Faro' });
    const refreshed = await read(draft);
    expect(refreshed).toMatchObject({ summary: { amountWithoutTax: 20 }, customer: { data: { city: 'Faro' } } });
    expect(await tried(refreshed)).toBe('SERIES_NOT_ACTIVE');
    // Another draft can't name it, nor this one another that does not number.
    expect((await patch((await A.draft()).id, { seriesId: series.id })).text).toContain('UNKNOWN_SERIES');
    expect((await patch(draft.id, { seriesId: uuidv7() })).text).toContain('UNKNOWN_SERIES');
    await service.setClock(new Date(service.now().getTime() + 6 * 60_000));
    await fault('document-refused', 'finalizeSeries');
    expect(await end(series.id)).toMatchObject({ kind: 'active-again' });
    expect(await tried(refreshed)).toBe('FT N1/2');
  });

  test('is told to name another one when the series has ended, and is issued there', async () => {
    const series = await made('N2', 1);
    const draft = await A.draft({ seriesId: series.id });
    expect(await end(series.id)).toMatchObject({ kind: 'ended' });
    expect(await tried(draft)).toBe('SERIES_NOT_ACTIVE');
    const other = (await patch(draft.id, { seriesId: A.series.INVOICE.id })).json;
    expect(await tried(other)).toMatch(/^FT A2026\//);
  });

  test('of a transport document is the same; another type takes it along for nobody', async () => {
    const path = '/transport-documents';
    const series = await registerSeries(service.world, A.id, { documentType: 'GUIA_DE_TRANSPORTE', code: 'N3' });
    const draft = await A.transport({ seriesId: series.id });
    await fault('reset-before', 'annulSeries');
    expect(await end(series.id, 'ANNULLED')).toMatchObject(unanswered('N3'));
    expect((await A.patch(`${path}/${draft.id}`, { comments: 'Frágil' })).status).toBe(200);
    const issued = await A.post<{ code: string }>(`${path}/${draft.id}/issue`, {});
    expect([issued.status, issued.json.code]).toEqual([400, 'SERIES_NOT_ACTIVE']);
    const moved = { movementType: 'GUIA_DE_REMESSA' };
    expect((await A.patch(`${path}/${draft.id}`, { ...moved, seriesId: series.id })).text).toContain('UNKNOWN_SERIES');
    expect((await A.patch(`${path}/${draft.id}`, moved)).status).toBe(200);
    expect((await A.post(`${path}/${draft.id}/issue`, {})).status).toBe(200);
  });

  test('of a credit note is the same', async () => {
    const series = await registerSeries(service.world, A.id, { documentType: 'CREDIT_NOTE', code: 'N4' });
    const { id } = await A.issue(await A.draft());
    const body = { parentInvoiceId: id, issue: false, seriesId: series.id };
    const draft = (await A.post<InvoiceJson>('/invoices/credit-notes', body)).json;
    expect(await end(series.id, 'ANNULLED')).toMatchObject({ kind: 'ended' });
    const changed = await patch(draft.id, { notes: 'x', seriesId: series.id });
    expect([changed.status, changed.json.notes]).toEqual([200, 'x']);
    expect(await tried(changed.json)).toBe('SERIES_NOT_ACTIVE');
  });
});

describe('what the AT did not do', () => {
  test('numbering goes on when it refused, and says that it has the series as active', async () => {
    const series = await made('R1', 1);
    await fault('document-refused', 'finalizeSeries');
    expect(await end(series.id)).toMatchObject({ kind: 'active-again', no: { kind: 'refused', code: '4005' } });
    expect(await asked()).toEqual(['finalizeSeries', 'listSeries']);
    expect(await tried(await A.draft({ seriesId: series.id }))).toBe('FT R1/2');
  });

  test('a refusal is not believed while it is not known how the series stands', async () => {
    const series = await made('R2', 1);
    await fault('document-refused', 'finalizeSeries');
    await fault('reset-before', 'listSeries');
    expect(await end(series.id)).toMatchObject(unanswered('R2'));
    expect(await stands(series.id)).toEqual(['ENDING', false, 1]);
    expect(await end(series.id)).toMatchObject({ kind: 'ended' });
  });

  test('a wrong password is not tried twice', async () => {
    const series = await made('R3', 1);
    await fault('wrong-credentials', 'finalizeSeries');
    expect(await end(series.id)).toMatchObject({ kind: 'active-again', no: { reason: 'credentials' } });
    expect(await asked()).toEqual(['finalizeSeries']);
    expect(await stands(series.id)).toEqual(['ACTIVE', false, 1]);
  });

  test('what never left this machine has changed nothing', async () => {
    const series = await made('R4', 1);
    await service.control('PUT', '/__fault', { kind: 'refused' });
    expect(await end(series.id)).toMatchObject({ kind: 'active-again', no: { kind: 'unknown', sent: false } });
    await service.control('DELETE', '/__fault');
    expect(await tried(await A.draft({ seriesId: series.id }))).toBe('FT R4/2');
  });

  test('a refusal right after a request without an answer: that one may arrive still, so numbering waits', async () => {
    const series = await made('R5', 1);
    await fault('reset-before', 'finalizeSeries');
    await end(series.id);
    await fault('document-refused', 'finalizeSeries', 2);
    expect(await end(series.id)).toMatchObject({
      kind: 'stopped',
      because: { kind: 'unknown', problem: expect.stringMatching(/4005\); an earlier request may still reach it/) },
    });
    expect(await stands(series.id)).toEqual(['ENDING', false, 1]);
    await service.setClock(new Date(service.now().getTime() + 6 * 60_000));
    expect(await end(series.id)).toMatchObject({ kind: 'active-again' });
    expect(await tried(await A.draft({ seriesId: series.id }))).toBe('FT R5/2');
  });

  test('the default is the default again, unless another one took its place', async () => {
    const of = (documentType: DocumentType, code: string) =>
      registerSeries(service.world, A.id, { documentType, code });
    const { id } = A.series.SIMPLIFIED_INVOICE;
    const body = { type: 'SIMPLIFIED_INVOICE' };
    await there([await A.issue(await A.draft(body))]);
    await fault('document-refused', 'finalizeSeries');
    expect(await end(id)).toMatchObject({ kind: 'active-again' });
    expect(await stands(id)).toEqual(['ACTIVE', true, 1]);
    await fault('reset-before', 'finalizeSeries');
    await end(id);
    const next = await of('SIMPLIFIED_INVOICE', 'D1');
    expect(await stands(next.id)).toEqual(['ACTIVE', true, 0]);
    expect(await tried(await A.draft(body))).toBe('FS D1/1');
    await service.setClock(new Date(service.now().getTime() + 6 * 60_000));
    await fault('document-refused', 'finalizeSeries');
    expect(await end(id)).toMatchObject({ kind: 'active-again' });
    expect(await stands(id)).toEqual(['ACTIVE', false, 1]);
    expect(await stands(next.id)).toEqual(['ACTIVE', true, 1]);
  });
});

test('documents that the AT does not have are waited for, or told of; it hears nothing of the end until then', async () => {
  const series = await made('W1', 0);
  await fault('reset-before', 'reportInvoice', 1_000);
  const issued = [
    await A.issue(await A.draft({ seriesId: series.id })),
    await A.issue(await A.draft({ seriesId: series.id })),
  ];
  const draft = await A.draft({ seriesId: series.id });
  const told = { kind: 'stopped', code: 'W1', lastNumber: 2, because: { kind: 'pending', documents: 2 } };
  expect(await end(series.id)).toEqual(told);
  expect(await tried(draft)).toBe('SERIES_NOT_ACTIVE');
  expect(await asked()).toEqual([]);
  // Again: what the AT has, then what it lacks.
  expect(await end(series.id)).toEqual(told);
  expect(await asked()).toEqual(['listSeries']);
  const waited: number[] = [];
  const ended = await endSeries(service.world, A.id, {
    seriesId: series.id,
    end: 'FINALIZED',
    async wait(pending) {
      if (waited.length === 0) {
        await service.control('DELETE', '/__fault');
        await service.setClock(new Date(service.now().getTime() + 60_000));
      }
      waited.push(pending);
      await there(issued);
      return true;
    },
  });
  expect(ended).toEqual({ kind: 'ended', code: 'W1', lastNumber: 2 });
  expect(waited).toEqual([2]);
});

type Listed = Extract<Awaited<ReturnType<SeriesWorld['at']['listSeries']>>, { kind: 'done' }>;
/** Where what the AT says of series is heard after something else, or otherwise. */
const judging = (heardAs: (answer: Listed) => Listed | Promise<Listed>): SeriesWorld => ({
  ...service.world,
  at: {
    ...service.gateway,
    async listSeries(...call) {
      const answer = await service.gateway.listSeries(...call);
      return answer.kind === 'done' ? heardAs(answer) : answer;
    },
  },
});

test('what the AT has otherwise is told, and nothing is numbered', async () => {
  const series = await made('X1', 1);
  const { code, validationCode } = series;
  const key = { series: code, documentCode: 'FT' as const, validationCode };
  const credentials = { username: `${A.taxpayerNumber}/1`, password: 'certa' };
  expect(await service.gateway.finalizeSeries(credentials, { ...key, lastNumber: 7 })).toMatchObject({ kind: 'done' });
  const differs = { kind: 'stopped', because: { kind: 'differs', held: 'finalised after number 7' } };
  for (let turn = 0; turn < 2; turn += 1) expect(await end(series.id)).toMatchObject(differs);
  const annulled = judging((answer) => ({ ...answer, series: answer.series.map((one) => ({ ...one, state: 'N' })) }));
  expect(await end(series.id, 'FINALIZED', annulled)).toMatchObject({ because: { kind: 'differs', held: 'annulled' } });
  expect(await stands(series.id)).toEqual(['ENDING', false, 1]);
});

test('two at once: one whose answer is under way is not undone by the refusal of the other', async () => {
  const series = await made('P1', 1);
  let tell: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    tell = resolve;
  });
  let telling: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    telling = resolve;
  });
  const slow: SeriesWorld = {
    ...service.world,
    at: {
      ...service.gateway,
      async finalizeSeries(...call) {
        telling();
        await held;
        return service.gateway.finalizeSeries(...call);
      },
    },
  };
  const first = end(series.id, 'FINALIZED', slow);
  await begun;
  await fault('document-refused', 'finalizeSeries');
  expect(await end(series.id)).toMatchObject({ kind: 'stopped', because: { kind: 'unknown' } });
  expect(await stands(series.id)).toEqual(['ENDING', false, 1]);
  tell();
  expect(await first).toMatchObject({ kind: 'ended' });
});

test('two at once: the refusal of the first does not undo what the second is telling', async () => {
  const series = await made('P2', 1);
  let second: Promise<unknown> = Promise.resolve();
  const overtaken: SeriesWorld = {
    ...service.world,
    at: {
      ...service.gateway,
      async listSeries(...call) {
        const stood = await service.gateway.listSeries(...call);
        await fault('reset-before', 'finalizeSeries');
        second = end(series.id);
        await second;
        return stood;
      },
    },
  };
  await fault('document-refused', 'finalizeSeries');
  expect(await end(series.id, 'FINALIZED', overtaken)).toMatchObject({ kind: 'stopped' });
  expect(await second).toMatchObject(unanswered('P2'));
  expect(await stands(series.id)).toEqual(['ENDING', false, 1]);
});

test('two at once: both are told that it has ended', async () => {
  const series = await made('P4', 1);
  await fault('reset-after', 'finalizeSeries');
  expect(await end(series.id)).toMatchObject(unanswered('P4'));
  let first: unknown;
  const overtaken = judging(async (answer) => {
    first = await end(series.id);
    return answer;
  });
  const ended = { kind: 'ended', code: 'P4', lastNumber: 1 };
  expect([await end(series.id, 'FINALIZED', overtaken), first]).toEqual([ended, ended]);
});

test('two at once: what was active again and has another last number by now is not told with the old one', async () => {
  const series = await made('P3', 1);
  await fault('reset-before', 'finalizeSeries');
  await end(series.id);
  await service.setClock(new Date(service.now().getTime() + 6 * 60_000));
  const overtaken: SeriesWorld = {
    ...service.world,
    at: {
      ...service.gateway,
      async listSeries(...call) {
        const stood = await service.gateway.listSeries(...call);
        await fault('document-refused', 'finalizeSeries');
        expect(await end(series.id)).toMatchObject({ kind: 'active-again' });
        await there([await A.issue(await A.draft({ seriesId: series.id }))]);
        await fault('reset-before', 'finalizeSeries');
        expect(await end(series.id)).toMatchObject(unanswered('P3'));
        await asked();
        return stood;
      },
    },
  };
  expect(await end(series.id, 'FINALIZED', overtaken)).toEqual({ kind: 'not-active', code: 'P3', status: 'ENDING' });
  expect(await asked()).toEqual([]);
  expect(await end(series.id)).toEqual({ kind: 'ended', code: 'P3', lastNumber: 2 });
});

test('a place that is remembered is not numbered in any more', async () => {
  const series = await made('M1', 0);
  let meanwhile = async (): Promise<unknown> => undefined;
  let written = 0;
  const door = await service.another((db) => ({
    ...db,
    ...quickWrites(db, async (write) => {
      await meanwhile();
      await write();
      written += 1;
    }),
  }));
  const post = (path: string, body: unknown) =>
    door.call<InvoiceJson & { code?: string }>('POST', path, {
      key: A.key,
      body,
      headers: { 'idempotency-key': uuidv7() },
    });
  const [{ id: customerId }, { id }] = await Promise.all([A.customer(), A.item()]);
  const body = { type: 'INVOICE', cae: '62010', customerId, items: [{ id, quantity: 1 }], seriesId: series.id };
  const draft = async () => (await post('/invoices', body)).json;
  const issue = async ({ id, updatedAt }: InvoiceJson) =>
    (await post(`/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt })).json;
  const issued = [await issue(await draft()), await issue(await draft())];
  await there(issued);
  written = 0;
  const [late, later] = [await draft(), await draft()];
  expect(written).toBe(2);
  // Decided and signed for the place; the series stops before it is written.
  await fault('reset-before', 'finalizeSeries');
  meanwhile = async () => {
    meanwhile = async () => undefined;
    expect(await end(series.id)).toMatchObject(unanswered('M1'));
  };
  expect((await issue(late)).code).toBe('SERIES_NOT_ACTIVE');
  expect((await issue(later)).code).toBe('SERIES_NOT_ACTIVE');
  expect([written, await stands(series.id)]).toEqual([2, ['ENDING', false, 2]]);
  expect(await end(series.id)).toMatchObject({ kind: 'ended' });
  await door.stop();
});

test('closed by a restore of books in which it was ending: its last number is not known', async () => {
  const series = await made('C1', 1);
  await fault('reset-before', 'finalizeSeries');
  await end(series.id);
  await service.owner.query(
    `insert into certo.restores (number, taken_at, written_by, digest, nothing_lost) values ($1, certo.now(), '1', sha256('x'), $2)`,
    [1, true],
  );
  await fault('reset-before', 'finalizeSeries');
  expect(await end(series.id)).toMatchObject(unanswered('C1'));
  await service.owner.query(
    `insert into certo.restores (number, taken_at, written_by, digest, nothing_lost) values ($1, certo.now(), '1', sha256('x'), $2)`,
    [2, false],
  );
  expect(await end(series.id)).toEqual({ kind: 'not-active', code: 'C1', status: 'CLOSED' });
  // Of one that stopped after the backup was written nothing is lost.
  const later = await made('C2', 1);
  await fault('reset-after', 'finalizeSeries');
  expect(await end(later.id)).toMatchObject(unanswered('C2'));
  expect(await end(later.id)).toMatchObject({ kind: 'ended', lastNumber: 1 });
});

test('a company whose only series is ending is as one without: not ready, not listed, not named; its books prove themselves', async () => {
  const young = await service.newCompany({ name: 'Nova, Lda', taxpayerNumber: nifFrom('51777777') });
  await service.setCredentials(young, 'certa');
  const series = await made('Y1', 0, young);
  expect(await syncSeries(service.world, young.id)).toBe('ok');
  await there([await young.issue(await young.draft())], young);
  const draft = await young.draft();
  const finalise = () => endSeries(service.world, young.id, { seriesId: series.id, end: 'FINALIZED', wait: impatient });
  await fault('reset-before', 'finalizeSeries');
  expect(await finalise()).toMatchObject(unanswered('Y1'));
  const { readiness } = (await young.get<CompanyJson>('/company')).json;
  expect(readiness.reasons.map(({ code }) => code)).toEqual(['SERIES_REQUIRED']);
  expect((await young.get<unknown[]>('/series')).json).toEqual([]);
  expect(await tried(draft, young)).toBe('NOT_READY');
  const [customer, item] = [await young.customer(), await young.item()];
  const naming = await young.post('/invoices', {
    type: 'INVOICE',
    cae: '62010',
    customerId: customer.id,
    items: [{ id: item.id, quantity: 1 }],
    seriesId: series.id,
  });
  expect(naming.text).toContain('UNKNOWN_SERIES');
  for (const code of ['Y1', 'y1'])
    await expect(registerSeries(service.world, young.id, { documentType: 'INVOICE', code })).rejects.toMatchObject({
      code: 'SERIES_CODE_TAKEN',
    });
  // What is ending is nothing to compare: the AT may have it as finalised.
  expect(await syncSeries(service.world, young.id)).toBe('ok');
  expect(await service.findings(young.id)).toEqual([]);
  expect((await saftOf(service, young, '2026-03-01', '2026-03-31')).xml).toContain('FT Y1/1');
  expect(await finalise()).toMatchObject({ kind: 'ended' });
});
