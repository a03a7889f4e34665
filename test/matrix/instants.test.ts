/**
 * What is one instant is read once. The clock of this file is never where it was: each look at it is a millisecond
 * later, so that two looks where one is meant show every time, and not once in some hundreds.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  A = service.companies.A;
  await service.owner.query(`
    create sequence certo.ticks;
    create or replace function certo.now() returns timestamptz
    language plpgsql volatile parallel safe security definer set search_path = pg_catalog, pg_temp as $$
    begin
      return date_trunc('milliseconds', clock_timestamp() + (select shift from certo.clock))
        + nextval('certo.ticks') * interval '1 millisecond';
    end $$`);
});
afterAll(() => service.stop());

const madeOnce = (made: { createdAt: string; updatedAt: string }) => expect(made.updatedAt).toBe(made.createdAt);

test('a new record was changed when it was made', async () => {
  madeOnce(await A.customer());
  madeOnce(await A.item());
  madeOnce(await A.draft());
  madeOnce(await A.transport());
});

test('so it is in every table that says both', async () => {
  const { rows } = await service.owner.query<{ name: string; otherwise: string | null; trigger: boolean }>(`
    select t.relname as name, pg_get_expr(d.adbin, d.adrelid) as otherwise,
      exists (select from pg_trigger g where g.tgrelid = t.oid and g.tgname = 'changed_when_made') as trigger
    from pg_class t
      join pg_attribute c on c.attrelid = t.oid and c.attname = 'created_at' and not c.attisdropped
      join pg_attribute u on u.attrelid = t.oid and u.attname = 'updated_at' and not u.attisdropped
      left join pg_attrdef d on d.adrelid = t.oid and d.adnum = u.attnum
    where t.relkind = 'r' and t.relnamespace = 'certo'::regnamespace`);
  expect(rows.length).toBeGreaterThanOrEqual(7);
  expect(rows.filter((row) => row.otherwise !== null || !row.trigger)).toEqual([]);
});
