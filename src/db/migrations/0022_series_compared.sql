-- Series are compared with the AT's again: daily, and sooner while they differ or the AT gives no answer. When is written
-- down, so that any number of processes ask once between them, and nobody is passed by for those who never get an answer.

set local role certo_owner;
set local search_path = certo, public;

alter table companies
  -- When the AT is asked for the company's series. Whoever asks puts it off first, for as long as the question may take.
  add column at_sync_next_at timestamptz(3) not null default certo.now(),
  -- How often in a row it was asked without their being the same.
  add column at_sync_tries integer not null default 0;
grant update (at_sync_next_at, at_sync_tries) on companies to certo_app;

create index companies_by_sync on companies (at_sync_next_at) where at_state in ('NEW', 'OK');

-- For the clock door: companies whose series are to be compared with the AT's, who has waited longest first.
create or replace function companies_to_sync(at_most integer)
returns setof uuid
language sql stable security definer set search_path = certo, pg_temp as $$
  select id from companies where at_state in ('NEW', 'OK') and at_sync_next_at <= certo.now()
    order by at_sync_next_at limit at_most
$$;
