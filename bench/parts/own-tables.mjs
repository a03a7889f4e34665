// The transaction of an issue as pgbench plays it in the product's own tables: as its own user, with its indexes, checks,
// triggers and row-level security, and the rows that the product writes. What differs from the product's is the way: seven
// round trips for each document, one after the other. It signs nothing, and makes a seal that is only a new one each time: the
// head moves first, and has to have that of its last document (decision 0095).
import { randomUUID } from 'node:crypto';
import { openLogin } from '../../dist/db/open.js';
import { openClient } from './client.mjs';
import { draftBody } from './invoices.mjs';
import { startServer } from './postgres.mjs';
import { atEnd } from './service.mjs';

/** A service that has issued one invoice and ended, and its database alone. */
export async function openOwnTables(bench) {
  const service = await bench.fresh();
  const { client, company, folder } = service;
  const draft = (i) => client.expect(201, 'POST', '/invoices', draftBody(company, i));
  const [kept, { id, updatedAt: expectedUpdatedAt }] = [await draft(0), await draft(1)];
  const keyed = openClient(service.baseUrl, { 'x-api-key': company.apiKey, 'idempotency-key': randomUUID() });
  await keyed.expect(200, 'POST', `/invoices/${id}/issue`, { expectedUpdatedAt });
  keyed.close();
  await service.stop();
  const connection = await startServer(folder);
  const pool = await openLogin({ connection });
  atEnd(() => pool.end());
  await pool.query(prepare);
  const values = (await pool.query(valuesOf, [id])).rows[0];
  let from = 0;
  return {
    connection,
    /** What every connection has to begin with. */
    options: `-c role=certo_app -c app.company_id=${values.company} -c search_path=certo,public`,
    /** Makes so many drafts, and says what the script has to be told of them. */
    async draft(count) {
      await pool.query(copyDraft, [kept.id, count, from]);
      await pool.query('analyze certo.documents, public.bench_drafts');
      const told = { ...values, from };
      from += count;
      return told;
    },
    /** What was measured has to have happened: `from` documents and the one that the service issued. */
    async check() {
      const { rows } = await pool.query(written, [values.series]);
      if (Object.values(rows[0]).some((count) => count !== from + 1)) {
        throw new Error(`pgbench wrote ${JSON.stringify(rows[0])} in the product's tables, not ${from}`);
      }
    },
  };
}

const prepare = `create table public.bench_drafts (place bigint primary key, id uuid not null);
  grant select on public.bench_drafts to certo_app`;

const valuesOf = `
  select d.company_id as company, d.series_id as series, encode(d.state_seal, 'hex') as state_seal,
    split_part(d.number, '/', 1) as code, split_part(d.atcud, '-', 1) as validation, d.hash, d.signed_text,
    d.certificate_number as certificate, d.system_entry, d.qr, d.issued_by as actor, d.issued_state::text as issued_state, c.scope, c.operation,
    encode(c.fingerprint, 'hex') as fingerprint, c.content_type, c.retold, a.request_id as request
  from certo.documents d
    join certo.claims c on c.company_id = d.company_id and c.operation like '%issue'
    join certo.audit a on a.company_id = d.company_id and a.subject_id = d.id and a.operation = 'issueInvoice'
  where d.id = $1`;

const copyDraft = `
  with made as (
    insert into certo.documents
    select (jsonb_populate_record(d, jsonb_build_object('id', uuidv7(), 'created_at', now(), 'updated_at', now()))).*
    from certo.documents d, generate_series(1, $2::int) where d.id = $1
    returning id)
  insert into public.bench_drafts select $3::int + row_number() over (order by id), id from made`;

const written = `
  select (select last_number::int from certo.series where id = $1) as head,
    (select count(*)::int from certo.documents where series_id = $1 and status = 'ISSUED') as documents,
    (select count(*)::int from certo.claims where operation like '%issue') as claims,
    (select count(*)::int from certo.audit where operation = 'issueInvoice') as audit`;
