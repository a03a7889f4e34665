-- An answer that says nothing but what an issued document froze is told again of it, instead of being kept beside it: of that
-- a claim keeps the address of the service at the time, which the links in it begin with (docs/decisions/0078-told-again.md).

set local role certo_owner;
set local search_path = certo, public;

alter table claims add column retold text;
alter table claims alter column retold set statistics 0;
grant update (retold) on claims to certo_app;
