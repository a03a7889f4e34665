-- The clock door asks often who has something to tell: it steps from company to company along the index of what waits, and
-- of each looks for one document that is due, however many wait behind it.

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
      where d.company_id = p.company_id and d.at_status = 'PENDING' and (d.at_next_at is null or d.at_next_at <= certo.now()))
    limit at_most
$$;
