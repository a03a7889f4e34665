-- A new row was changed when it was made: one instant in both columns. Each default would read the clock anew, and
-- certo.now() moves, so that one row in some hundreds said that it was changed a millisecond after it was made.

set local role certo_owner;
set local search_path = certo, public;

create function changed_when_made() returns trigger language plpgsql as $$
begin
  new.updated_at := new.created_at;
  return new;
end $$;

do $$
declare
  made text;
begin
  foreach made in array array['companies', 'customers', 'items', 'series', 'documents', 'templates', 'imported_documents'] loop
    execute format('alter table %I alter column updated_at drop default', made);
    execute format('create trigger changed_when_made before insert on %I for each row when (new.updated_at is null)
                    execute function changed_when_made()', made);
  end loop;
end $$;
