-- A document has one original: whatever is printed of it besides says that it is not (Despacho 8632/2014). Each paper, template and
-- layout had one of its own.

set local role certo_owner;
set local search_path = certo, public;

-- Of what kind a print is the only one of its document: original; of transport documents also duplicate and triplicate, and
-- again with ".coded" once the AT's code stands on them. Null: there may be any number of its kind.
alter table renditions add column exemplar text;

-- Of several that were marked so the first is it, and the others are not given out any more. Prints without a seal are given to
-- nobody either; of recovered documents there is no original.
with marked as (
  select r.company_id, r.document_id, r.variant, r.created_at,
    split_part(r.variant, '.', 2) || case when r.variant || '.' like '%.coded.%' then '.coded' else '' end as exemplar
  from renditions r
  join documents d on d.company_id = r.company_id and d.id = r.document_id
  where r.seal is not null and not d.content ? 'recovered'
    and (split_part(r.variant, '.', 2) = 'original' or (d.family = 'TRANSPORT' and split_part(r.variant, '.', 2) = 'duplicate'))
)
update renditions r set exemplar = f.exemplar
from (select distinct on (company_id, document_id, exemplar) company_id, document_id, exemplar, variant
      from marked order by company_id, document_id, exemplar, created_at, variant) f
where r.company_id = f.company_id and r.document_id = f.document_id and r.variant = f.variant;

-- Who comes second when two are made at once finds it taken.
create unique index renditions_exemplar on renditions (company_id, document_id, exemplar) where exemplar is not null;
