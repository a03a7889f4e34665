-- What the planner is told of companies (0012), corrected. That a company may own a whole table made it read through the
-- series of ten thousand companies for those of one: reading everything looked as good as an index. Told the truth, on
-- the other hand, it expects a handful of rows of a large company among small ones, and takes any index that begins with
-- the company for as good as the primary key. A twentieth is neither: enough rows that the right index is worth it, and
-- few enough that an index is.

set local role certo_owner;
set local search_path = certo, public;

do $$
declare
  t record;
begin
  for t in
    select c.relname as name from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'certo' and c.relkind = 'r' and a.attname = 'company_id' and not a.attisdropped
  loop
    execute format('alter table certo.%I alter column company_id set (n_distinct = 20)', t.name);
  end loop;
end $$;
alter table claims alter column scope set (n_distinct = 20);
