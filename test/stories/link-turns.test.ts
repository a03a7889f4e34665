/** Links to files have no credential: whoever opens many of them leaves connections of the database to all others. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { entryOfLink } from '../../src/identity/principal.ts';
import { readFile } from '../../src/operations/rendition.ts';
import { eventually } from '../eventually.ts';
import { type Service, startService } from '../service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
});
afterAll(() => service.stop());

test('however slow the files of one company are to read, another company is answered', async () => {
  const { A, B } = service.companies;
  const { id } = await A.issue(await A.draft());
  const { url } = (await A.get<{ url: string }>(`/invoices/${id}/pdf`)).json;
  const holder = await service.owner.connect();
  try {
    await holder.query('begin; lock table certo.renditions in access exclusive mode');
    const opened = Array.from({ length: 60 }, () => service.open(url));
    const waiting = `select count(*)::int as n from pg_locks where not granted and relation = 'certo.renditions'::regclass`;
    await eventually(async () => expect((await service.owner.query<{ n: number }>(waiting)).rows[0]!.n).toBe(3));
    const draft = await B.draft();
    expect((await B.get(`/invoices/${draft.id}`)).status).toBe(200);
    await holder.query('commit');
    for (const { status } of await Promise.all(opened)) expect(status).toBe(200);
  } finally {
    holder.release(true);
  }
});

test('of a link that is over the file is not read', async () => {
  const { A } = service.companies;
  const { id } = await A.issue(await A.draft());
  const { url } = (await A.get<{ url: string }>(`/invoices/${id}/pdf`)).json;
  const variant = /\/([^/?]+)\?/.exec(url)![1]!;
  const tx = service.db.read(entryOfLink(A.id));
  const { now, bytes } = (await readFile(tx, id, variant, new Date(8e12)))!;
  expect(bytes).toBeInstanceOf(Buffer);
  expect(await readFile(tx, id, variant, now as Date)).toMatchObject({ bytes: null, seal: null });
});
