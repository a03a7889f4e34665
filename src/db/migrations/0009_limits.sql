-- Limits: results of idempotency keys that are forgotten after 30 days, and counts that hold over all processes.

set local role certo_owner;
set local search_path = certo, public;

-- The results that are still kept, by age: what was forgotten leaves the index.
create index claims_results on claims (company_id, completed_at) where body is not null;

-- A key that was used stays used for ever: the service neither removes a claim nor binds it to another request.
revoke update, delete on claims from certo_app;
grant update (fence, lease_until, status, content_type, body, completed_at) on claims to certo_app;

-- Requests of the present minute, for the limits that are exact over all processes. One row per subject.
create table rates (
  company_id uuid not null references companies (id),
  subject text not null check (length(subject) between 1 and 200),
  minute timestamptz(3) not null,
  taken integer not null check (taken >= 0),
  primary key (company_id, subject)
) with (fillfactor = 50);
alter table rates enable row level security;
alter table rates force row level security;
create policy tenant on rates to certo_app
  using (company_id = (select certo.current_company())) with check (company_id = (select certo.current_company()));
create policy owner on rates to certo_owner using (true) with check (true);
grant select, insert, delete on rates to certo_app;
grant update (minute, taken) on rates to certo_app;

-- Counts one request of the company of this transaction, unless the minute is used up. The minute is read after the row
-- is locked, so it never goes back, whatever a request waited. Without a company nothing is counted: no row comes back.
create function take_rate(whose text, most integer)
returns table (used integer, exceeded boolean, seconds_left integer)
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  company constant uuid := certo.current_company();
  present timestamptz;
  known record;
begin
  if company is null then return; end if;
  -- Whoever is beyond the limit costs no write: a count of the present minute only grows.
  present := certo.now();
  select r.minute, r.taken into known from certo.rates r where r.company_id = company and r.subject = whose;
  if known.minute = date_trunc('minute', present, 'UTC') and known.taken >= most then
    return query select most, true, (60 - floor(extract(second from present)))::integer;
    return;
  end if;
  loop
    select r.minute, r.taken into known from certo.rates r
      where r.company_id = company and r.subject = whose for no key update;
    exit when found;
    insert into certo.rates (company_id, subject, minute, taken)
      values (company, whose, date_trunc('minute', certo.now(), 'UTC'), 0) on conflict do nothing;
  end loop;
  present := certo.now();
  if known.minute <> date_trunc('minute', present, 'UTC') then known.taken := 0; end if;
  exceeded := known.taken >= most;
  used := least(known.taken + 1, most);
  seconds_left := (60 - floor(extract(second from present)))::integer;
  if not exceeded then
    update certo.rates r set minute = date_trunc('minute', present, 'UTC'), taken = known.taken + 1
      where r.company_id = company and r.subject = whose;
  end if;
  return next;
end $$;
grant execute on function take_rate(text, integer) to certo_app;

-- For the clock door: companies with something to forget, and nothing else about them.
create function companies_to_forget(at_most integer)
returns setof uuid
language sql volatile security definer set search_path = certo, pg_temp as $$
  select c.id from companies c, (select certo.now() as now) present
    where exists (select from claims k where k.company_id = c.id and k.body is not null
        and k.completed_at <= present.now - interval '30 days')
      or exists (select from rates r where r.company_id = c.id and r.minute <= present.now - interval '1 day')
    limit at_most
$$;
revoke execute on function companies_to_forget(integer) from public;
grant execute on function companies_to_forget(integer) to certo_app;
