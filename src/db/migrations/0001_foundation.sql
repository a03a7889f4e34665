-- Foundation: the schema, its clock, and the reach of a transaction. Roles are made before, by roles.sql.
--
-- Files in this folder are append-only: what was released is never edited. Each runs as one step of a transaction.
--
-- Conventions for tenant tables (all that hold rows of a company):
--   * primary key (company_id, id); composite foreign keys (company_id, …); company_id first in each index and each
--     unique constraint, so that tables can be partitioned or distributed by company without a rewrite;
--   * alter table t enable row level security; alter table t force row level security;
--     create policy tenant on t to certo_app
--       using (company_id = (select certo.current_company())) with check (company_id = (select certo.current_company()));
--     create policy owner on t to certo_owner using (true) with check (true);
--     The scalar subquery is evaluated once per statement and can use the index; a bare call is made for each row;
--   * instants are timestamptz(3), from certo.now(); calendar dates are date; amounts are numeric or exact text;
--   * certo_app gets what is granted by name, and nothing by default. No TRUNCATE (it ignores row-level security).

set local role certo_owner;

create schema if not exists certo;
set local search_path = certo, public;

-- PUBLIC would get EXECUTE on each new function: with security definer functions that is a hole, so it is taken away
-- before there is one. (Global, not "in schema": a schema's default privileges only add.)
alter default privileges revoke execute on functions from public;
alter default privileges revoke usage on types from public;
grant usage on schema certo to certo_app;

-- Search: trigrams together with company_id in one GIN index. Both are trusted, so no superuser is needed.
create extension if not exists pg_trgm with schema certo;
create extension if not exists btree_gin with schema certo;

-- The clock of all SQL is the server's, moved by `shift`. Only certo_owner can write here: tests do; production refuses
-- to start unless it is zero. Fiscal time is the database's, so every process agrees on it.
create table clock (
  only_row boolean primary key default true check (only_row),
  shift interval not null default '0'
);
insert into clock default values;

-- The present, in whole milliseconds, since a JavaScript Date has no more. It moves during a transaction and during a
-- statement (volatile): for one instant in several places, or for an indexed comparison, write (select certo.now()).
create function certo.now() returns timestamptz
language plpgsql volatile parallel safe security definer set search_path = pg_catalog, pg_temp as $$
begin
  return date_trunc('milliseconds', clock_timestamp() + (select shift from certo.clock));
end $$;

-- The company this transaction reaches: null when it entered none, and then policies show nothing.
create function current_company() returns uuid
language sql stable parallel safe as $$
  select nullif(current_setting('app.company_id', true), '')::uuid
$$;

-- Sets the reach until the end of the transaction; null takes it away. Returns it.
create function enter_company(company uuid) returns uuid
language sql volatile as $$
  select nullif(set_config('app.company_id', coalesce(company::text, ''), true), '')::uuid
$$;

-- Qualified: now() alone is pg_catalog's, whatever the search path.
grant execute on function certo.now(), current_company(), enter_company(uuid) to certo_app;
