-- Documents that the company issued with other programs, as the AT lists them: imported from e-Fatura, only shown.
-- They are in no series and no chain of this installation, and are never reported, paid, cancelled or exported.

set local role certo_owner;
set local search_path = certo, public;

create table imported_documents (
  company_id uuid not null references companies (id),
  id uuid not null,
  number text not null check (length(number) between 1 and 60),
  -- In capitals: letter case does not make another document.
  number_key text not null,
  atcud text,
  type text not null
    check (type in ('INVOICE', 'SIMPLIFIED_INVOICE', 'INVOICE_RECEIPT', 'DEBIT_NOTE', 'CREDIT_NOTE', 'RECEIPT')),
  status text not null check (status in ('ISSUED', 'CANCELED')),
  -- As the portal words it.
  situation text,
  date date not null,
  customer_nif text,
  customer_name text not null,
  net numeric(15, 2) not null check (net >= 0),
  tax numeric(15, 2) not null check (tax >= 0),
  gross numeric(15, 2) not null check (gross >= 0),
  -- What is due is not known of documents that wait for a payment, and nothing of the others.
  outstanding numeric(15, 2) generated always as (case when type in ('INVOICE', 'DEBIT_NOTE') then null else 0 end) stored,
  -- The digits behind the last slash, for sorting by number.
  sequence bigint,
  -- The run that last wrote it.
  import_id uuid not null,
  created_at timestamptz(3) not null default certo.now(),
  updated_at timestamptz(3) not null default certo.now(),
  primary key (company_id, id),
  unique (company_id, number_key)
);
create index imported_documents_by_creation on imported_documents (company_id, created_at desc, id desc);
create index imported_documents_by_date on imported_documents (company_id, date desc, id desc);

alter table imported_documents enable row level security;
alter table imported_documents force row level security;
create policy tenant on imported_documents to certo_app
  using (company_id = (select certo.current_company())) with check (company_id = (select certo.current_company()));
create policy owner on imported_documents to certo_owner using (true) with check (true);

-- A record stays that of its number; nothing is deleted.
grant select, insert on imported_documents to certo_app;
grant update (atcud, type, status, situation, date, customer_nif, customer_name, net, tax, gross, import_id, updated_at)
  on imported_documents to certo_app;
