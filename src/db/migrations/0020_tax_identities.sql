-- SAF-T tells a buyer as each document shows it, so a customer whose NIF was filled in between two documents is two records
-- there. Which of its identities a document shows has to be known of each, at any time and in any period.

set local role certo_owner;
set local search_path = certo, public;

alter table customers
  -- "999999990 PT", "501442600 PT": tax number and country as SAF-T tells them, in the order in which the customer had them
  -- since a document names it. Null: documents show one only.
  add column tax_identities text[];

with shown as (
  select d.company_id, d.customer_id as id, min(d.issued_at) as since,
    coalesce(nullif(d.customer_nif, ''), '999999990') || ' ' || coalesce(d.content->'customer'->>'country', '') as identity
  from documents d
  where d.number is not null and d.content->'customer'->'finalConsumer' is null
  group by d.company_id, d.customer_id, identity
), known as (
  select c.company_id, c.id, 'infinity'::timestamptz as since,
    coalesce(nullif(c.taxpayer_number, ''), '999999990') || ' ' || c.country as identity
  from customers c where c.used and not c.system
), identities as (
  select company_id, id, identity, min(since) as since
  from (select company_id, id, identity, since from shown union all select company_id, id, identity, since from known) x
  group by company_id, id, identity
)
update customers c set tax_identities = i.identities
from (select company_id, id, array_agg(identity order by since, identity) as identities from identities
      group by company_id, id having count(*) > 1) i
where c.company_id = i.company_id and c.id = i.id;
