/** Documents imported from the AT: recognised, listed among the own ones, and nothing more. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ImportReport, importAtInvoices } from '../../src/operations/imported/import-at-invoices.ts';
import { planRecovery } from '../../src/operations/recovery/plan.ts';
import { recoverDocument } from '../../src/operations/recovery/recover.ts';
import type { RecoveredBody } from '../../src/operations/recovery/recovered-document.ts';
import type { RecoveredNote } from '../../src/operations/recovery/recovered-note.ts';
import { registerSeries } from '../../src/operations/series/registration.ts';
import type { InvoiceEntryJson, InvoiceJson } from '../replies.ts';
import { nifFrom, type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
let own: InvoiceJson;
let canceled: InvoiceJson;

const head = 'Nº Documento / ATCUD;NIF Adquirente;Tipo do Documento;Data Emissão;Total;IVA;Base Tributável;Situação\n';
interface Line {
  readonly number: string;
  readonly acquirer?: string;
  readonly type?: string;
  readonly date?: string;
  readonly gross?: string;
  readonly situation?: string;
}
const lineOf = ({
  number,
  acquirer = '',
  type = 'Fatura',
  date = '2026-02-10',
  gross = '12,30',
  situation = 'Registado',
}: Line) => `${number};${acquirer};${type};${date};${gross};2,30;10,00;${situation}\n`;
const fileOf = (...lines: Line[]) => head + lines.map(lineOf).join('');

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
const importInto = (company: TestCompany, text: string, dryRun = false): Promise<ImportReport> =>
  importAtInvoices(service.db, { companyId: company.id, actor: 'test', newId: uuidv7, dryRun }, bytesOf(text));
const countsOf = ({ added, changed, known, own: issuedHere }: ImportReport) => [added, changed, known, issuedHere];
const kept = async (company: TestCompany) =>
  (
    await service.owner.query(
      `select number, status, gross::text, situation, customer_name, updated_at from certo.imported_documents where company_id = $1 order by number`,
      [company.id],
    )
  ).rows;
const efatura = async (company: TestCompany): Promise<string> =>
  (await fetch(`${service.simulator.controlUrl}/__efatura.csv?nif=${company.taxpayerNumber}`)).text();
const told = (report: ImportReport) => report.problems.map(({ line, code }) => `${line} ${code}`);

const theirs: readonly Line[] = [
  { number: 'FT LOJA/9 / JFLOJA99-9', acquirer: nifFrom('50123456'), date: '2026-02-01' },
  { number: 'FT LOJA/10 / JFLOJA99-10', acquirer: '', date: '2026-03-02', gross: '1.230,00 €' },
  { number: 'FS LOJA/1', type: 'Fatura simplificada', date: '2026-02-15', gross: '3,00' },
  { number: 'NC LOJA/1', type: 'Nota de crédito', date: '2026-02-20', situation: 'Anulado' },
];

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'], clock: new Date('2026-03-02T10:15:30Z') });
  ({ A, B } = service.companies);
  service.startReports();
  own = await A.issue(await A.draft());
  canceled = await A.issue(await A.draft());
  await A.post(`/invoices/${canceled.id}/cancel`, {});
  await A.issue(await A.draft({ type: 'SIMPLIFIED_INVOICE', payment: { method: 'NU' } }));
  await vi.waitFor(async () => {
    const { rows } = await service.owner.query(
      `select count(*)::int as n from certo.documents where at_status = 'PENDING'`,
    );
    expect(rows).toEqual([{ n: 0 }]);
  });
});
afterAll(() => service.stop());

describe('an import', () => {
  test('of what the AT lists of own documents keeps none of them', async () => {
    const file = await efatura(A);
    expect(file.split('\r\n').map((line) => line.split(';')[0])).toEqual([
      '"Nº Documento / ATCUD"',
      `"${own.number} / ${own.atcud}"`,
      `"${canceled.number} / ${canceled.atcud}"`,
      expect.stringMatching(/^"FS A2026\/1 \/ /),
      '',
    ]);
    expect(file).toContain('"12,30 €";"2,30 €";"10,00 €";"Anulado"');
    const report = await importInto(A, file);
    expect([countsOf(report), told(report)]).toEqual([[0, 0, 0, 3], []]);
    expect(countsOf(await importInto(A, file.replaceAll(/ \/ [A-Z0-9]{8}-\d+/g, '')))).toEqual([0, 0, 0, 3]);
    expect(await kept(A)).toEqual([]);
  });

  test('again, or of a part of it, changes nothing; a dry run neither', async () => {
    expect(countsOf(await importInto(A, fileOf(...theirs), true))).toEqual([4, 0, 0, 0]);
    expect(await kept(A)).toEqual([]);
    expect(countsOf(await importInto(A, fileOf(...theirs)))).toEqual([4, 0, 0, 0]);
    const before = await kept(A);
    expect(countsOf(await importInto(A, fileOf(...theirs)))).toEqual([0, 0, 4, 0]);
    expect(countsOf(await importInto(A, fileOf(theirs[1]!, theirs[1]!)))).toEqual([0, 0, 2, 0]);
    expect(countsOf(await importInto(A, fileOf({ ...theirs[0]!, number: 'ft loja/9' })))).toEqual([0, 0, 1, 0]);
    expect(await kept(A)).toEqual(before);
    expect(await kept(B)).toEqual([]);
  });

  test('of what changed at the AT changes it; a cancellation is never taken back', async () => {
    const now = { number: 'FT MUDA/1 / JFMUDA11-1', gross: '20,00' };
    await importInto(B, fileOf(now));
    const [first] = await kept(B);
    const changed = await importInto(B, fileOf({ ...now, gross: '21,00' }));
    expect([countsOf(changed), changed.changes]).toEqual([[0, 1, 0, 0], [{ line: 2, number: 'FT MUDA/1' }]]);
    expect(countsOf(await importInto(B, fileOf({ ...now, gross: '21,00', situation: 'Anulado' })))).toEqual([
      0, 1, 0, 0,
    ]);
    expect(countsOf(await importInto(B, fileOf(now, now)))).toEqual([0, 0, 2, 0]);
    const [last] = await kept(B);
    expect(last).toMatchObject({ gross: '21.00', status: 'CANCELED', situation: 'Anulado' });
    expect(last.updated_at.getTime()).toBeGreaterThan(first.updated_at.getTime());
  });

  test('with anything wrong keeps nothing, and tells everything', async () => {
    const good = { number: 'FT BOM/1' };
    const report = await importInto(
      B,
      `${fileOf(good, { number: '=1' }, { number: 'FT BOM/2', gross: 'x', date: 'y' }, good, { ...good, gross: '9,99' })}FT BOM/3;`,
    );
    expect(told(report)).toEqual(['3 NUMBER', '4 DATE', '4 AMOUNT', '6 CONTRADICTION', '7 FILE_CUT']);
    expect((await kept(B)).map(({ number }) => number)).toEqual(['FT MUDA/1']);
  });

  test('of a line that contradicts one far away keeps nothing', async () => {
    const many = Array.from({ length: 1200 }, (_, i) => ({ number: `FT LONGE/${i + 1}` }));
    const report = await importInto(B, fileOf(...many, { number: 'FT LONGE/1', gross: '1,00' }));
    expect(told(report)).toEqual(['1202 CONTRADICTION']);
    expect(await kept(B)).toHaveLength(1);
    expect(countsOf(await importInto(B, fileOf(...many, { number: 'FT LONGE/1' })))).toEqual([1200, 0, 1, 0]);
  });

  test('of two at once is one after the other', async () => {
    const file = fileOf(...Array.from({ length: 50 }, (_, i) => ({ number: `FT DOIS/${i + 1}` })));
    const reports = await Promise.all([importInto(B, file), importInto(B, file), importInto(B, file)]);
    expect(reports.map(countsOf).toSorted((a, b) => b[0]! - a[0]!)).toEqual([
      [50, 0, 0, 0],
      [0, 0, 50, 0],
      [0, 0, 50, 0],
    ]);
  });

  test('of a number of an own series that the books do not have is refused: they are not whole', async () => {
    const code = own.atcud!.split('-')[0];
    const report = await importInto(A, fileOf({ number: `FT A2026/77 / ${code}-77` }));
    expect(report.problems).toEqual([
      { line: 2, code: 'OWN_BOOKS_INCOMPLETE', facts: { number: 'FT A2026/77', series: 'A2026' } },
    ]);
    // Without an ATCUD it may be of another program, from before series were registered.
    expect(countsOf(await importInto(A, fileOf({ number: 'FT A2026/78' }), true))).toEqual([1, 0, 0, 0]);
    expect(countsOf(await importInto(A, fileOf({ number: 'FT A2026/1 / JFOUTRO1-1' }), true))).toEqual([0, 0, 0, 1]);
  });

  test('is in the audit, with who did it', async () => {
    const { rows } = await service.owner.query(
      `select distinct actor, request_id from certo.audit where operation = 'importAtInvoices' and company_id = $1`,
      [A.id],
    );
    expect(rows).toEqual([{ actor: 'test', request_id: 'command' }]);
  });
});

async function listed(query: string): Promise<string[]> {
  const answer = await A.get<InvoiceEntryJson[]>(`/invoices?includeATInvoices=true&${query}`);
  expect([query, answer.status]).toEqual([query, 200]);
  return answer.json.map(({ number, id }) => number ?? id);
}

describe('the list', () => {
  const ours = ['FS A2026/1', 'FT A2026/2', 'FT A2026/1'];

  test('shows them only when asked to', async () => {
    for (const query of ['', '?includeATInvoices=false']) {
      const { json } = await A.get<InvoiceEntryJson[]>(`/invoices${query}`);
      expect(json.map(({ number }) => number)).toEqual(ours);
      expect(json.some((entry) => 'source' in entry)).toBe(false);
    }
  });

  test('an entry says where it comes from, and no more than is known', async () => {
    const { json } = await A.get<InvoiceEntryJson[]>('/invoices?includeATInvoices=true&search=loja/9');
    expect(json).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        number: 'FT LOJA/9',
        documentType: 'INVOICE',
        status: 'ISSUED',
        date: '2026-02-01T00:00:00.000+00:00',
        taxPointDate: null,
        currency: 'EUR',
        parentInvoiceId: null,
        parentInvoiceNumber: null,
        parentInvoiceDate: null,
        parentInvoiceType: null,
        scheduleTemplateId: null,
        summary: { amountWithoutTax: 10, amountWithTax: 12.3, taxAmount: 2.3, total: 12.3 },
        customer: { data: { name: nifFrom('50123456'), taxpayerNumber: nifFrom('50123456') } },
        source: 'AT',
      },
    ]);
  });

  test.each([
    ['documentType=INVOICE&sort=number:asc', ['FT A2026/1', 'FT A2026/2', 'FT LOJA/9', 'FT LOJA/10']],
    ['documentType=CREDIT_NOTE', ['NC LOJA/1']],
    ['status=CANCELED&sort=date:asc', ['NC LOJA/1', 'FT A2026/2']],
    ['status=DRAFT', []],
    ['aggregatedStatus=PAID&sort=total:asc', ['FS LOJA/1', 'FS A2026/1']],
    // Whether an imported invoice was paid is not known here.
    ['aggregatedStatus=UNPAID', ['FT A2026/1']],
    ['aggregatedStatus=OVERDUE', []],
    ['aggregatedStatus=DRAFT', []],
    ['aggregatedStatus=SCHEDULED', []],
    ['date=2026-02-15', ['FS LOJA/1']],
    ['dueDate=2026-03-02&sort=number:asc', ['FS A2026/1', 'FT A2026/1', 'FT A2026/2']],
    ['fromDate=2026-02-15&toDate=2026-02-28&sort=date:desc', ['NC LOJA/1', 'FS LOJA/1']],
    ['fromDate=2026-02-15&toDate=2026-02-28&filterAllStatusesByDate=true&sort=date:asc', ['FS LOJA/1', 'NC LOJA/1']],
    ['currency=USD', []],
    ['currency=EUR&search=LOJA&sort=total:desc', ['FT LOJA/10', 'NC LOJA/1', 'FT LOJA/9', 'FS LOJA/1']],
    ['search=JFLOJA99-9', ['FT LOJA/9']],
    [`search=${nifFrom('50123456')}`, ['FT LOJA/9']],
    ['search=consumidor', ['FT LOJA/10', 'FS LOJA/1', 'NC LOJA/1']],
    ['description=x', []],
    ['notes=x', []],
    [`parentInvoiceId=${uuidv7()}`, []],
    [`scheduleTemplateId=${uuidv7()}`, []],
  ])('%s', async (query, numbers) => {
    const sorted = query.includes('sort=');
    const found = await listed(query);
    expect(sorted ? found : found.toSorted()).toEqual(sorted ? numbers : numbers.toSorted());
  });

  test('total:desc ties are broken alike on each page', async () => {
    for (const sort of [
      'createdAt:desc',
      'createdAt:asc',
      'updatedAt:desc',
      'date:asc',
      'date:desc',
      'dueDate:asc',
      'number:desc',
      'total:asc',
    ]) {
      const whole = await listed(`sort=${sort}`);
      expect(new Set(whole).size).toBe(7);
      const pages = await Promise.all([0, 2, 4, 6].map((offset) => listed(`sort=${sort}&limit=2&offset=${offset}`)));
      expect([sort, pages.flat()]).toEqual([sort, whole]);
    }
  });

  test('of another company shows none of these', async () => {
    const { json } = await B.get<InvoiceEntryJson[]>('/invoices?includeATInvoices=true&search=LOJA');
    expect(json).toEqual([]);
  });
});

describe('an imported document', () => {
  let id: string;
  beforeAll(async () => {
    [{ id }] = (await A.get<InvoiceEntryJson[]>('/invoices?includeATInvoices=true&search=loja/9')).json as [
      InvoiceEntryJson,
    ];
  });

  test.each([
    ['GET', '/invoices/:id', undefined],
    ['PATCH', '/invoices/:id', { notes: 'x' }],
    ['DELETE', '/invoices/:id', undefined],
    ['POST', '/invoices/:id/issue', { expectedUpdatedAt: '2026-01-01T00:00:00.000Z' }],
    ['POST', '/invoices/:id/pay', {}],
    ['POST', '/invoices/:id/cancel', {}],
    ['GET', '/invoices/:id/pdf', undefined],
    ['POST', '/invoices/credit-notes', { parentInvoiceId: ':id' }],
  ])('%s %s says why not, and to nobody else', async (method, path, body) => {
    for (const form of [id, id.toUpperCase()]) {
      const sent = JSON.parse(JSON.stringify({ body }).replace(':id', form));
      const answer = await A.call(method, path.replace(':id', form), sent);
      expect([answer.status, answer.json.code]).toEqual([400, 'IMPORTED_FROM_AT']);
      expect(answer.json.detail).toMatch(/^FT LOJA\/9 was issued with another program/);
      expect((await B.call(method, path.replace(':id', form), sent)).status).toBe(404);
    }
  });

  test('is not in SAF-T, and leaves no trace in series and documents', async () => {
    const { text } = await A.get('/saft?fromDate=2026-01-01&toDate=2026-12-31');
    expect(text).toContain('FT A2026/1');
    expect(text).not.toContain('LOJA');
  });
});

test('the simulator’s export needs a taxpayer, and takes a period', async () => {
  const at = async (query: string) => fetch(`${service.simulator.controlUrl}/__efatura.csv${query}`);
  expect((await at('')).status).toBe(400);
  const ofDay = (day: string) => at(`?nif=${A.taxpayerNumber}&from=${day}&to=${day}`).then((reply) => reply.text());
  expect((await ofDay('2026-03-02')).split('\r\n')).toHaveLength(5);
  expect((await ofDay('2026-03-03')).split('\r\n')).toHaveLength(2);
});

test('an import of a lost document of an own series knows it as own once its copy was entered', async () => {
  await registerSeries(service.world, A.id, { documentType: 'INVOICE', code: 'R2026', kind: 'R' });
  const lost = `FT A2026/79 / ${own.atcud!.split('-')[0]}-79`;
  const documents: RecoveredBody[] = [
    {
      kind: 'D',
      original: 'ft A2026/079',
      type: 'INVOICE',
      cae: '62010',
      customerId: (await A.customer({})).id,
      items: [{ id: (await A.item({ unitPrice: 10 })).id, quantity: 1 }],
      date: '2026-03-02',
      total: 12.3,
    },
  ];
  expect(told(await importInto(A, fileOf({ number: lost })))).toEqual(['2 OWN_BOOKS_INCOMPLETE']);
  const file = { companyId: A.id, digest: 'lost', documents };
  const [planned] = await planRecovery(service.db, service.app.world, file);
  const copy = await recoverDocument(service.db, service.app.world, file, planned!);
  const report = await importInto(A, fileOf({ number: lost }, { number: 'FT A2026/79' }));
  expect([countsOf(report), told(report)]).toEqual([[0, 0, 0, 2], []]);
  // One that was taken back stands for nothing.
  expect((await A.post(`/invoices/${copy.id}/cancel`, {})).status).toBe(200);
  expect(told(await importInto(A, fileOf({ number: lost })))).toEqual(['2 OWN_BOOKS_INCOMPLETE']);
});

test('so does one of a lost credit note', async () => {
  await registerSeries(service.world, A.id, { documentType: 'CREDIT_NOTE', code: 'R2026', kind: 'R' });
  const credited = await A.issue(await A.draft());
  const lost: Line = { number: `NC A2026/8 / ${A.series.CREDIT_NOTE.validationCode}-8`, type: 'Nota de crédito' };
  expect(told(await importInto(A, fileOf(lost)))).toEqual(['2 OWN_BOOKS_INCOMPLETE']);
  const documents: RecoveredNote[] = [
    {
      kind: 'D',
      original: 'nc a2026/08',
      type: 'CREDIT_NOTE',
      parentInvoiceNumber: credited.number!,
      customerId: credited.customer.ref,
      reason: 'Devolução',
      date: '2026-03-02',
      total: 12.3,
    },
  ];
  const file = { companyId: A.id, digest: 'lost note', documents };
  const [planned] = await planRecovery(service.db, service.app.world, file);
  await recoverDocument(service.db, service.app.world, file, planned!);
  const report = await importInto(A, fileOf(lost));
  expect([countsOf(report), told(report)]).toEqual([[0, 0, 0, 1], []]);
});
