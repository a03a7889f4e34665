-- The books: companies, credentials, masters, series and documents.
-- Conventions for tenant tables stand at the top of 0001_foundation.sql.
-- Money is numeric in columns that are filtered or sorted, and exact text inside `content`, which is what counts.

set local role certo_owner;
set local search_path = certo, public;

-- One row: what this installation is. A database made against the simulator can never become a production one.
create table installation (
  only_row boolean primary key default true check (only_row),
  at_mode text not null check (at_mode in ('simulator', 'test', 'production')),
  created_at timestamptz(3) not null default certo.now()
);

-- Fiscal signing keys; the private half only encrypted under the master key.
create table signing_keys (
  version integer primary key check (version >= 1),
  origin text not null check (origin in ('generated', 'imported')),
  public_pem text not null,
  private_sealed bytea not null,
  created_at timestamptz(3) not null default certo.now()
);

create table companies (
  id uuid primary key,
  name text not null check (length(name) between 1 and 100),
  taxpayer_number text not null unique check (taxpayer_number ~ '^[0-9]{9}$'),
  cae text[] not null check (cardinality(cae) >= 1),
  address text,
  postal_code text,
  city text,
  country text not null default 'PT' check (country = 'PT'),
  region text not null check (region in ('PT', 'PT-MA', 'PT-AC')),
  email text,
  phone text,
  website text,
  at_username text,
  at_password_sealed bytea,
  -- NONE: no credentials. NEW: not tried yet. OK: the AT accepted them. WRONG: the AT refused them.
  at_state text not null default 'NONE' check (at_state in ('NONE', 'NEW', 'OK', 'WRONG')),
  -- Last successful query of series with the present credentials; null after they change.
  at_synced_at timestamptz(3),
  at_series_differ boolean not null default false,
  created_at timestamptz(3) not null default certo.now(),
  updated_at timestamptz(3) not null default certo.now()
);

create table api_keys (
  company_id uuid not null references companies (id),
  id uuid not null,
  -- Rotating a key keeps the lineage: idempotency keys are scoped to it (decisions 2).
  lineage uuid not null,
  name text not null,
  prefix text not null,
  hash bytea not null unique check (length(hash) = 32),
  created_at timestamptz(3) not null default certo.now(),
  revoked_at timestamptz(3),
  primary key (company_id, id)
);

create table customers (
  company_id uuid not null references companies (id),
  id uuid not null,
  application_id uuid,
  created_by text not null,
  -- The name that documents show, from name, company_name or first and last name, in this order.
  shown_name text not null,
  name text,
  first_name text,
  last_name text,
  company_name text,
  company_position text,
  taxpayer_number text,
  email text,
  website text,
  description text,
  address text,
  postal_code text,
  city text,
  country text not null,
  phone text,
  fax text,
  mobile text,
  system boolean not null default false,
  is_archived boolean not null default false,
  -- True once an issued document names this customer: name and NIF lock (fiscal/masters).
  used boolean not null default false,
  created_at timestamptz(3) not null default certo.now(),
  updated_at timestamptz(3) not null default certo.now(),
  primary key (company_id, id)
);
create index customers_by_creation on customers (company_id, created_at desc, id desc);
create unique index customers_system on customers (company_id) where system;

create table items (
  company_id uuid not null references companies (id),
  id uuid not null,
  application_id uuid,
  created_by text not null,
  name text not null,
  description text,
  type text not null check (type in ('PRODUCT', 'SERVICE')),
  unit_price numeric(15, 6) not null check (unit_price >= 0),
  unit_type text not null,
  vat_rate text not null check (vat_rate in ('NORMAL', 'INTERMEDIATE', 'REDUCED', 'EXEMPT')),
  -- Only where is_auto_vat_enabled is false; else derived from vat_rate, vat_territory and the date.
  fixed_tax_rate numeric(5, 2),
  vat_exemption_reason text,
  vat_territory text not null check (vat_territory in ('AZORES', 'CONTINENTAL', 'MADEIRA', 'UNKNOWN')),
  is_auto_vat_enabled boolean not null default true,
  withholding_tax_available boolean not null default false,
  withholding_tax_type text check (withholding_tax_type in ('IRC', 'IRS', 'IS')),
  withholding_tax_percent numeric(9, 6),
  withholding_tax_reason text,
  is_archived boolean not null default false,
  used boolean not null default false,
  created_at timestamptz(3) not null default certo.now(),
  updated_at timestamptz(3) not null default certo.now(),
  primary key (company_id, id),
  check ((vat_rate = 'EXEMPT') = (vat_exemption_reason is not null)),
  check (is_auto_vat_enabled = (fixed_tax_rate is null))
);
create index items_by_creation on items (company_id, created_at desc, id desc);

