-- Where a type has an active series of the normal kind, one of them is its default, with and without the cash VAT scheme.

set local role certo_owner;
set local search_path = certo, public;

-- Types whose default has ended, with another one active beside it: no command could make that the default.
update series s set is_default = true, updated_at = certo.now()
from (
  select distinct on (company_id, document_type, cash_vat) company_id, id
  from series n
  where n.status = 'ACTIVE' and n.kind = 'N'
    and not exists (select from series o where o.company_id = n.company_id and o.document_type = n.document_type
      and o.cash_vat = n.cash_vat and o.is_default)
  order by company_id, document_type, cash_vat, created_at desc, id desc
) newest
where s.company_id = newest.company_id and s.id = newest.id;

-- Who waited for the lock of a default that was passed on meanwhile has found none: as a failure that is tried again from the
-- first statement (serialization_failure).
create function default_moved() returns boolean language plpgsql as $$
begin
  raise exception 'another series has become the default' using errcode = '40001';
end $$;
grant execute on function default_moved() to certo_app;
