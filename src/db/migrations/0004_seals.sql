-- Books that prove themselves. Frozen columns are sealed with a keyed HMAC, chained per series; each later change is an
-- event, sealed and chained per document; and the end of each chain has a seal of its own, which stands nowhere else, so
-- that what was cut off at the end is missed too. The key is outside the database.

set local role certo_owner;
set local search_path = certo, public;

do $$
begin
  if exists (select from documents where number is not null) then
    raise exception 'this database holds documents that were numbered without seals, by a version that was never released: start with a new database';
  end if;
end $$;

alter table documents
  -- HMAC over every frozen column and the seal of the document before it in the series.
  add column seal bytea,
  -- The columns that move, as they were when it was issued.
  add column issued_state jsonb,
  -- How many events followed, and the seal of that end.
  add column last_event integer not null default 0 check (last_event >= 0),
  add column state_seal bytea,
  -- Why the AT has not been told yet. Not of the books: tried again, it changes without an event.
  add column at_problem text,
  add check (num_nonnulls(seal, issued_state, state_seal) = case when number is null then 0 else 3 end),
  add check (length(seal) = 32 and length(state_seal) = 32),
  add check (number is not null or last_event = 0);
alter table series
  -- The last document's: what the next one is sealed after. Null before the first.
  add column last_seal bytea check (length(last_seal) = 32),
  -- The seal of this end: what the series is, its last number and last_seal.
  add column head_seal bytea check (length(head_seal) = 32),
  add check (num_nonnulls(last_seal, head_seal) <> 1);

-- What happened to a numbered document; append-only.
create table document_events (
  company_id uuid not null,
  document_id uuid not null,
  sequence integer not null check (sequence >= 1),
  at timestamptz(3) not null,
  kind text not null check (kind ~ '^[A-Z_]+$'),
  -- The columns of `documents` that changed, with their new values.
  changes jsonb not null,
  -- HMAC over all of it and the document's state_seal before it.
  seal bytea not null check (length(seal) = 32),
  primary key (company_id, document_id, sequence),
  foreign key (company_id, document_id) references documents (company_id, id)
);

-- What a check of the books found. While one is not resolved, the company issues nothing.
create table integrity_breaks (
  company_id uuid not null references companies (id),
  id uuid not null,
  -- Digest of what was found exactly: a resolution covers this and nothing else.
  evidence bytea not null check (length(evidence) = 32),
  found_at timestamptz(3) not null default certo.now(),
  series text not null,
  document_type text not null,
  -- Null: it concerns the series.
  number text,
  problem text not null,
  resolved_at timestamptz(3),
  resolution text check (length(resolution) between 1 and 2000),
  primary key (company_id, id),
  unique (company_id, evidence),
  check (num_nonnulls(resolved_at, resolution) <> 1)
);
create index integrity_breaks_open on integrity_breaks (company_id) where resolved_at is null;

do $$
declare
  t text;
begin
  foreach t in array array['document_events', 'integrity_breaks'] loop
    execute format('alter table certo.%I enable row level security', t);
    execute format('alter table certo.%I force row level security', t);
    execute format('create policy tenant on certo.%I to certo_app using (company_id = (select certo.current_company())) with check (company_id = (select certo.current_company()))', t);
    execute format('create policy owner on certo.%I to certo_owner using (true) with check (true)', t);
    execute format('grant select, insert on certo.%I to certo_app', t);
  end loop;
end $$;

create function freeze_events() returns trigger language plpgsql as $$
begin
  raise exception 'what happened to a document can not be changed' using errcode = 'CE001';
end $$;
create trigger events_frozen before update or delete on document_events for each row execute function freeze_events();
create trigger events_kept before truncate on document_events for each statement execute function freeze_events();

create function freeze_breaks() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or old.resolved_at is not null
     or to_jsonb(new) - '{resolved_at,resolution}'::text[] is distinct from to_jsonb(old) - '{resolved_at,resolution}'::text[] then
    raise exception 'what a check found can only be resolved, once' using errcode = 'CE001';
  end if;
  return new;
end $$;
create trigger breaks_frozen before update or delete on integrity_breaks for each row execute function freeze_breaks();

-- What is issued is frozen: after that only the named columns may change (Despacho 8632/2014, 2.6; DL 28/2019).
create or replace function freeze_document() returns trigger language plpgsql as $$
declare
  moving constant text[] := '{status,updated_at,outstanding,credited,canceled_at,canceled_by,cancel_reason,at_status,at_code,at_message,at_attempts,at_next_at,at_lease,at_told,at_doc_code,converted_at,hidden_at,last_event,state_seal,at_problem}';
begin
  if old.number is null then
    -- What a BEFORE DELETE trigger returns for a draft must not be null: null silently keeps the row.
    return case when tg_op = 'DELETE' then old else new end;
  end if;
  if tg_op = 'DELETE' then
    raise exception 'an issued document can not be deleted' using errcode = 'CE001';
  end if;
  if (to_jsonb(new) - moving) is distinct from (to_jsonb(old) - moving) then
    raise exception 'an issued document can not be changed' using errcode = 'CE001';
  end if;
  -- Each of these happens once and is not taken back.
  if (old.at_doc_code is not null and new.at_doc_code is distinct from old.at_doc_code)
     or (old.converted_at is not null and new.converted_at is distinct from old.converted_at)
     or (old.hidden_at is not null and new.hidden_at is distinct from old.hidden_at) then
    raise exception 'what was told of an issued document can not be changed' using errcode = 'CE001';
  end if;
  if not (
    new.status = old.status
    or (old.status = 'ISSUED' and new.status in ('PAID', 'CANCELED'))
    or (old.status = 'PAID' and new.status in ('ISSUED', 'CANCELED'))
  ) then
    raise exception 'an issued document can not go from % to %', old.status, new.status using errcode = 'CE001';
  end if;
  -- What moves and belongs to the books moves with one event, and only then.
  if (new.status, new.updated_at, new.outstanding, new.credited, new.canceled_at, new.canceled_by, new.cancel_reason,
      new.at_status, new.at_code, new.at_message, new.at_told, new.at_doc_code, new.converted_at, new.hidden_at, new.state_seal)
     is distinct from
     (old.status, old.updated_at, old.outstanding, old.credited, old.canceled_at, old.canceled_by, old.cancel_reason,
      old.at_status, old.at_code, old.at_message, old.at_told, old.at_doc_code, old.converted_at, old.hidden_at, old.state_seal)
     and (new.last_event <> old.last_event + 1 or new.state_seal = old.state_seal)
     or (new.last_event <> old.last_event and new.state_seal = old.state_seal) then
    raise exception 'an issued document changes with an event' using errcode = 'CE001';
  end if;
  return new;
end $$;

-- A series head only moves forward, and what was registered stays (series and ATCUD rules).
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
     or (old.status in ('FINALIZED', 'ANNULLED') and (new.status <> old.status or new.last_number <> old.last_number)) then
    raise exception 'a series can only move forward' using errcode = 'CE001';
  end if;
  return new;
end $$;

-- Of a company the service writes what it learns of the AT. Everything else is the operator's.
revoke update on companies from certo_app;
grant update (at_state, at_synced_at, at_series_differ, updated_at) on companies to certo_app;
