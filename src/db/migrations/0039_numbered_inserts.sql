-- There is one way to number documents: drafts become the next documents of a series whose head moves in the same transaction.
-- Any other way of the service's role was only found by the check of the books; here the database refuses it
-- (docs/decisions/0095-numbered-with-the-head.md).

set local role certo_owner;
set local search_path = certo, public;

-- Every document begins as a draft, also those that are numbered in the same transaction. Every series begins empty.
create policy begin_as_drafts on documents as restrictive for insert to certo_app with check (number is null);
create policy begin_empty on series as restrictive for insert to certo_app
  with check (last_number = 0 and last_hash = '' and last_seal is null);

-- Once for each statement. Numbered rows keep their numbers (document_frozen), so a statement that found only such rows numbers
-- nothing. Of any other, the number has to lie within its series, which is active and was written by this very transaction: the
-- head moves first. The unique index sees to it that no number is given twice, and check_head that none is left out.
create function check_numbered() returns trigger language plpgsql as $$
begin
  if exists (select from before_it where number is null) and exists (
    select from after_it d where d.number is not null and not exists (
      select from certo.series s
      where s.company_id = d.company_id and s.id = d.series_id and s.status = 'ACTIVE' and s.xmin = pg_current_xact_id()::xid
        and d.sequence between s.start_number and s.last_number))
  then
    raise exception 'documents are numbered together with the head of their series' using errcode = 'CE001';
  end if;
  return null;
end $$;
create trigger document_numbered after update on documents referencing old table as before_it new table as after_it
  for each statement execute function check_numbered();

-- At COMMIT: there is a document for each number that the head has moved over, and the head tells of the last one.
create function check_head() returns trigger language plpgsql as $$
begin
  if (select count(*) = new.last_number - greatest(old.last_number, new.start_number - 1)
        and bool_or(d.sequence = new.last_number and d.hash = new.last_hash and d.seal = new.last_seal)
      from certo.documents d
      where d.company_id = new.company_id and d.series_id = new.id
        and d.sequence > old.last_number and d.sequence between new.start_number and new.last_number) is not true
  then
    raise exception 'the head of a series moves with its documents' using errcode = 'CE001';
  end if;
  return null;
end $$;
create constraint trigger series_moved after update of last_number on series deferrable initially deferred
  for each row execute function check_head();
