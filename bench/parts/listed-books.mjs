// Books of very many documents for lists, written straight into the tables. Signatures and seals have the form and not
// the value: nothing that lists or searches looks at them. `certo verify` would find fault with every row.
import { randomUUID } from 'node:crypto';
import { addItems, addShapes, openCompany } from './saft-books.mjs';

const shapes = 500;
const portion = 50_000;

/**
 * A company with `count` documents: invoices and, one in 50, simplified invoices; one in 97 cancelled, one in 40 unpaid; 50
 * drafts on top. "Avença" stands in four of five, "Instalação" in one of 50,000. Words for `search` are written down too.
 */
export async function fillListed(owner, { count, nif, say = () => undefined }) {
  const companyId = await openCompany(owner, nif);
  const items = await addItems(owner, companyId);
  const seriesIds = [randomUUID(), randomUUID()];
  const simple = Math.floor(count / 50);
  const client = await owner.connect();
  try {
    await client.query('begin');
    await client.query(insertSeries, [companyId, ...seriesIds, count - simple, simple]);
    await addShapes(client, companyId, items, shapes);
    for (let from = 1; from <= count; from += portion) {
      say(`${from - 1} of ${count} documents`);
      const to = Math.min(count, from + portion - 1);
      await client.query(insertDocuments, [companyId, ...seriesIds, count, shapes, from, to]);
    }
    await client.query(insertDrafts, [companyId]);
    await writeWords(client, companyId, say);
    await client.query('commit');
  } finally {
    client.release();
  }
  say('vacuum');
  await owner.query('vacuum (analyze) certo.documents');
  await owner.query('vacuum (analyze) certo.document_words');
  return companyId;
}

/** What the clock door would do in small pieces, resting between them; the index is made anew, which is faster. */
async function writeWords(client, companyId, say) {
  say('words');
  const { rows } = await client.query(`select pg_get_indexdef('certo.document_words_grams'::regclass) as text`);
  await client.query('drop index certo.document_words_grams');
  await client.query(
    `insert into certo.document_words (company_id, id, part, words)
     select company_id, id, 0, certo.words_of(d) from certo.documents d where company_id = $1 and number is not null`,
    [companyId],
  );
  await client.query(
    'insert into certo.searched_series (company_id, series_id, up_to) select company_id, id, last_number from certo.series where company_id = $1',
    [companyId],
  );
  say('index of the words');
  await client.query(`set local maintenance_work_mem = '256MB'`);
  await client.query(rows[0].text);
}

const insertSeries = `
  insert into certo.series (company_id, id, document_type, at_type, code, status, validation_code, last_number, last_hash, last_seal, head_seal)
  values ($1, $2, 'INVOICE', 'FT', 'A2026', 'ACTIVE', 'AAJFF1XZ', $4, 'x', sha256('x'), sha256('y')),
    ($1, $3, 'SIMPLIFIED_INVOICE', 'FS', 'A2026', 'ACTIVE', 'AAJFF2XZ', $5, 'x', sha256('x'), sha256('y'))`;

// The n-th document: created ever later, the newest an hour ago. Its id says when, as the product's do.
const insertDocuments = `
  insert into certo.documents (company_id, id, family, type, status, created_by, customer_id, item_ids, series_id, customer_name, customer_nif,
    currency, cae, date, due_date, net, tax, gross, to_pay, outstanding, description, asked, content, sequence, number, atcud, hash,
    key_version, certificate_number, system_entry, qr, issued_at, issued_by, at_status, canceled_at, canceled_by, cancel_reason, seal,
    state_seal, issued_state, created_at, updated_at)
  select $1, uuidv7(x.at - clock_timestamp()), 'SALES', x.type, x.status, 'bench', t.customer, t.items, x.series, t.content -> 'customer' ->> 'name',
    (500000000 + n % 9973 * 37)::text, 'EUR', '62010', x.at::date, x.at::date + 30, t.net, t.tax, t.gross, t.gross,
    case when x.status = 'ISSUED' and n % 40 = 0 then t.gross else 0 end,
    case when n % 50000 = 7 then 'Instalação' when n % 5 = 0 then 'Manutenção' else 'Avença' end || ' de ' || to_char(x.at, 'MM/YYYY'),
    '{}', t.content, x.sequence, x.number, x.code || '-' || x.sequence,
    translate(encode(sha512(n::text::bytea) || sha512(('x' || n)::bytea), 'base64'), E'\\n', ''), 1, 9999,
    to_char(x.at, 'YYYY-MM-DD"T"HH24:MI:SS'), 'qr', x.at, 'bench', 'ACCEPTED', case when x.status = 'CANCELED' then x.at end,
    case when x.status = 'CANCELED' then 'bench' end, case when x.status = 'CANCELED' then 'Erro de emissão' end, sha256(n::text::bytea),
    sha256(n::text::bytea), '{}', x.at, x.at
  from (
    select n, n % 50 = 0 as simple, case when n % 50 = 0 then n / 50 else n - n / 50 end as sequence,
      case when n % 50 = 0 then 'SIMPLIFIED_INVOICE' else 'INVOICE' end as type, case when n % 50 = 0 then $3::uuid else $2::uuid end as series,
      case when n % 97 = 0 then 'CANCELED' else 'ISSUED' end as status, case when n % 50 = 0 then 'AAJFF2XZ' else 'AAJFF1XZ' end as code,
      case when n % 50 = 0 then 'FS A2026/' || n / 50 else 'FT A2026/' || n - n / 50 end as number,
      date_trunc('milliseconds', now()) - interval '1 hour' - ($4::bigint - n) * interval '1 second' as at
    from generate_series($6::bigint, $7::bigint) n
  ) x join shapes t on t.k = x.n % $5`;

const insertDrafts = `
  insert into certo.documents (company_id, id, family, type, status, created_by, customer_id, item_ids, customer_name, currency, cae, net, tax,
    gross, to_pay, description, asked, content)
  select $1, uuidv7(), 'SALES', 'INVOICE', 'DRAFT', 'bench', customer, items, content -> 'customer' ->> 'name', 'EUR', '62010', net, tax,
    gross, gross, 'Avença', '{}', content
  from shapes where k < 50`;
