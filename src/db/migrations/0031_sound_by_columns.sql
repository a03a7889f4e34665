set local role certo_owner;
set local search_path = certo, public;

-- As 0017 says of a row, of its columns: who is handed a whole row gets a copy of it, for which what stands in the table of long
-- values is fetched from there (docs/decisions/0076-told-by-templates.md).
create function is_sound_document(
  status text, family text, outstanding numeric, credited numeric, last_event integer, at_status text, at_told text, sequence bigint, number text,
  atcud text, hash text, key_version integer, certificate_number integer, system_entry text, qr text, issued_at timestamptz, issued_by text,
  seal bytea, issued_state jsonb, state_seal bytea, date date, series_id uuid, recovered_key text, recovered_file text, origin_id uuid,
  movement_start timestamptz, at_doc_code text, converted_at timestamptz, hidden_at timestamptz
) returns boolean language plpgsql immutable parallel safe as $$
begin
  return status in ('DRAFT', 'CREATED', 'PROCESSING', 'SCHEDULED', 'ISSUED', 'PAID', 'CANCELED')
    and family in ('SALES', 'RECEIPT', 'PROFORMA', 'TRANSPORT')
    and outstanding >= 0
    and credited >= 0
    and last_event >= 0
    and at_status in ('NOT_APPLICABLE', 'PENDING', 'ACCEPTED', 'REJECTED')
    and at_told in ('N', 'A', 'F')
    -- All that a number brings with it, or nothing of it.
    and num_nonnulls(sequence, number, atcud, hash, key_version, certificate_number, system_entry, qr, issued_at, issued_by)
      = case when status in ('ISSUED', 'PAID', 'CANCELED') then 10 else 0 end
    and num_nonnulls(seal, issued_state, state_seal) = case when number is null then 0 else 3 end
    and length(seal) = 32
    and length(state_seal) = 32
    and (number is null or (date is not null and series_id is not null))
    and (number is not null or last_event = 0)
    and num_nonnulls(recovered_key, recovered_file) in (0, 2)
    -- What only one family has.
    and (origin_id is null or family = 'SALES')
    and (movement_start is null or family = 'TRANSPORT')
    and (at_doc_code is null or (family = 'TRANSPORT' and number is not null))
    and (converted_at is null or (family = 'PROFORMA' and number is not null and status <> 'CANCELED'))
    and (hidden_at is null or (family = 'PROFORMA' and number is not null and status = 'CANCELED'));
end $$;
grant execute on function is_sound_document to certo_app;
alter table documents drop constraint documents_sound, add constraint documents_sound check (is_sound_document(
  status, family, outstanding, credited, last_event, at_status, at_told, sequence, number, atcud, hash, key_version, certificate_number,
  system_entry, qr, issued_at, issued_by, seal, issued_state, state_seal, date, series_id, recovered_key, recovered_file, origin_id,
  movement_start, at_doc_code, converted_at, hidden_at));
drop function is_sound(documents);
