-- What is searched for in the notes of documents, in customers and in items is found by its grams too, as it is in documents
-- (0011_lists.sql): to read every row for what few contain took half a second of a hundred thousand customers, and a second
-- and a half of a million documents.

set local role certo_owner;
set local search_path = certo, public;

-- Notes of numbered documents that have some, written with their words. A table of its own: most notes say the same, and what
-- is searched for in a million documents must not be looked up in a million equal notes.
create table document_note_words (
  company_id uuid not null,
  -- The document's, without a foreign key as in document_words.
  id uuid not null,
  words text not null,
  primary key (company_id, id)
);
alter table document_note_words enable row level security;
alter table document_note_words force row level security;
create policy tenant on document_note_words to certo_app
  using (company_id = certo.current_company()) with check (company_id = certo.current_company());
create policy owner on document_note_words to certo_owner using (true) with check (true);
grant select, insert on document_note_words to certo_app;
alter table document_note_words alter column company_id set (n_distinct = 20);

insert into document_note_words (company_id, id, words)
  select d.company_id, d.id, fold(d.notes) from searched_series u
    join documents d on d.company_id = u.company_id and d.series_id = u.series_id and d.sequence <= u.up_to
  where d.notes is not null and d.family in ('SALES', 'RECEIPT');

create index document_note_words_grams on document_note_words using gin (company_id, grams_of(words))
  with (gin_pending_list_limit = 512);

-- What is searched in records of masters (operations/customers, operations/items).
create function words_of_customer(shown_name text, company_name text, taxpayer_number text, email text) returns text
language sql immutable parallel safe
  return fold(concat_ws(e'\n', shown_name, company_name, taxpayer_number, email));
create function words_of_item(name text, description text) returns text
language sql immutable parallel safe
  return fold(concat_ws(e'\n', name, description));

create index customers_grams on customers
  using gin (company_id, grams_of(words_of_customer(shown_name, company_name, taxpayer_number, email)))
  with (gin_pending_list_limit = 512);
create index items_grams on items using gin (company_id, grams_of(words_of_item(name, description)))
  with (gin_pending_list_limit = 512);

-- A program that knows a customer by its NIF asks for that one before each invoice.
create index customers_by_nif on customers (company_id, taxpayer_number) where taxpayer_number is not null;

-- Nobody plans by them, and ANALYZE would compute the grams of thirty thousand rows.
alter table document_note_words alter column words set statistics 0;
alter index document_note_words_grams alter column 2 set statistics 0;
alter index customers_grams alter column 2 set statistics 0;
alter index items_grams alter column 2 set statistics 0;

-- Rows of this company whose words contain what is sought, by the index of their grams; see documents_with in 0011_lists.sql,
-- which does so from here on too. For the functions below alone: `relation` and `words` are SQL.
create function rows_with(relation text, words text, sought text) returns setof uuid
language plpgsql stable set search_path = certo, pg_temp set enable_seqscan = off set work_mem = '32MB' as $$
begin
  if fold(sought) = '' then
    return query execute format('select r.id from %s r where r.company_id = $1', relation) using certo.current_company();
  else
    return query execute
      format('select r.id from %1$s r where r.company_id = $1 and certo.grams_of(%2$s) @@ $2 and %2$s like $3', relation, words)
      using certo.current_company(), query_of(fold(sought)), pattern_of(sought);
  end if;
end $$;
revoke execute on function rows_with(text, text, text) from public;

create or replace function documents_with(sought text) returns setof uuid
language sql stable security definer set search_path = certo, pg_temp
as $$ select rows_with('certo.document_words', 'r.words', sought) $$;
create function documents_noting(sought text) returns setof uuid
language sql stable security definer set search_path = certo, pg_temp
-- Nothing is contained in the notes of every document, even in none.
as $$ select rows_with(case when fold(sought) = '' then 'certo.documents' else 'certo.document_note_words' end, 'r.words', sought) $$;
create function customers_with(sought text) returns setof uuid
language sql stable security definer set search_path = certo, pg_temp
as $$ select rows_with('certo.customers',
  'certo.words_of_customer(r.shown_name, r.company_name, r.taxpayer_number, r.email)', sought) $$;
create function items_with(sought text) returns setof uuid
language sql stable security definer set search_path = certo, pg_temp
as $$ select rows_with('certo.items', 'certo.words_of_item(r.name, r.description)', sought) $$;
revoke execute on function documents_noting(text), customers_with(text), items_with(text) from public;
grant execute on function documents_noting(text), customers_with(text), items_with(text),
  words_of_customer(text, text, text, text), words_of_item(text, text) to certo_app;
