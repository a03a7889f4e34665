/** A new signing key while several processes issue: from its first document on, no process signs with an older one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkBooks } from '../../src/doors/clock/integrity.ts';
import { addSigningKey, listSigningKeys } from '../../src/keys/signing-keys.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let other: Awaited<ReturnType<Service['another']>>;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  A = service.companies.A;
  other = await service.another();
  await service.owner.query(
    `insert into certo.signing_keys (version, origin, public_pem, private_sealed) values (1, 'generated', $1, $2)`,
    [service.publicPem, service.world.master.seal('signing-key', Buffer.from('not read'))],
  );
});
afterAll(async () => {
  await other.stop();
  // Verifies all of it, with the keys that are published.
  await service.stop();
});

/** Issues a draft through a process; the version of the key that signed it. */
async function issuedBy(call: Service['call'], draft: InvoiceJson): Promise<number> {
  const body = { expectedUpdatedAt: draft.updatedAt };
  const answer = await call<InvoiceJson>('POST', `/invoices/${draft.id}/issue`, { key: A.key, body });
  expect(answer.status).toBe(200);
  return answer.json.signature!.keyVersion;
}

const versions = async (): Promise<number[]> => {
  const { rows } = await service.owner.query(
    `select key_version from certo.documents where type = 'INVOICE' and number is not null order by sequence`,
  );
  return rows.map((row) => Number(row.key_version));
};

test('both processes take it with their next document, and the older never comes behind the newer', async () => {
  expect(await issuedBy(service.call, await A.draft())).toBe(1);
  expect(await issuedBy(other.call, await A.draft())).toBe(1);
  const remembered = await A.draft();

  expect((await addSigningKey(service.owner, service.world.master)).version).toBe(2);
  expect(await issuedBy(other.call, await A.draft())).toBe(2);
  // Decided on what this process remembers of before.
  expect(await issuedBy(service.call, remembered)).toBe(2);

  const drafts = await Promise.all(Array.from({ length: 12 }, () => A.draft()));
  const rotated = addSigningKey(service.owner, service.world.master);
  await Promise.all(drafts.map((draft, i) => issuedBy(i % 2 === 0 ? service.call : other.call, draft)));
  await rotated;
  expect(await issuedBy(service.call, await A.draft())).toBe(3);
  expect(await issuedBy(other.call, await A.draft())).toBe(3);
  const all = await versions();
  expect(all).toEqual([...all].sort());
  expect(await service.findings()).toEqual([]);
});

test('what a new key signs while the books are checked is no finding', async () => {
  const found = await checkBooks({
    ...service.world,
    log: service.log,
    // The night's check of large books takes hours, in which the operator imports a key.
    async companyIds() {
      await addSigningKey(service.owner, service.world.master);
      await issuedBy(service.call, await A.draft());
      return [A.id];
    },
    publicKeys: () => listSigningKeys(service.owner),
  });
  expect(found).toBe(0);
  await issuedBy(other.call, await A.draft());
});

test('a process that remembers all it decides on takes it with its next document, though nobody else has numbered', async () => {
  const knowing = await service.another();
  const [{ id: customerId }, item] = [await A.customer(), await A.item()];
  const body = { type: 'INVOICE', cae: '62010', customerId, items: [{ id: item.id, quantity: 1 }] };
  const draft = async () => (await knowing.call<InvoiceJson>('POST', '/invoices', { key: A.key, body })).json;
  // The first takes the key that there is by now, the second reads where it stands, and the next needs neither.
  await issuedBy(knowing.call, await draft());
  const version = await issuedBy(knowing.call, await draft());
  const next = await draft();
  await addSigningKey(service.owner, service.world.master);
  expect(await issuedBy(knowing.call, next)).toBe(version + 1);
  await knowing.stop();
});
