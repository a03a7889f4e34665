-- A key that was revoked stays revoked: the service's role may set the instant, and could have taken it back.

set local role certo_owner;
set local search_path = certo, public;

create function keep_revoked() returns trigger language plpgsql as $$
begin
  raise exception 'a revoked API key can not be changed' using errcode = 'CE001';
end $$;

create trigger revoked_for_ever before update on api_keys for each row when (old.revoked_at is not null) execute function keep_revoked();
