-- What a group of documents costs before and beside its rows: others wait for it, since a series is numbered by one group
-- after the other (docs/decisions/0089-less-for-each-group.md).

set local role certo_owner;
set local search_path = certo, public;

-- Looked up and locked once more for each document, in the transaction that has just moved its series: a seventh of what
-- writing a document took. The statements that number name a series that is there, or nothing is written; no series is ever
-- deleted, and the check of the books finds a document without one.
alter table documents drop constraint documents_company_id_series_id_fkey;

-- The same without a search path of its own, which takes longer to set and reset than to look up the key: whatever stands
-- here says where it is.
create or replace function enter_key(key_hash bytea)
returns table (key_id uuid, lineage uuid, company_id uuid, region text)
language plpgsql volatile security definer as $$
declare
  -- Assigned rather than performed, which would be a query each time.
  was_set text;
begin
  select k.id, k.lineage, k.company_id, c.region
    into enter_key.key_id, enter_key.lineage, enter_key.company_id, enter_key.region
    from certo.api_keys k join certo.companies c on c.id operator(pg_catalog.=) k.company_id
    where k.hash operator(pg_catalog.=) key_hash and k.revoked_at is null;
  if found then
    was_set := pg_catalog.set_config('app.company_id', enter_key.company_id::pg_catalog.text, true);
    -- Idempotency keys are scoped to the lineage: the claim reads it in the same round trip.
    was_set := pg_catalog.set_config('app.scope', pg_catalog.concat('key:', enter_key.lineage), true);
    return next;
  else
    was_set := pg_catalog.set_config('app.company_id', '', true);
    was_set := pg_catalog.set_config('app.scope', '', true);
  end if;
end $$;

-- All that stays of a series, in one trigger instead of three: the conditions of a trigger are read and compiled anew in every
-- statement. What is refused is the same.
create or replace function freeze_series() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'a series can not be deleted' using errcode = 'CE001';
  end if;
  if (new.company_id, new.id, new.document_type, new.at_type, new.code, new.kind, new.start_number, new.cash_vat)
     is distinct from (old.company_id, old.id, old.document_type, old.at_type, old.code, old.kind, old.start_number, old.cash_vat)
     or (old.validation_code is not null and new.validation_code is distinct from old.validation_code)
     or new.last_number < old.last_number
     or new.last_date < old.last_date
     or new.last_system_entry < old.last_system_entry
     -- A comparison with null is no refusal: what was known may not be forgotten either.
     or num_nonnulls(new.last_date, new.last_system_entry) < num_nonnulls(old.last_date, old.last_system_entry)
     or (new.last_number = old.last_number
         and (new.last_hash, new.last_seal, new.head_seal, new.last_issued_at)
           is distinct from (old.last_hash, old.last_seal, old.head_seal, old.last_issued_at))
     or (new.last_number <> old.last_number and (new.last_seal is not distinct from old.last_seal or new.head_seal is not distinct from old.head_seal))
     or (old.status in ('FINALIZED', 'ANNULLED', 'CLOSED') and new.status <> old.status)
     -- What a restore has closed stays closed, by it.
     or (old.status = 'CLOSED' and new.closed_by is distinct from old.closed_by)
     or (old.status in ('ENDING', 'FINALIZED', 'ANNULLED', 'CLOSED') and new.last_number <> old.last_number) then
    raise exception 'a series can only move forward' using errcode = 'CE001';
  end if;
  return new;
end $$;
drop trigger series_scheme_frozen on series;
drop trigger series_closed on series;
drop function freeze_series_scheme();
