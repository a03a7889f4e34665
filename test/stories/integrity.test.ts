/** Somebody changes the books outside the program: the next check finds it, and nothing is issued until it is resolved. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkBooks } from '../../src/commands/check-books.ts';
import { booksSeal, masterKey } from '../../src/keys/sealing.ts';
import type { Finding } from '../../src/operations/verify/verify-series.ts';
import type { InvoiceJson, ProposalJson, TransportJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
let issued: InvoiceJson;
let moved: TransportJson;
let proposed: ProposalJson;
/** One for each time that the acts are asked for. */
let unwanted: ProposalJson[];

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
  ({ A, B } = service.companies);
  issued = await A.issue(await A.draft());
  moved = await A.issueTransport(await A.transport());
  proposed = await A.proposal();
  unwanted = [await A.proposal(), await A.proposal(), await A.proposal()];
});
afterAll(() => service.stop('tampered'));

async function tamper(sql: string): Promise<void> {
  await service.owner.query('alter table certo.documents disable trigger user');
  await service.owner.query(sql, [issued.id]);
  await service.owner.query('alter table certo.documents enable trigger user');
}

/** What each fiscal act of A answers. */
async function acts(): Promise<unknown[]> {
  const draft = await A.draft();
  const journey = await A.transport();
  const body = { customerId: draft.customer.ref, items: [{ id: draft.items[0]!.ref, quantity: 1 }], cae: '62010' };
  const asked: [string, string, unknown?][] = [
    ['POST', `/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt }],
    ['POST', `/invoices/${issued.id}/pay`, { amount: 1 }],
    ['POST', '/invoices/credit-notes', { parentInvoiceId: issued.id }],
    ['POST', `/invoices/${issued.id}/cancel`, {}],
    ['POST', `/transport-documents/${journey.id}/issue`, {}],
    ['POST', `/transport-documents/${moved.id}/cancel`, {}],
    ['POST', '/proposals', body],
    ['POST', `/proposals/${proposed.id}/cancel`, {}],
    ['DELETE', `/proposals/${unwanted.pop()!.id}`],
  ];
  const answers = [];
  for (const [method, path, sent] of asked) {
    const { status, json } = await A.call(method, path, { body: sent, mayFail: true });
    answers.push(status >= 400 ? json.code : status);
  }
  return answers;
}

const blocked = Array.from({ length: 9 }, () => 'INTEGRITY_BROKEN');

test('honest books block nobody', async () => {
  expect(await service.checkBooks()).toBe(0);
});

test('what was changed is found once, and blocks every fiscal act of that company', async () => {
  await tamper(`update certo.documents set notes = 'x' where id = $1`);
  expect(await service.checkBooks()).toBe(1);
  expect(await service.checkBooks()).toBe(0);
  expect(
    service.logs.some((line) => line.includes('changed outside the program') && line.includes(issued.number!)),
  ).toBe(true);
  expect(await acts()).toEqual(blocked);
});

test('reading goes on, drafts too, and other companies', async () => {
  expect((await A.get(`/invoices/${issued.id}`)).status).toBe(200);
  expect((await A.draft()).status).toBe('DRAFT');
  expect((await B.issue(await B.draft())).status).toBe('ISSUED');
});

const resolve = ({ id }: TestCompany) =>
  service.owner.query(
    `update certo.integrity_breaks set resolved_at = certo.now(), resolution = 'Visto com o contabilista' where company_id = $1`,
    [id],
  );

test('a resolution lets it issue again, and the same does not block again', async () => {
  await resolve(A);
  expect(await service.checkBooks()).toBe(0);
  // The second credit of one invoice is refused by its own rule; the others pass.
  expect((await acts()).includes('INTEGRITY_BROKEN')).toBe(false);
  expect(await service.checkBooks()).toBe(0);
});

test('another change of the same document blocks again', async () => {
  await tamper(`update certo.documents set notes = 'y' where id = $1`);
  expect(await service.checkBooks()).toBe(1);
  expect(await acts()).toEqual(blocked);
});

test('what was found is kept for ever: neither removed nor resolved twice', async () => {
  const refused = (sql: string) => expect(service.owner.query(sql)).rejects.toMatchObject({ code: 'CE001' });
  await refused('delete from certo.integrity_breaks');
  await refused(`update certo.integrity_breaks set problem = 'nothing'`);
  await refused(`update certo.integrity_breaks set resolution = 'z' where resolved_at is not null`);
});

test('a file in the place of a print is not given out, and found with its document', async () => {
  const honest = await B.issue(await B.draft());
  const file = async () => {
    const { url } = (await B.get<{ url: string }>(`/invoices/${honest.id}/pdf`)).json;
    const answer = await service.open(url);
    return [
      answer.status,
      answer.bytes.subarray(0, 4).toString(),
      (answer.json as { code?: string } | undefined)?.code,
    ];
  };
  expect(await file()).toEqual([200, '%PDF', undefined]);
  expect(await service.checkBooks()).toBe(0);

  const change = (column: string, value: string) =>
    service.owner.query(`update certo.renditions set ${column} = ${value} where document_id = $1`, [honest.id]);
  await change('bytes', `'%PDF another'`);
  expect(await file()).toEqual([503, '{"ty', 'INTEGRITY_BROKEN']);
  expect((await service.findings(B.id)).map(({ number, problem }) => [number, problem])).toEqual([
    [honest.number, expect.stringMatching(/^has a print \(A4\.original\..*\) that is not the file that was made$/)],
  ]);
  expect(await service.checkBooks()).toBe(1);

  // Neither does it help to take the seal away, with the rule that asks for one.
  await expect(change('seal', 'null')).rejects.toThrow('renditions_sealed');
  await service.owner.query('alter table certo.renditions drop constraint renditions_sealed');
  await change('seal', 'null');
  expect(await file()).toEqual([503, '{"ty', 'INTEGRITY_BROKEN']);
  expect((await service.findings(B.id)).map(({ number, problem }) => [number, problem])).toEqual([
    [honest.number, expect.stringMatching(/^has a print \(A4\.original\..*\) without a seal$/)],
  ]);
  expect(await service.checkBooks()).toBe(1);
  await resolve(B);

  // Once the operator has removed it, the print is made again.
  await service.owner.query('delete from certo.renditions where document_id = $1', [honest.id]);
  expect(await file()).toEqual([200, '%PDF', undefined]);
  expect(await service.findings(B.id)).toEqual([]);
});

test('a file without a seal put there before anyone printed is not given out, and found', async () => {
  const { id, number } = await B.issue(await B.draft());
  const shown = await B.issue(await B.draft());
  await B.get(`/invoices/${shown.id}/pdf`);
  await service.owner.query('alter table certo.renditions drop constraint if exists renditions_sealed');
  await service.owner.query(
    `insert into certo.renditions (company_id, document_id, variant, bytes)
     select company_id, $1, variant, '%PDF another' from certo.renditions where document_id = $2`,
    [id, shown.id],
  );
  const { url } = (await B.get<{ url: string }>(`/invoices/${id}/pdf`)).json;
  const answer = await service.open(url);
  expect([answer.status, (answer.json as { code?: string }).code]).toEqual([503, 'INTEGRITY_BROKEN']);
  const found = (await service.findings(B.id)).filter((one) => one.number === number);
  expect(found.map(({ problem }) => problem)).toEqual([expect.stringMatching(/ without a seal$/)]);
  await service.owner.query('delete from certo.renditions where document_id = $1', [id]);
  expect((await service.open((await B.get<{ url: string }>(`/invoices/${id}/pdf`)).json.url)).status).toBe(200);
});

test('what was printed before there were seals is in no list of findings, and given to nobody any more', async () => {
  const { id, number } = await B.issue(await B.draft());
  await B.get(`/invoices/${id}/pdf`);
  await service.owner.query('alter table certo.renditions drop constraint if exists renditions_sealed');
  await service.owner.query(
    `insert into certo.renditions (company_id, document_id, variant, bytes)
     select company_id, document_id, replace(variant, split_part(variant, '.', 5), old), '%PDF of then'
     from certo.renditions, unnest(array['v1', 'v2', 'v3', 'v4']) old where document_id = $1`,
    [id],
  );
  const found = (await service.findings(B.id)).filter((one) => one.number === number);
  // The fourth layout came after the seals.
  expect(found.map(({ problem }) => problem)).toEqual([expect.stringMatching(/\.v4\) without a seal$/)]);
  const answer = await service.open((await B.get<{ url: string }>(`/invoices/${id}/pdf`)).json.url);
  expect([answer.status, String(answer.bytes).includes('of then')]).toEqual([200, false]);
  await service.owner.query('delete from certo.renditions where document_id = $1', [id]);
});

test('an id in capitals is the same id: what is issued, paid, noted and cancelled by it is sealed under its own', async () => {
  const at = ({ id }: { readonly id: string }) => `/invoices/${id.toUpperCase()}`;
  const draft = await B.draft();
  const patched = (await B.patch<InvoiceJson>(at(draft), { notes: 'x' })).json;
  const invoice = (await B.post<InvoiceJson>(`${at(draft)}/issue`, { expectedUpdatedAt: patched.updatedAt })).json;
  const paid = await B.post<InvoiceJson & { receipt: { id: string } }>(`${at(invoice)}/pay`, { amount: 1 });
  const canceled = await B.post(`${at(paid.json.receipt)}/cancel`);
  const note = await B.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId: invoice.id.toUpperCase() });
  expect([paid.status, canceled.status, note.status, note.json.parentInvoiceId]).toEqual([200, 200, 201, invoice.id]);
  expect(await service.findings(B.id)).toEqual([]);
  const other = await B.draft();
  expect((await B.delete<{ id: string }>(at(other))).json.id).toBe(other.id);
});

test('a print of one document is none of another, nor of another state', async () => {
  const [one, other] = [await B.issue(await B.draft()), await B.issue(await B.draft())];
  for (const { id } of [one, other]) await B.get(`/invoices/${id}/pdf`);
  await service.owner.query(
    `update certo.renditions r set bytes = o.bytes, seal = o.seal from certo.renditions o where r.document_id = $1 and o.document_id = $2`,
    [one.id, other.id],
  );
  await service.owner.query(
    `insert into certo.renditions (company_id, document_id, variant, bytes, seal)
     select company_id, document_id, variant || '.canceled', bytes, seal from certo.renditions where document_id = $1`,
    [other.id],
  );
  expect((await service.findings(B.id)).map(({ number }) => number).sort()).toEqual([one.number, other.number].sort());
});

test.each([
  ['a last number beyond all numbers', `update certo.series set last_number = 9223372036854775807 where id = $1`],
  ['one that no double can hold', `update certo.series set last_number = 9007199254740993 where id = $1`],
  [
    'an amount without end',
    `update certo.documents set content = jsonb_set(content, '{totals,gross}', '1e400') where series_id = $1`,
  ],
  ['an event count beyond all', `update certo.documents set last_event = 2147483647 where series_id = $1`],
])('%s ends no check: it is named, and the companies behind it are checked', async (_what, sql) => {
  const other = await startService({ companies: ['A', 'B'] });
  const { A: first, B: second } = other.companies;
  const harm = async (company: TestCompany, sentence: string): Promise<InvoiceJson> => {
    const invoice = await company.issue(await company.draft());
    const guards = (how: string): Promise<unknown> =>
      other.owner.query(
        `alter table certo.documents ${how} trigger user; alter table certo.series ${how} trigger user`,
      );
    await guards('disable');
    await other.owner.query(sentence, [invoice.series!.ref]);
    await guards('enable');
    return invoice;
  };
  const broken = await harm(first, sql);
  const quiet = await harm(second, `update certo.documents set notes = 'x' where series_id = $1`);
  expect(await other.checkBooks()).toBeGreaterThanOrEqual(2);
  const found = [...(await other.findings(first.id)), ...(await other.findings(second.id))];
  expect(new Set(found.map(({ series }) => series))).toEqual(new Set([broken.series!.name, quiet.series!.name]));
  await other.stop('tampered');
});

test('a company whose row is gone is verified none the less, and named', async () => {
  const other = await startService({ companies: ['A', 'B'] });
  const { A: kept, B: gone } = other.companies;
  await kept.issue(await kept.draft());
  await gone.issue(await gone.draft());
  await other.owner.query('alter table certo.companies drop constraint companies_pkey cascade');
  const removed = await other.owner.query('delete from certo.companies where id = $1', [gone.id]);
  expect(removed.rowCount).toBe(1);
  const found: Finding[] = [];
  const world = { db: other.db, seal: booksSeal(masterKey(Buffer.from(other.masterKeyHex, 'hex'))) };
  const counts = await checkBooks(other.owner, world, undefined, {
    found: (one) => void found.push(one),
    done: () => undefined,
  });
  expect(counts.companies).toBe(2);
  const missing = found.filter(({ problem }) => problem === 'has books, and is not there itself');
  expect(missing.map(({ companyId }) => companyId)).toEqual([gone.id]);
  await other.stop('tampered');
});
