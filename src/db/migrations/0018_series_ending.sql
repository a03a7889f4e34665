-- Ending a series: numbering in it stops, committed, before the AT is told, and goes on only when it is known that the AT
-- did not end it. In between it is ENDING, which nothing takes for ACTIVE.

set local role certo_owner;
set local search_path = certo, public;

alter table series
  -- It was the default when it stopped, and is again if the AT refuses and nothing took its place.
  add column was_default boolean not null default false,
  -- When the AT was told last to end it, without a known answer.
  add column end_told_at timestamptz(3);

create or replace function is_sound(s series) returns boolean language plpgsql immutable parallel safe as $$
begin
  return s.status in ('PENDING', 'ACTIVE', 'ENDING', 'FINALIZED', 'ANNULLED', 'CLOSED')
    and s.kind in ('N', 'F', 'R')
    and length(s.code) between 1 and 35
    and s.start_number >= 1
    and s.last_number >= 0
    and (s.status not in ('ACTIVE', 'ENDING') or s.validation_code is not null)
    and (s.status = 'CLOSED') = (s.closed_by is not null)
    and (s.status not in ('ENDING', 'CLOSED') or not s.is_default)
    and (s.status not in ('PENDING', 'ACTIVE') or (not s.was_default and s.end_told_at is null))
    and (not s.is_default or s.kind = 'N')
    and (not s.cash_vat or s.at_type in ('FT', 'FS', 'FR', 'ND', 'NC', 'RC'))
    and (s.at_type = 'RC') = (s.cash_vat and s.document_type = 'RECEIPT')
    and num_nonnulls(s.last_seal, s.head_seal) <> 1
    and length(s.last_seal) = 32
    and length(s.head_seal) = 32;
end $$;

-- As before; and the number that the AT is told as the last one stays the last one until the AT has refused.
create or replace function freeze_series() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'a series can not be deleted' using errcode = 'CE001';
  end if;
  if (new.company_id, new.id, new.document_type, new.at_type, new.code, new.kind, new.start_number)
     is distinct from (old.company_id, old.id, old.document_type, old.at_type, old.code, old.kind, old.start_number)
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
     or (old.status in ('FINALIZED', 'ANNULLED') and new.status <> old.status)
     or (old.status in ('ENDING', 'FINALIZED', 'ANNULLED') and new.last_number <> old.last_number) then
    raise exception 'a series can only move forward' using errcode = 'CE001';
  end if;
  return new;
end $$;
