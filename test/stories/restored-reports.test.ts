/**
 * What the AT was told between a backup and the loss of the books is told again by the restored ones: its answer that this
 * is so already counts. The other books are played here by a second voice, which tells the AT first.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reportGroup } from '../../src/doors/clock/reports.ts';
import { tell, toldColumns } from '../../src/doors/clock/tell.ts';
import { credentialsOf } from '../../src/operations/series/registration.ts';
import type { InvoiceJson, ProposalJson, TransportJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: new Date('2026-03-02T10:00:00Z') });
  ({ A } = service.companies);
});
afterAll(() => service.stop());

/** The service's own reports, once. */
async function report(): Promise<void> {
  while (await reportGroup(reportWorld(), A.id, service.failures, service.unreached));
}
const reportWorld = () => ({
  newId: service.app.world.newId,
  db: service.db,
  at: service.gateway,
  master: service.world.master,
  log: service.log,
  random: () => 0.5,
  busy: () => false,
});

/** The AT hears of the document what these books would tell it next, and they do not know. */
async function tellElsewhere(id: string, over: Record<string, unknown> = {}): Promise<string> {
  const { rows: companies } = await service.owner.query(
    'select region, at_username, at_password_sealed, at_state from certo.companies where id = $1',
    [A.id],
  );
  const { rows } = await service.owner.query(`select ${toldColumns} from certo.documents d where d.id = $1`, [id]);
  const credentials = credentialsOf(companies[0], service.world.master)!;
  const outcome = await tell({ at: service.gateway, credentials, row: { ...rows[0], ...over }, region: 'PT' });
  return outcome.kind;
}

let restores = 0;
async function restored(): Promise<void> {
  restores += 1;
  await service.setClock(new Date(service.now().getTime() + 60_000));
  await service.owner.query(
    `insert into certo.restores (number, taken_at, written_by, digest, nothing_lost) values ($1, certo.now(), '1', sha256('x'), false)`,
    [restores],
  );
  await service.setClock(new Date(service.now().getTime() + 60_000));
}

const syncOf = async (path: string) => (await A.get<InvoiceJson>(path)).json.syncWithAt.status;
const canceledAt = () => ({ at_told: 'N', canceled_at: service.now() });

async function transport(): Promise<TransportJson> {
  return A.issueTransport(await A.transport());
}

test('what waited in the backup and was told since is there', async () => {
  const before = await transport();
  expect(await tellElsewhere(before.id)).toBe('done');
  await report();
  // Without a restore nobody else can have told it: a person looks.
  expect(await syncOf(`/transport-documents/${before.id}`)).toBe('REJECTED');
  const waiting = await transport();
  const invoice = await A.issue(await A.draft());
  expect([await tellElsewhere(waiting.id), await tellElsewhere(invoice.id)]).toEqual(['done', 'done']);
  await restored();
  await report();
  expect(await syncOf(`/transport-documents/${waiting.id}`)).toBe('ACCEPTED');
  expect(await syncOf(`/invoices/${invoice.id}`)).toBe('ACCEPTED');
});

test('what was cancelled since is cancelled again, and was so already', async () => {
  const [told, waiting, other] = [
    await A.issue(await A.draft()),
    await A.issue(await A.draft()),
    await A.issue(await A.draft()),
  ];
  const { rows } = await service.owner.query('select 1 from certo.documents where at_status = $1', ['PENDING']);
  expect(rows).toHaveLength(3);
  // One of them was told before the backup, of the other the backup knows neither.
  await tellElsewhere(waiting.id);
  await report();
  for (const { id } of [told, waiting]) expect(await tellElsewhere(id, canceledAt())).toBe('done');
  await restored();
  for (const { id } of [told, waiting, other]) {
    expect((await A.post(`/invoices/${id}/cancel`, {})).status).toBe(200);
  }
  await report();
  for (const { id } of [told, waiting, other]) expect(await syncOf(`/invoices/${id}`)).toBe('ACCEPTED');
  const later = await A.issue(await A.draft());
  await report();
  expect(await tellElsewhere(later.id, canceledAt())).toBe('done');
  await A.post(`/invoices/${later.id}/cancel`, {});
  await report();
  // Of one that was issued since the restore there are no other books.
  expect(await syncOf(`/invoices/${later.id}`)).toBe('REJECTED');
});

test('a pro forma of which the AT knows the other end goes to a person', async () => {
  const proposal = await A.proposal();
  const ended = await A.proposal();
  await report();
  expect(await tellElsewhere(proposal.id, { at_told: 'N', converted_at: service.now() })).toBe('done');
  // Of this one the backup knew how it ended.
  await A.post(`/proposals/${ended.id}/cancel`, {});
  expect(await tellElsewhere(ended.id)).toBe('done');
  await restored();
  expect((await A.post<ProposalJson>(`/proposals/${proposal.id}/cancel`, {})).status).toBe(200);
  await report();
  expect(await syncOf(`/proposals/${proposal.id}`)).toBe('REJECTED');
  expect(await syncOf(`/proposals/${ended.id}`)).toBe('ACCEPTED');
});
