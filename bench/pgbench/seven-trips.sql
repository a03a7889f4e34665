\set n :n + 1
\set draft :client_id * :each + :n
begin;
select last_number, last_hash from series where company_id = '00000000-0000-0000-0000-00000000000a' and id = '00000000-0000-0000-0000-00000000000b' for update \gset
select status, updated_at, content from documents where company_id = '00000000-0000-0000-0000-00000000000a' and id = :draft for update;
update documents set status = 'ISSUED', series_id = '00000000-0000-0000-0000-00000000000b', sequence = :last_number + 1, number = 'FT A2026/' || (:last_number + 1), hash = repeat('h', 172), date = current_date, issued_at = now(), updated_at = now(), content = content || '{"date": "2026-11-20"}' where company_id = '00000000-0000-0000-0000-00000000000a' and id = :draft and status = 'DRAFT';
update series set last_number = last_number + 1, last_date = current_date, last_hash = repeat('h', 172) where company_id = '00000000-0000-0000-0000-00000000000a' and id = '00000000-0000-0000-0000-00000000000b' and last_number = :last_number;
with audited as (insert into audit (company_id, actor, operation, record_id) values ('00000000-0000-0000-0000-00000000000a', 'key', 'issueInvoice', :draft)) insert into claims (company_id, operation, key, completed_at, status, body) values ('00000000-0000-0000-0000-00000000000a', 'issueInvoice', :draft::text, now(), 200, repeat('b', 2500)::bytea);
commit;
