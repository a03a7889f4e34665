-- Restores: each is counted and dated (DL 28/2019), and says what became of the series in use.

set local role certo_owner;
set local search_path = certo, public;

-- Append-only. It travels with the backup, so that a copy of a copy still tells.
create table restores (
  number integer primary key check (number >= 1),
  restored_at timestamptz(3) not null default certo.now(),
  -- The instant that the backup shows, which Certo wrote it, and the SHA-256 of its content.
  taken_at timestamptz(3) not null,
  written_by text not null,
  digest bytea not null check (length(digest) = 32),
  -- The operator's word that nothing was issued after the backup: series stay open.
  nothing_lost boolean not null
);

create function freeze_restores() returns trigger language plpgsql as $$
begin
  raise exception 'a restore stays on record' using errcode = 'CE001';
end $$;
create trigger restores_frozen before update or delete on restores for each row execute function freeze_restores();
create trigger restores_kept before truncate on restores for each statement execute function freeze_restores();
grant select on restores to certo_app;

alter table series
  -- The restore that closed it: documents may have been issued in it that are lost, so its last number is not known here
  -- and nothing more is numbered in it.
  add column closed_by integer references restores (number),
  drop constraint series_status_check,
  add constraint series_status_check check (status in ('PENDING', 'ACTIVE', 'FINALIZED', 'ANNULLED', 'CLOSED')),
  add check ((status = 'CLOSED') = (closed_by is not null)),
  add check (status <> 'CLOSED' or not is_default);

-- What a restore has closed stays closed.
create trigger series_closed before update on series for each row
  when (old.status = 'CLOSED' and (new.status <> old.status or new.last_number <> old.last_number
    or new.closed_by is distinct from old.closed_by))
  execute function freeze_series_scheme();