create table series (
  company_id uuid not null references companies (id),
  id uuid not null,
  document_type text not null,
  -- SAF-T type code: RG and RC are two registrations of RECEIPT.
  at_type text not null,
  code text not null check (length(code) between 1 and 35),
  code_key text not null generated always as (upper(code)) stored,
  kind text not null default 'N' check (kind in ('N', 'F', 'R')),
  -- PENDING: not registered at the AT yet. Only ACTIVE series number documents.
  status text not null default 'PENDING' check (status in ('PENDING', 'ACTIVE', 'FINALIZED', 'ANNULLED')),
  validation_code text,
  is_default boolean not null default false,
  start_number bigint not null default 1 check (start_number >= 1),
  -- The head of the chain: moved only by issuing, and only forward.
  last_number bigint not null default 0 check (last_number >= 0),
  last_date date,
  last_hash text not null default '',
  last_system_entry text,
  last_issued_at timestamptz(3),
  created_at timestamptz(3) not null default certo.now(),
  updated_at timestamptz(3) not null default certo.now(),
  primary key (company_id, id),
  -- An identifier is never reused for the same type, in other letter case neither (series and ATCUD rules).
  unique (company_id, at_type, code_key),
  check (status <> 'ACTIVE' or validation_code is not null)
);
create unique index series_default on series (company_id, document_type) where is_default;

