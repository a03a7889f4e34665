-- What a statement costs before and beside the rows it is about. A service's statements are short, so that is most of them.

set local role certo_owner;
set local search_path = certo, public;

-- The server keeps the text of each CHECK constraint and reads, plans and compiles all of a table's anew in every statement
-- that writes to it: of eighteen, 20 kB of text and a tenth of a millisecond. Of one that calls a function with the row it
-- is the call alone, and the function's plan is kept by the connection. What is demanded is the same; null is no objection.
create function is_sound(d documents) returns boolean language plpgsql immutable parallel safe as $$
begin
  return d.status in ('DRAFT', 'CREATED', 'PROCESSING', 'SCHEDULED', 'ISSUED', 'PAID', 'CANCELED')
    and d.family in ('SALES', 'RECEIPT', 'PROFORMA', 'TRANSPORT')
    and d.outstanding >= 0
    and d.credited >= 0
    and d.last_event >= 0
    and d.at_status in ('NOT_APPLICABLE', 'PENDING', 'ACCEPTED', 'REJECTED')
    and d.at_told in ('N', 'A', 'F')
    -- All that a number brings with it, or nothing of it.
    and num_nonnulls(d.sequence, d.number, d.atcud, d.hash, d.key_version, d.certificate_number, d.system_entry, d.qr, d.issued_at,
      d.issued_by) = case when d.status in ('ISSUED', 'PAID', 'CANCELED') then 10 else 0 end
    and num_nonnulls(d.seal, d.issued_state, d.state_seal) = case when d.number is null then 0 else 3 end
    and length(d.seal) = 32
    and length(d.state_seal) = 32
    and (d.number is null or (d.date is not null and d.series_id is not null))
    and (d.number is not null or d.last_event = 0)
    and num_nonnulls(d.recovered_key, d.recovered_file) in (0, 2)
    -- What only one family has.
    and (d.origin_id is null or d.family = 'SALES')
    and (d.movement_start is null or d.family = 'TRANSPORT')
    and (d.at_doc_code is null or (d.family = 'TRANSPORT' and d.number is not null))
    and (d.converted_at is null or (d.family = 'PROFORMA' and d.number is not null and d.status <> 'CANCELED'))
    and (d.hidden_at is null or (d.family = 'PROFORMA' and d.number is not null and d.status = 'CANCELED'));
end $$;

create function is_sound(s series) returns boolean language plpgsql immutable parallel safe as $$
begin
  return s.status in ('PENDING', 'ACTIVE', 'FINALIZED', 'ANNULLED', 'CLOSED')
    and s.kind in ('N', 'F', 'R')
    and length(s.code) between 1 and 35
    and s.start_number >= 1
    and s.last_number >= 0
    and (s.status <> 'ACTIVE' or s.validation_code is not null)
    and (s.status = 'CLOSED') = (s.closed_by is not null)
    and (s.status <> 'CLOSED' or not s.is_default)
    and (not s.is_default or s.kind = 'N')
    and (not s.cash_vat or s.at_type in ('FT', 'FS', 'FR', 'ND', 'NC', 'RC'))
    and (s.at_type = 'RC') = (s.cash_vat and s.document_type = 'RECEIPT')
    and num_nonnulls(s.last_seal, s.head_seal) <> 1
    and length(s.last_seal) = 32
    and length(s.head_seal) = 32;
end $$;
grant execute on function is_sound(documents), is_sound(series) to certo_app;

-- Every one of them is said above; one that came later would not be, so they are counted.
do $$
declare
  expected constant jsonb := '{"documents": 18, "series": 14}';
  t text;
  c record;
  dropped integer;
begin
  foreach t in array array['documents', 'series'] loop
    dropped := 0;
    for c in select conname from pg_constraint where conrelid = format('certo.%I', t)::regclass and contype = 'c' loop
      execute format('alter table certo.%I drop constraint %I', t, c.conname);
      dropped := dropped + 1;
    end loop;
    if dropped <> (expected ->> t)::integer then raise exception 'certo.% had % checks', t, dropped; end if;
    execute format('alter table certo.%I add constraint %I check (certo.is_sound(%I))', t, t || '_sound', t);
  end loop;
end $$;

-- Called several times in every request. The row of the clock is no secret, so whoever asks may read it as himself: to become
-- its owner and to set and reset the search path took most of the time.
grant select on clock to certo_app;
create or replace function certo.now() returns timestamptz language plpgsql volatile parallel safe security invoker as $$
begin
  return pg_catalog.date_trunc('milliseconds', pg_catalog.clock_timestamp() operator(pg_catalog.+) (select c.shift from certo.clock c));
end $$;

-- ANALYZE sorts a sample of every column, texts and JSON of some kilobytes among them, and makes the grams of a sample of
-- words, over and over while a table grows: an eighth of all the server did. Nobody is asked for by these.
alter table documents
  alter column asked set statistics 0,
  alter column content set statistics 0,
  alter column item_ids set statistics 0,
  alter column atcud set statistics 0,
  alter column hash set statistics 0,
  alter column signed_text set statistics 0,
  alter column system_entry set statistics 0,
  alter column qr set statistics 0,
  alter column seal set statistics 0,
  alter column state_seal set statistics 0,
  alter column issued_state set statistics 0;
alter table claims
  alter column fingerprint set statistics 0,
  alter column content_type set statistics 0,
  alter column body set statistics 0;
alter table audit
  alter column actor set statistics 0,
  alter column operation set statistics 0,
  alter column request_id set statistics 0;
alter table document_words alter column words set statistics 0;
alter index document_words_grams alter column 2 set statistics 0;

-- A document of some lines is 3 to 4 kB once its JSON is compressed. At the default of 2 kB the rest of it goes into the table
-- of long values, whose rows and index entries cost more than two rows to a page instead of four.
alter table documents set (toast_tuple_target = 4080);
