-- What the tax authority refused is few, and was looked for among all documents: by the operator, and for the figures each time
-- they are read.

set local role certo_owner;
set local search_path = certo, public;

create index documents_refused on documents (company_id, issued_at, sequence) where at_status = 'REJECTED';