create table documents (
  company_id uuid not null references companies (id),
  id uuid not null,
  family text not null check (family in ('SALES', 'RECEIPT', 'PROFORMA', 'TRANSPORT')),
  type text not null,
  status text not null check (status in ('DRAFT', 'CREATED', 'PROCESSING', 'SCHEDULED', 'ISSUED', 'PAID', 'CANCELED')),
  application_id uuid,
  created_by text not null,
  created_at timestamptz(3) not null default certo.now(),
  updated_at timestamptz(3) not null default certo.now(),

  customer_id uuid not null,
  item_ids uuid[] not null default '{}',
  series_id uuid,
  template_id uuid,
  parent_id uuid,
  schedule_template_id uuid,

  -- Copies of what is filtered and sorted by; `content` is the truth.
  customer_name text not null,
  customer_nif text,
  customer_email text,
  currency text not null,
  description text,
  notes text,
  cae text not null,
  date date,
  tax_point_date date,
  due_date date,
  net numeric(15, 2) not null,
  tax numeric(15, 2) not null,
  gross numeric(15, 2) not null,
  to_pay numeric(15, 2) not null,
  outstanding numeric(15, 2) not null default 0 check (outstanding >= 0),
  credited numeric(15, 2) not null default 0 check (credited >= 0),

  -- What the caller asked for (the draft's own values), and the priced document made of it.
  asked jsonb not null,
  content jsonb not null,

  -- Stamped by issuing, all or none.
  sequence bigint,
  number text,
  atcud text,
  hash text,
  -- What was signed, as it was signed: date;system entry;number;gross;previous hash. Null for receipts.
  signed_text text,
  key_version integer,
  certificate_number integer,
  system_entry text,
  qr text,
  issued_at timestamptz(3),
  issued_by text,

  canceled_at timestamptz(3),
  canceled_by text,
  cancel_reason text,

  -- The AT's column is the outbox: PENDING rows are sent in order of issue by the clock door.
  at_status text not null default 'NOT_APPLICABLE'
    check (at_status in ('NOT_APPLICABLE', 'PENDING', 'ACCEPTED', 'REJECTED')),
  at_code text,
  at_message text,
  at_attempts integer not null default 0,
  at_next_at timestamptz(3),
  at_lease uuid,
  -- The status the AT was last told and accepted: a cancelled document is told as issued first, then as cancelled.
  at_told text check (at_told in ('N', 'A', 'F')),

  primary key (company_id, id),
  foreign key (company_id, customer_id) references customers (company_id, id),
  foreign key (company_id, series_id) references series (company_id, id),
  foreign key (company_id, parent_id) references documents (company_id, id),
  check (
    num_nonnulls(sequence, number, atcud, hash, key_version, certificate_number, system_entry, qr, issued_at, issued_by)
    = case when status in ('ISSUED', 'PAID') or (status = 'CANCELED') then 10 else 0 end
  ),
  check (number is null or (date is not null and series_id is not null))
);
create unique index documents_number on documents (company_id, series_id, sequence) where sequence is not null;
create index documents_by_creation on documents (company_id, created_at desc, id desc);
create index documents_by_date on documents (company_id, date desc, id desc);
create index documents_of_parent on documents (company_id, parent_id) where parent_id is not null;
create index documents_open on documents (company_id, customer_id) where status in ('DRAFT', 'CREATED');
create index documents_to_report on documents (company_id, issued_at, sequence) where at_status = 'PENDING';

-- Files made of documents: stored when first rendered, the same bytes for ever.
create table renditions (
  company_id uuid not null,
  document_id uuid not null,
  -- format, template version, language, mention and state
  variant text not null,
  bytes bytea not null,
  created_at timestamptz(3) not null default certo.now(),
  primary key (company_id, document_id, variant),
  foreign key (company_id, document_id) references documents (company_id, id)
);

-- Idempotency claims (decisions 2). State is computed on read: done, retryable, lease live, lease over.
create table claims (
  company_id uuid not null references companies (id),
  scope text not null,
  operation text not null,
  key text not null,
  fingerprint bytea not null,
  fence uuid,
  lease_until timestamptz(3),
  status smallint,
  content_type text,
  body bytea,
  created_at timestamptz(3) not null default certo.now(),
  completed_at timestamptz(3),
  primary key (company_id, scope, operation, key)
);

-- Who did what; append-only.
create table audit (
  company_id uuid not null references companies (id),
  id uuid not null,
  at timestamptz(3) not null default certo.now(),
  actor text not null,
  operation text not null,
  subject_id uuid,
  request_id text,
  primary key (company_id, id)
);

-- Text as lists compare it: no case, no accents (decisions 1, Lists).
create function fold(words text) returns text language sql immutable parallel safe
  return lower(regexp_replace(normalize(coalesce(words, ''), NFKD), '[\u0300-\u036f]', '', 'g'));

-- Row-level security, forced: an empty app.company_id sees nothing.
do $$
declare
  t text;
begin
  foreach t in array array['api_keys', 'customers', 'items', 'series', 'documents', 'renditions', 'claims', 'audit'] loop
    execute format('alter table certo.%I enable row level security', t);
    execute format('alter table certo.%I force row level security', t);
    execute format('create policy tenant on certo.%I to certo_app using (company_id = (select certo.current_company())) with check (company_id = (select certo.current_company()))', t);
    execute format('create policy owner on certo.%I to certo_owner using (true) with check (true)', t);
  end loop;
end $$;
alter table companies enable row level security;
alter table companies force row level security;
create policy tenant on companies to certo_app using (id = (select certo.current_company())) with check (id = (select certo.current_company()));
create policy owner on companies to certo_owner using (true) with check (true);
-- Documents: only what was never numbered may go.
create policy drafts_only on documents as restrictive for delete to certo_app
  using (number is null and status in ('DRAFT', 'CREATED'));

-- What is issued is frozen: after that only the named columns may change (Despacho 8632/2014, 2.6; DL 28/2019).
create function freeze_document() returns trigger language plpgsql as $$
begin
  if old.number is null then
    -- What a BEFORE DELETE trigger returns for a draft must not be null: null silently keeps the row.
    return case when tg_op = 'DELETE' then old else new end;
  end if;
  if tg_op = 'DELETE' then
    raise exception 'an issued document can not be deleted' using errcode = 'CE001';
  end if;
  if (to_jsonb(new) - '{status,updated_at,outstanding,credited,canceled_at,canceled_by,cancel_reason,at_status,at_code,at_message,at_attempts,at_next_at,at_lease,at_told}'::text[])
     is distinct from
     (to_jsonb(old) - '{status,updated_at,outstanding,credited,canceled_at,canceled_by,cancel_reason,at_status,at_code,at_message,at_attempts,at_next_at,at_lease,at_told}'::text[]) then
    raise exception 'an issued document can not be changed' using errcode = 'CE001';
  end if;
  if not (
    new.status = old.status
    or (old.status = 'ISSUED' and new.status in ('PAID', 'CANCELED'))
    or (old.status = 'PAID' and new.status in ('ISSUED', 'CANCELED'))
  ) then
    raise exception 'an issued document can not go from % to %', old.status, new.status using errcode = 'CE001';
  end if;
  return new;
end $$;
create trigger document_frozen before update or delete on documents for each row execute function freeze_document();

-- A series head only moves forward, and what was registered stays (series and ATCUD rules).
create function freeze_series() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'a series can not be deleted' using errcode = 'CE001';
  end if;
  if (new.company_id, new.id, new.document_type, new.at_type, new.code, new.kind, new.start_number)
     is distinct from (old.company_id, old.id, old.document_type, old.at_type, old.code, old.kind, old.start_number)
     or (old.validation_code is not null and new.validation_code is distinct from old.validation_code)
     or new.last_number < old.last_number
     or new.last_date < old.last_date
     or new.last_system_entry < old.last_system_entry
     -- A comparison with null is no refusal: what was known may not be forgotten either.
     or num_nonnulls(new.last_date, new.last_system_entry) < num_nonnulls(old.last_date, old.last_system_entry)
     or (new.last_number = old.last_number and new.last_hash is distinct from old.last_hash)
     or (old.status in ('FINALIZED', 'ANNULLED') and (new.status <> old.status or new.last_number <> old.last_number)) then
    raise exception 'a series can only move forward' using errcode = 'CE001';
  end if;
  return new;
end $$;
create trigger series_forward before update or delete on series for each row execute function freeze_series();

-- A key opens its company: sets the reach of the transaction and tells who is asking. No row: nobody.
create function enter_key(key_hash bytea)
returns table (key_id uuid, lineage uuid, company_id uuid, region text)
language plpgsql volatile security definer set search_path = certo, pg_temp as $$
begin
  select k.id, k.lineage, k.company_id, c.region
    into enter_key.key_id, enter_key.lineage, enter_key.company_id, enter_key.region
    from api_keys k join companies c on c.id = k.company_id
    where k.hash = key_hash and k.revoked_at is null;
  if found then
    perform set_config('app.company_id', enter_key.company_id::text, true);
    -- Idempotency keys are scoped to the lineage: the claim reads it in the same round trip.
    perform set_config('app.scope', 'key:' || enter_key.lineage, true);
    return next;
  else
    perform set_config('app.company_id', '', true);
    perform set_config('app.scope', '', true);
  end if;
end $$;

-- For the clock door: which companies have reports that are due. It tells ids, nothing else.
create function companies_to_report(at_most integer)
returns setof uuid
language sql stable security definer set search_path = certo, pg_temp as $$
  select d.company_id from documents d join companies c on c.id = d.company_id
    where d.at_status = 'PENDING' and (d.at_next_at is null or d.at_next_at <= certo.now()) and c.at_state in ('NEW', 'OK')
    group by d.company_id limit at_most
$$;

-- For the clock door: companies whose series were never compared with the AT's.
create function companies_to_sync(at_most integer)
returns setof uuid
language sql stable security definer set search_path = certo, pg_temp as $$
  select id from companies where at_state in ('NEW', 'OK') and at_synced_at is null limit at_most
$$;

grant usage on schema certo to certo_app;
grant select on installation, signing_keys to certo_app;
grant select, update on companies to certo_app;
grant select, insert on api_keys to certo_app;
grant update (revoked_at) on api_keys to certo_app;
grant select, insert, update on customers, items, series to certo_app;
grant select, insert, update, delete on documents to certo_app;
grant select, insert on renditions, audit to certo_app;
grant select, insert, update, delete on claims to certo_app;
grant execute on function fold(text), enter_key(bytea), companies_to_report(integer), companies_to_sync(integer) to certo_app;
revoke execute on function enter_key(bytea), companies_to_report(integer), companies_to_sync(integer) from public;
