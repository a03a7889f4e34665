-- Lists of a company with very many documents: orders that an index gives, filters that an index answers without the
-- wide rows, and the words that `search` looks through, with an index of their grams.

set local role certo_owner;
set local search_path = certo, public;

-- Indexes run upwards and are read backwards: what is made later comes at the end, where a page is left full when it is
-- split. Downwards it comes at the beginning, and every page stays half empty.

-- GET /invoices in its default order. The predicate is what the list always asks for; the columns beside the key are what
-- it filters and sorts by: a rare filter, a deep offset or an order without an index of its own reads this and not rows of
-- some kilobytes.
create index documents_listed on documents (company_id, created_at, id)
  include (type, status, date, due_date, updated_at, gross, outstanding, currency, sequence, number)
  where family in ('SALES', 'RECEIPT') and status <> 'SCHEDULED';
drop index documents_by_creation;

-- Read backwards, what has no date comes last.
create index documents_dated on documents (company_id, date nulls first, id) include (family, status);
drop index documents_by_date;

drop index documents_by_movement;
create index documents_by_movement on documents (company_id, movement_start nulls first, id) where family = 'TRANSPORT';

-- Few among many: none of these costs an ordinary invoice anything once it is issued.
create index documents_unnumbered on documents (company_id, created_at, id) where number is null;
create index documents_canceled on documents (company_id, created_at, id) where status = 'CANCELED';
create index documents_notes on documents (company_id, type, created_at, id)
  where type in ('CREDIT_NOTE', 'DEBIT_NOTE');

-- An index alone answers only for pages that VACUUM has seen: at the default, a fifth of a million rows would not be.
alter table documents set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);

-- What `search` looks through, of numbered documents only: it can't change any more. Derived data, written by the clock
-- door after the issue: a document that is not here yet is found by its own columns.
create table document_words (
  company_id uuid not null,
  -- The document's. No foreign key: its check would lock, and so write, every document once more.
  id uuid not null,
  -- 0: what the document says. 1: the code that the AT gave it later.
  part smallint not null check (part in (0, 1)),
  -- Folded, a line for each column; what is searched for never has a line break.
  words text not null,
  primary key (company_id, id, part)
);
-- Up to which number the words of a series are there. A series is serial: whoever sees its number n sees all before it, so
-- one number per series tells exactly which documents are missing, and issuing writes nothing for it.
create table searched_series (
  company_id uuid not null,
  series_id uuid not null,
  up_to bigint not null default 0 check (up_to >= 0),
  primary key (company_id, series_id),
  foreign key (company_id, series_id) references series (company_id, id)
);

do $$
declare
  t text;
begin
  foreach t in array array['document_words', 'searched_series'] loop
    execute format('alter table certo.%I enable row level security', t);
    execute format('alter table certo.%I force row level security', t);
    execute format('create policy tenant on certo.%I to certo_app using (company_id = (select certo.current_company())) with check (company_id = (select certo.current_company()))', t);
    execute format('create policy owner on certo.%I to certo_owner using (true) with check (true)', t);
    execute format('grant select, insert on certo.%I to certo_app', t);
  end loop;
end $$;
grant update (up_to) on searched_series to certo_app;

-- What `search` looks through in a document, whatever its family (operations/listed-documents.ts says the same of columns).
create function words_of(d documents) returns text language sql immutable parallel safe
  return fold(concat_ws(e'\n', d.number, d.atcud, d.customer_name, d.customer_nif,
    case when d.family = 'TRANSPORT' then d.content -> 'transport' ->> 'licensePlate' else d.description end,
    case when d.family = 'TRANSPORT' then d.content -> 'transport' ->> 'comments' end));

-- What is contained in text: each three characters, and fewer at its end. So every text of one or two characters that occurs
-- begins a gram; of a longer one every gram occurs. Unlike pg_trgm it leaves nothing out, no sign and no short word.
create function grams_of(words text) returns tsvector language sql immutable parallel safe strict
  return array_to_tsvector(array(select substr(words, place, 3) from generate_series(1, length(words)) place));
create index document_words_grams on document_words using gin (company_id, grams_of(words))
  -- What waits to be sorted in is read by each search.
  with (gin_pending_list_limit = 512);

create function quoted_gram(gram text) returns text language sql immutable parallel safe strict
  return '''' || replace(replace(gram, '\', '\\'), '''', '''''') || '''';

-- Holds for every text that contains the sought one, and for a few others.
create function query_of(sought text) returns tsquery language sql immutable parallel safe strict
  return case when length(sought) < 3 then quoted_gram(sought) || ':*'
    else (select string_agg(quoted_gram(substr(sought, place, 3)), ' & ') from generate_series(1, length(sought) - 2) place)
    end::tsquery;

-- The pattern of LIKE for "contains", of words that were folded.
create function pattern_of(sought text) returns text language sql immutable parallel safe strict
  return '%' || replace(replace(replace(fold(sought), '\', '\\'), '%', '\%'), '_', '\_') || '%';

-- The code of the AT comes once, after the words may have been written: a row of its own can't miss them.
create function add_code_words() returns trigger language plpgsql as $$
begin
  insert into certo.document_words (company_id, id, part, words)
    values (new.company_id, new.id, 1, certo.fold(new.at_doc_code)) on conflict do nothing;
  return new;
end $$;
create trigger document_code_words after insert or update of at_doc_code on documents for each row
  when (new.at_doc_code is not null) execute function add_code_words();
insert into document_words (company_id, id, part, words)
  select company_id, id, 1, fold(at_doc_code) from documents where at_doc_code is not null;

-- Documents of this company whose words contain what is sought. Neither @@ nor LIKE is leakproof, so for a role under
-- row-level security they never read an index; here the company is named instead. To compute the grams of each row again
-- would take a hundred times as long as its LIKE, hence neither a walk through the table nor a bitmap that forgets rows.
create function documents_with(sought text) returns setof uuid
language plpgsql stable security definer set search_path = certo, pg_temp set enable_seqscan = off set work_mem = '32MB' as $$
begin
  if fold(sought) = '' then
    return query select w.id from certo.document_words w where w.company_id = certo.current_company();
  else
    return query execute
      'select w.id from certo.document_words w where w.company_id = $1 and certo.grams_of(w.words) @@ $2 and w.words like $3'
      using certo.current_company(), query_of(fold(sought)), pattern_of(sought);
  end if;
end $$;

-- For the clock door: companies with documents whose words are not there yet, and nothing else about them.
create function companies_to_search(at_most integer) returns setof uuid
language sql stable security definer set search_path = certo, pg_temp as $$
  select s.company_id from series s
    left join searched_series u on u.company_id = s.company_id and u.series_id = s.id
    where s.last_number > coalesce(u.up_to, 0) and s.last_number >= s.start_number
    group by s.company_id limit at_most
$$;
revoke execute on function documents_with(text), companies_to_search(integer) from public;
grant execute on function words_of(documents), grams_of(text), pattern_of(text), documents_with(text), companies_to_search(integer)
  to certo_app;
