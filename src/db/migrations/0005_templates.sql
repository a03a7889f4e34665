-- PDF templates: how a company's documents look. The built-in one has no row.

set local role certo_owner;
set local search_path = certo, public;

create table templates (
  company_id uuid not null references companies (id),
  id uuid not null,
  -- Raised by each change: a rendition is stored under it, so what was printed before stays as it was.
  version integer not null default 1 check (version >= 1),
  name text not null check (length(name) between 1 and 60),
  language text not null default 'pt' check (language in ('pt', 'en')),
  colour text check (colour ~ '^#[0-9a-f]{6}$'),
  footer text check (length(footer) between 1 and 1000),
  -- Made anew from what was given, so that only what was checked is in it.
  logo bytea check (length(logo) between 1 and 524288),
  formats text[] not null check (cardinality(formats) >= 1 and formats <@ '{A4,RECEIPT,RECEIPT_58}'),
  is_default boolean not null default false,
  -- Documents that name it are still printed with it.
  is_archived boolean not null default false,
  created_at timestamptz(3) not null default certo.now(),
  updated_at timestamptz(3) not null default certo.now(),
  primary key (company_id, id),
  check (not (is_default and is_archived))
);
create unique index templates_default on templates (company_id) where is_default;
create unique index templates_name on templates (company_id, lower(name)) where not is_archived;

alter table templates enable row level security;
alter table templates force row level security;
create policy tenant on templates to certo_app
  using (company_id = (select certo.current_company())) with check (company_id = (select certo.current_company()));
create policy owner on templates to certo_owner using (true) with check (true);
grant select on templates to certo_app;

-- Never written: a draft says its template in `asked`.
alter table documents drop column template_id;
