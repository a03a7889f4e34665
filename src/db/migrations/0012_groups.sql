-- What a group of documents costs the server.

set local role certo_owner;
set local search_path = certo, public;

-- The results of requests are a data address of base64 for the larger part: trying to compress them takes longer than
-- writing them, and they are dropped after 30 days.
alter table claims alter column body set storage external;

-- As before, but called for numbered rows only, and comparing the bytes of rows instead of their JSON. A column that is
-- not named here is frozen.
create or replace function freeze_document() returns trigger language plpgsql as $$
declare
  still documents := new;
begin
  if tg_op = 'DELETE' then
    raise exception 'an issued document can not be deleted' using errcode = 'CE001';
  end if;
  still.status := old.status;
  still.updated_at := old.updated_at;
  still.outstanding := old.outstanding;
  still.credited := old.credited;
  still.canceled_at := old.canceled_at;
  still.canceled_by := old.canceled_by;
  still.cancel_reason := old.cancel_reason;
  still.at_status := old.at_status;
  still.at_code := old.at_code;
  still.at_message := old.at_message;
  still.at_told := old.at_told;
  still.at_doc_code := old.at_doc_code;
  still.converted_at := old.converted_at;
  still.hidden_at := old.hidden_at;
  still.state_seal := old.state_seal;
  -- What is not of the books: the outbox, and the place of the next event.
  still.at_attempts := old.at_attempts;
  still.at_next_at := old.at_next_at;
  still.at_lease := old.at_lease;
  still.at_problem := old.at_problem;
  still.last_event := old.last_event;
  if still *<> old then
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
drop trigger document_frozen on documents;
create trigger document_frozen before update or delete on documents for each row when (old.number is not null)
  execute function freeze_document();

-- What the planner is told of companies, so that finding one document never reads all of its company.
--
-- Policies say what the statements say, word for word: two different conditions on company_id would be taken for
-- independent, and one row would be expected where a company has thousands. Then any index that begins with the company
-- looks as good as the primary key.
do $$
declare
  policy record;
begin
  for policy in
    select c.relname as name, case when c.relname = 'companies' then 'id' else 'company_id' end as company
    from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'certo' and p.polname = 'tenant'
  loop
    execute format(
      'alter policy tenant on certo.%I using (%s = certo.current_company()) with check (%s = certo.current_company())',
      policy.name, policy.company, policy.company);
  end loop;
end $$;
-- Of a company that is not among the largest it has to expect that everything is its own.
do $$
declare
  t record;
begin
  for t in
    select c.relname as name from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'certo' and c.relkind = 'r' and a.attname = 'company_id' and not a.attisdropped
  loop
    execute format('alter table certo.%I alter column company_id set (n_distinct = 1)', t.name);
  end loop;
end $$;
alter table claims alter column scope set (n_distinct = 1);
