-- Regimes: cash VAT, training series, recovered documents.

set local role certo_owner;
set local search_path = certo, public;

alter table companies
  -- First and last day of the cash VAT scheme (DL 71/2013); no last day: it goes on. Documents keep what they were issued
  -- under, so one period is enough: the present, the next, or the last one.
  add column cash_vat_from date,
  add column cash_vat_until date,
  add check (cash_vat_until is null or cash_vat_from <= cash_vat_until);

alter table series
  -- Under the cash VAT scheme documents have series of their own (DL 71/2013, article 6). Its receipts are the type RC.
  add column cash_vat boolean not null default false,
  add check (not cash_vat or at_type in ('FT', 'FS', 'FR', 'ND', 'NC', 'RC')),
  add check ((at_type = 'RC') = (cash_vat and document_type = 'RECEIPT')),
  -- Training and recovery are never chosen for a document that names no series.
  add check (not is_default or kind = 'N');
drop index series_default;
create unique index series_default on series (company_id, document_type, cash_vat) where is_default;

-- What was registered stays: `cash_vat` too.
create function freeze_series_scheme() returns trigger language plpgsql as $$
begin
  raise exception 'a series can only move forward' using errcode = 'CE001';
end $$;
create trigger series_scheme_frozen before update on series for each row
  when (new.cash_vat is distinct from old.cash_vat) execute function freeze_series_scheme();

-- Whether the company of this transaction is in the cash VAT scheme on a day; null: today in its zone.
create function in_cash_vat(day date) returns boolean
language sql volatile as $$
  select coalesce(c.cash_vat_from <= d.day and (c.cash_vat_until is null or d.day <= c.cash_vat_until), false)
  from certo.companies c, lateral (select coalesce(in_cash_vat.day, (certo.now() at time zone case c.region
    when 'PT-MA' then 'Atlantic/Madeira' when 'PT-AC' then 'Atlantic/Azores' else 'Europe/Lisbon' end)::date) as day) d
  where c.id = certo.current_company()
$$;
grant execute on function in_cash_vat(date) to certo_app;

alter table documents
  -- What a recovered document stands for, in the one spelling it is compared by; `content.recovered` is the truth.
  add column recovered_key text,
  -- The file it was recovered from (SHA-256, hexadecimal): the same file may be run again after a crash.
  add column recovered_file text,
  add check (num_nonnulls(recovered_key, recovered_file) in (0, 2));
-- Never two recoveries of one original that stand (hash chain, section 6); a cancelled one may be done again.
create unique index documents_recovered on documents (company_id, recovered_key)
  where recovered_key is not null and status <> 'CANCELED';
