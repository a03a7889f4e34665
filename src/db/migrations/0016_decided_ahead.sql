-- What is decided ahead of its transaction, on what was read before it, is written on condition that all of it still
-- stands. This stops the COMMIT when it does not.

set local role certo_owner;
set local search_path = certo, public;

create function changed_meanwhile() returns boolean language plpgsql as $$
begin
  raise exception 'something has changed since it was read' using errcode = 'CE003';
end $$;
grant execute on function changed_meanwhile() to certo_app;
