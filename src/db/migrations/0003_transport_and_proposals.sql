-- Transport documents and pro formas: rows of documents like all others, with what only they have.

set local role certo_owner;
set local search_path = certo, public;

alter table documents
  -- The pro forma that an invoice was converted from; `content.origin` is the truth.
  add column origin_id uuid,
  -- Transport documents: start of the transport, a copy to sort by.
  add column movement_start timestamptz(3),
  -- Transport documents: the code the AT gave it, told once and needed to cancel it there.
  add column at_doc_code text,
  -- Pro formas: when the first invoice made of it was issued. The API's status is CREATED before and ISSUED from then on.
  add column converted_at timestamptz(3),
  -- Pro formas: when the caller deleted it. It stays in the books and in SAF-T (documents and mentions, section 6).
  add column hidden_at timestamptz(3),
  add foreign key (company_id, origin_id) references documents (company_id, id),
  add check (origin_id is null or family = 'SALES'),
  add check (movement_start is null or family = 'TRANSPORT'),
  add check (at_doc_code is null or (family = 'TRANSPORT' and number is not null)),
  add check (converted_at is null or (family = 'PROFORMA' and number is not null and status <> 'CANCELED')),
  add check (hidden_at is null or (family = 'PROFORMA' and number is not null and status = 'CANCELED'));
create index documents_of_origin on documents (company_id, origin_id) where origin_id is not null;
create index documents_by_movement on documents (company_id, movement_start desc, id desc) where family = 'TRANSPORT';
-- Few among many invoices: a list of them must not walk past all of those.
create index documents_apart on documents (company_id, family, created_at desc, id desc) where family in ('PROFORMA', 'TRANSPORT');

-- What is issued is frozen: after that only the named columns may change (Despacho 8632/2014, 2.6; DL 28/2019).
create or replace function freeze_document() returns trigger language plpgsql as $$
declare
  moving constant text[] := '{status,updated_at,outstanding,credited,canceled_at,canceled_by,cancel_reason,at_status,at_code,at_message,at_attempts,at_next_at,at_lease,at_told,at_doc_code,converted_at,hidden_at}';
begin
  if old.number is null then
    -- What a BEFORE DELETE trigger returns for a draft must not be null: null silently keeps the row.
    return case when tg_op = 'DELETE' then old else new end;
  end if;
  if tg_op = 'DELETE' then
    raise exception 'an issued document can not be deleted' using errcode = 'CE001';
  end if;
  if (to_jsonb(new) - moving) is distinct from (to_jsonb(old) - moving) then
    raise exception 'an issued document can not be changed' using errcode = 'CE001';
  end if;
  -- Each of these happens once and is not taken back.
  if (old.at_doc_code is not null and new.at_doc_code is distinct from old.at_doc_code)
     or (old.converted_at is not null and new.converted_at is distinct from old.converted_at)
     or (old.hidden_at is not null and new.hidden_at is distinct from old.hidden_at) then
    raise exception 'what was told of an issued document can not be changed' using errcode = 'CE001';
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
