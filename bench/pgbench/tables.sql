-- What an issue touches, as small as it can be: one series, drafts with their content, the audit, the claims. The yardstick
-- has the keys of the product's tables, but no row-level security, no triggers and fewer indexes: it is rather too fast.
drop table if exists audit, claims, documents, series;

create table series (
  company_id uuid not null,
  id uuid not null,
  code text not null,
  last_number bigint not null default 0,
  last_date date,
  last_hash text not null default '',
  primary key (company_id, id)
);

create table documents (
  company_id uuid not null,
  id bigint not null,
  status text not null,
  series_id uuid,
  sequence bigint,
  number text,
  hash text,
  date date,
  issued_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  content jsonb not null,
  primary key (company_id, id),
  foreign key (company_id, series_id) references series (company_id, id),
  unique (company_id, series_id, sequence)
);
create index on documents (company_id, created_at desc, id desc);

create table audit (
  company_id uuid not null,
  id bigint generated always as identity,
  at timestamptz(3) not null default now(),
  actor text not null,
  operation text not null,
  record_id bigint not null,
  primary key (company_id, id)
);

create table claims (
  company_id uuid not null,
  operation text not null,
  key text not null,
  completed_at timestamptz(3),
  status integer,
  body bytea,
  primary key (company_id, operation, key)
);

insert into series (company_id, id, code)
values ('00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-00000000000b', 'A2026');

-- Three lines a document, some 2 kB, as the product's drafts have.
insert into documents (company_id, id, status, content)
select '00000000-0000-0000-0000-00000000000a', n, 'DRAFT', jsonb_build_object(
  'type', 'INVOICE', 'currency', 'EUR', 'cae', '62010', 'notes', 'Encomenda ' || n,
  'issuer', jsonb_build_object('name', 'Oficina do Exemplo, Lda', 'address', 'Rua do Ouro 1', 'city', 'Lisboa', 'taxpayerNumber', '509442013'),
  'customer', jsonb_build_object('name', 'Cliente ' || n, 'address', 'Avenida da Liberdade 2', 'city', 'Lisboa', 'taxpayerNumber', '503504564'),
  'lines', (select jsonb_agg(jsonb_build_object(
     'id', gen_random_uuid(), 'itemId', gen_random_uuid(), 'name', 'Artigo ' || l, 'productType', 'PRODUCT', 'unit', 'UNIT',
     'quantity', l::text, 'unitPrice', '19.90', 'vatRate', 'NORMAL', 'region', 'PT', 'rate', '23', 'net', '19.90', 'tax', '4.58',
     'gross', '24.48', 'discount', '0', 'netBeforeDiscount', '19.90', 'withholding', '0', 'description', repeat('x', 100)))
   from generate_series(1, 3) l),
  'totals', jsonb_build_object('net', '59.70', 'tax', '13.73', 'gross', '73.43', 'toPay', '73.43'))
from generate_series(1, :drafts) n;

analyze;
