-- Names are sorted as they are searched, without case and accents: "Álvaro" stands beside "Alvaro", not behind "Zé".

set local role certo_owner;
set local search_path = certo, public;

create index customers_by_name on customers (company_id, fold(shown_name), id);
create index items_by_name on items (company_id, fold(name), id);
