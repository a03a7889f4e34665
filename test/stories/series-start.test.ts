/**
 * The first day of a series, which the AT was told when it was registered: no document is dated before it, of whatever family,
 * and the simulator refuses what is.
 */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DocumentType } from '../../src/fiscal/document.ts';
import { registerSeries, syncSeries, type WantedSeries } from '../../src/operations/series/registration.ts';
import type { Answer } from '../client.ts';
import { eventually } from '../eventually.ts';
import type { InvoiceJson, ProposalJson } from '../replies.ts';
import { nifFrom, type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
/** Its default series have been there for a year. */
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: new Date('2026-03-31T10:00:00Z') });
  A = service.companies.A;
});
afterAll(() => service.stop());

const register = (documentType: DocumentType, code: string, over: Partial<WantedSeries> = {}, company = A) =>
  registerSeries(service.world, company.id, { documentType, code, ...over });
const startOf = async (id: string): Promise<string | null> => {
  const { rows } = await service.owner.query('select start_date from certo.series where id = $1', [id]);
  return rows[0].start_date;
};
const tryIssue = async ({ id }: { readonly id: string }, company = A) => {
  const { updatedAt } = (await company.get<InvoiceJson>(`/invoices/${id}`)).json;
  return company.post<InvoiceJson>(`/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt });
};
const refusal = ({ status, json }: { status: number; json: unknown }) => [status, (json as Answer['json']).code];
const tooEarly = [400, 'DATE_BEFORE_SERIES'];
const paid = { payment: { method: 'NU', date: '2026-02-01' } };

describe('a series that was registered two days ago', () => {
  /** Asks for a document with a number in this series, on this day. */
  type Ask = (seriesId: string, date: string) => Promise<Answer<unknown>>;
  const drafted =
    (over: Record<string, unknown>): Ask =>
    async (seriesId, date) =>
      tryIssue(await A.draft({ ...over, seriesId, date }));
  const parent = () => A.draft({ date: '2026-03-01' }).then(A.issue);
  const families: readonly [string, DocumentType, Ask][] = [
    ['an invoice', 'INVOICE', drafted({})],
    ['a simplified invoice', 'SIMPLIFIED_INVOICE', drafted({ type: 'SIMPLIFIED_INVOICE', ...paid })],
    ['an invoice-receipt', 'INVOICE_RECEIPT', drafted({ type: 'INVOICE_RECEIPT', ...paid })],
    [
      'a debit note',
      'DEBIT_NOTE',
      async (seriesId, date) => {
        const { id, customer } = await parent();
        const note = { type: 'DEBIT_NOTE', parentInvoiceId: id, reason: 'Juros', customerId: customer.ref };
        return drafted(note)(seriesId, date);
      },
    ],
    [
      'a credit note',
      'CREDIT_NOTE',
      async (seriesId, date) => {
        const { id } = await parent();
        return A.post('/invoices/credit-notes', { parentInvoiceId: id, seriesId, date });
      },
    ],
    [
      'the draft of a credit note',
      'CREDIT_NOTE',
      async (seriesId, date) => {
        const { id } = await parent();
        const note = { parentInvoiceId: id, seriesId, date, issue: false };
        return tryIssue((await A.post<InvoiceJson>('/invoices/credit-notes', note)).json);
      },
    ],
    [
      'a receipt',
      'RECEIPT',
      async (seriesId, date) => {
        const { id } = await parent();
        return A.post(`/invoices/${id}/pay`, { seriesId, date });
      },
    ],
    [
      'a pro forma',
      'PROFORMA',
      async (seriesId, date) => {
        const [customerId, items] = [(await A.customer()).id, [{ id: (await A.item()).id, quantity: 1 }]];
        return A.post('/proposals', { cae: '62010', customerId, items, seriesId, date });
      },
    ],
    [
      'an invoice made of a pro forma',
      'INVOICE',
      async (seriesId, date) => {
        const { id } = await A.proposal({ date: '2026-03-01' });
        const draft = (await A.post<InvoiceJson>(`/proposals/${id}/convert`, {})).json;
        await A.patch(`/invoices/${draft.id}`, { seriesId, date });
        return tryIssue(draft);
      },
    ],
  ];

  const young = new Map<string, string>();
  beforeAll(async () => {
    for (const [i, [what, documentType]] of families.entries())
      young.set(what, (await register(documentType, `YOUNG${i}`)).id);
    await service.setClock(new Date('2026-04-02T10:00:00Z'));
  });

  test.each(families)('%s is not dated before it, but from then on', async (what, _type, ask) => {
    const id = young.get(what)!;
    expect(await startOf(id)).toBe('2026-03-31');
    const no = await ask(id, '2026-03-30');
    expect(refusal(no)).toEqual(tooEarly);
    for (const part of ['2026-03-30', '2026-03-31']) expect(no.text).toContain(part);
    // Dated back, but not so far.
    expect((await ask(id, '2026-04-01')).status).toBeOneOf([200, 201]);
    const { rows } = await service.owner.query(
      'select date from certo.documents where series_id = $1 and number is not null',
      [id],
    );
    expect(rows).toEqual([{ date: '2026-04-01' }]);
  });

  test('a document for training is of its day as well: its series is registered like any', async () => {
    const { id: seriesId } = await register('INVOICE', 'PRACTICE', { kind: 'F' });
    expect(refusal(await tryIssue(await A.draft({ seriesId, date: '2026-04-01' })))).toEqual(tooEarly);
    expect((await tryIssue(await A.draft({ seriesId }))).status).toBe(200);
  });

  test('a series that the AT has registered, with its answer lost, starts on the day of that try', async () => {
    await service.control('PUT', '/__fault', { kind: 'reset-after', count: 1, operation: 'registerSeries' });
    await expect(register('INVOICE', 'LOST')).rejects.toMatchObject({ code: 'AT_UNREACHABLE' });
    await service.setClock(new Date('2026-04-05T10:00:00Z'));
    const { id } = await register('INVOICE', 'LOST');
    expect(await startOf(id)).toBe('2026-04-02');
  });
});

describe('a series from before its start was kept', () => {
  /** Registered at the AT now. Here it was asked for on this day. */
  async function oldSeries(code: string, createdAt: string): Promise<string> {
    const outcome = await service.gateway.registerSeries(
      { username: `${A.taxpayerNumber}/1`, password: 'certa' },
      { series: code, documentCode: 'FT', firstNumber: 1, startDate: '2026-04-10', certificateNumber: 9999 },
    );
    if (outcome.kind !== 'done') throw new Error(`not registered: ${JSON.stringify(outcome)}`);
    const id = uuidv7();
    await service.owner.query(
      `insert into certo.series (company_id, id, document_type, at_type, code, status, validation_code, created_at)
       values ($1, $2, 'INVOICE', 'FT', $3, 'ACTIVE', $4, $5)`,
      [A.id, id, code, outcome.series.validationCode, createdAt],
    );
    return id;
  }

  test('starts on the day on which it was asked for here, until the AT has told', async () => {
    await service.setClock(new Date('2026-04-10T10:00:00Z'));
    // Lisbon's day.
    const seriesId = await oldSeries('OLD', '2026-03-31T23:30:00Z');
    const draft = (date: string) => A.draft({ seriesId, date });
    const no = await tryIssue(await draft('2026-03-31'));
    expect([refusal(no), no.text]).toEqual([tooEarly, expect.stringContaining('2026-04-01')]);
    expect((await A.issue(await draft('2026-04-01'))).number).toBe('FT OLD/1');
    // Known by the process by now, which decides on what it remembers.
    expect((await A.issue(await draft('2026-04-05'))).number).toBe('FT OLD/2');

    expect([await startOf(seriesId), await syncSeries(service.world, A.id)]).toEqual([null, 'ok']);
    expect(await startOf(seriesId)).toBe('2026-04-10');
    const later = await tryIssue(await draft('2026-04-09'));
    expect([refusal(later), later.text]).toEqual([tooEarly, expect.stringContaining('2026-04-10')]);
    expect((await A.issue(await draft('2026-04-10'))).number).toBe('FT OLD/3');
  });

  test('a start that is known stays, whatever the AT lists later', async () => {
    const { id } = await register('INVOICE', 'KNOWN');
    const listing: typeof service.world.at.listSeries = async (...asked) => {
      const answer = await service.gateway.listSeries(...asked);
      if (answer.kind !== 'done') return answer;
      return { ...answer, series: answer.series.map((one) => ({ ...one, startDate: '2020-01-01' })) };
    };
    expect(await syncSeries({ ...service.world, at: { ...service.world.at, listSeries: listing } }, A.id)).toBe('ok');
    expect(await startOf(id)).toBe('2026-04-10');
  });
});

describe('on the Azores', () => {
  test('a series that is registered between midnight and one in Lisbon numbers documents of that day there', async () => {
    await service.setClock(new Date('2026-07-10T23:30:00Z'));
    const facts = { name: 'Ilha, Lda', taxpayerNumber: nifFrom('51999999'), region: 'PT-AC' as const };
    const company = await service.newCompany(facts);
    await service.setCredentials(company);
    const { id } = await register('INVOICE', 'NIGHT', {}, company);
    await register('GUIA_DE_TRANSPORTE', 'NIGHT', {}, company);
    await register('PROFORMA', 'NIGHT', {}, company);
    expect([await startOf(id), await syncSeries(service.world, company.id)]).toEqual(['2026-07-11', 'ok']);
    const no = await tryIssue(await company.draft({ date: '2026-07-09' }), company);
    expect([refusal(no), no.text]).toEqual([tooEarly, expect.stringContaining('starts on 2026-07-10')]);
    const invoice = await company.issue(await company.draft());
    const proforma: ProposalJson = await company.proposal({ date: '2026-07-10' });
    const transport = await company.issueTransport(await company.transport());
    const day = '2026-07-10T00:00:00.000+00:00';
    expect([invoice.date, proforma.date]).toEqual([day, day]);

    // And the AT takes them.
    service.startReports();
    const statuses = async () => {
      const sql =
        'select number, at_status from certo.documents where company_id = $1 and number is not null order by number';
      return (await service.owner.query(sql, [company.id])).rows;
    };
    await eventually(async () =>
      expect(await statuses()).toEqual(
        [invoice.number, proforma.number, transport.number].sort().map((number) => ({ number, at_status: 'ACCEPTED' })),
      ),
    );
  });
});
