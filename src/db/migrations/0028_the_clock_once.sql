-- "Is it due?" is asked of every document that waits and every company, and reading the clock takes longer than the row:
-- 2.3 s for a hundred thousand documents that wait for an AT that does not answer, several times in ten seconds.

set local role certo_owner;
set local search_path = certo, public;

create or replace function companies_to_report(at_most integer)
returns setof uuid
language sql stable security definer set search_path = certo, pg_temp as $$
  with recursive pending as (
    (select company_id from documents where at_status = 'PENDING' order by company_id limit 1)
    union all
    select (select d.company_id from documents d where d.at_status = 'PENDING' and d.company_id > p.company_id order by d.company_id limit 1)
    from pending p where p.company_id is not null)
  select c.id from pending p join companies c on c.id = p.company_id
    where c.at_state in ('NEW', 'OK') and exists (
      select from documents d
      where d.company_id = p.company_id and d.at_status = 'PENDING' and (d.at_next_at is null or d.at_next_at <= (select certo.now())))
    limit at_most
$$;

create or replace function companies_to_sync(at_most integer)
returns setof uuid
language sql stable security definer set search_path = certo, pg_temp as $$
  select id from companies where at_state in ('NEW', 'OK') and at_sync_next_at <= (select certo.now())
    order by at_sync_next_at limit at_most
$$;

-- What a recurring invoice has issued is asked for by its template; no other document is in it.
create index documents_of_template on documents (company_id, schedule_template_id, created_at, id)
  where schedule_template_id is not null;
