-- The first day of a series: what the AT was told when it was registered (dataInicioPrevUtiliz). No document of the series
-- is dated before it.

set local role certo_owner;
set local search_path = certo, public;

alter table series
  -- Null: registered before this migration, and not compared with the AT's record since. Then the day of `created_at` counts.
  add column start_date date;

-- As before; and a start that is known stays.
create or replace function freeze_series() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'a series can not be deleted' using errcode = 'CE001';
  end if;
  if (new.company_id, new.id, new.document_type, new.at_type, new.code, new.kind, new.start_number, new.cash_vat)
     is distinct from (old.company_id, old.id, old.document_type, old.at_type, old.code, old.kind, old.start_number, old.cash_vat)
     or (old.validation_code is not null and new.validation_code is distinct from old.validation_code)
     or (old.start_date is not null and new.start_date is distinct from old.start_date)
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
