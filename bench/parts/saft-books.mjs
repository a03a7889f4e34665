// Books of very many invoices, written straight into the tables: issuing them over HTTP would take minutes.
import { randomUUID } from 'node:crypto';
import { price } from '../../dist/fiscal/totals.js';
import { createCompany } from '../../dist/operations/company/create-company.js';

export const period = { from: '2026-01-01', to: '2026-12-31' };
const templates = 500;

/** A company with `count` invoices of three lines in one series; its id. Signatures and seals have the form, not the value. */
export async function fillBooks(owner, count, nif) {
  const companyId = await openCompany(owner, nif);
  const items = await addItems(owner, companyId);
  const seriesId = randomUUID();
  await owner.query(
    `insert into certo.series (company_id, id, document_type, at_type, code, status, validation_code)
     values ($1, $2, 'INVOICE', 'FT', 'A2026', 'ACTIVE', 'AAJFF1XZ')`,
    [companyId, seriesId],
  );
  const client = await owner.connect();
  try {
    await client.query('begin');
    await addShapes(client, companyId, items, templates);
    await client.query(insertInvoices, [companyId, seriesId, count, templates, period.from]);
    await client.query('commit');
  } finally {
    client.release();
  }
  await owner.query('analyze certo.documents');
  return companyId;
}

const insertInvoices = `
  insert into certo.documents (company_id, id, family, type, status, created_by, customer_id, item_ids, series_id, customer_name,
    currency, cae, date, due_date, net, tax, gross, to_pay, asked, content, sequence, number, atcud, hash, key_version,
    certificate_number, system_entry, qr, issued_at, issued_by, at_status, canceled_at, canceled_by, cancel_reason, seal, state_seal, issued_state)
  select $1, gen_random_uuid(), 'SALES', 'INVOICE', case when n % 97 = 0 then 'CANCELED' else 'ISSUED' end, 'bench', t.customer, t.items, $2, 'bench',
    'EUR', '62010', day, day, t.net, t.tax, t.gross, t.gross, '{}', t.content || jsonb_build_object('date', day, 'dueDate', day + 30),
    n, 'FT A2026/' || n, 'AAJFF1XZ-' || n, translate(encode(sha512(n::text::bytea) || sha512(('x' || n)::bytea), 'base64'), E'\\n', ''), 1,
    9999, to_char(day + interval '12 hours', 'YYYY-MM-DD"T"HH24:MI:SS'), 'qr', day + interval '12 hours', 'bench', 'ACCEPTED',
    case when n % 97 = 0 then day + interval '13 hours' end, case when n % 97 = 0 then 'bench' end, case when n % 97 = 0 then 'Erro de emissão' end,
    sha256(n::text::bytea), sha256(n::text::bytea), '{}'
  from (select n, ($5::date + (n * 364 / $3)::integer) as day from generate_series(1, $3::bigint) n) x join shapes t on t.k = n % $4`;

export function openCompany(owner, nif) {
  const company = { name: 'Livros Grandes, Lda', taxpayerNumber: nif, cae: ['62010'], region: 'PT' };
  return createCompany(
    owner,
    { ...company, address: 'Rua do Banco 1', postalCode: '1000-001', city: 'Lisboa' },
    randomUUID,
  );
}

/** Priced documents to copy, in the table `shapes` of the transaction, each of a customer of its own. */
export async function addShapes(client, companyId, items, count) {
  await client.query(
    'create temporary table shapes (k integer primary key, customer uuid, items uuid[], net numeric, tax numeric, gross numeric, content jsonb) on commit drop',
  );
  for (let k = 0; k < count; k++) await addShape(client, companyId, items, k);
}

export async function addItems(owner, companyId) {
  const items = [];
  for (let i = 0; i < 60; i++) {
    const item = {
      id: randomUUID(),
      name: `Artigo de catálogo n.º ${i}`,
      vatRate: ['NORMAL', 'INTERMEDIATE', 'REDUCED'][i % 3],
    };
    await owner.query(
      `insert into certo.items (company_id, id, created_by, name, type, unit_price, unit_type, vat_rate, vat_territory)
       values ($1, $2, 'bench', $3, 'PRODUCT', 10, 'UNIT', $4, 'CONTINENTAL')`,
      [companyId, item.id, item.name, item.vatRate],
    );
    items.push(item);
  }
  return items;
}

async function addShape(client, companyId, items, k) {
  const customer = {
    id: randomUUID(),
    name: `Cliente ${k} & Filhos, Lda`,
    taxpayerNumber: '501442600',
    address: `Avenida ${k}`,
    postalCode: '4000-001',
    city: 'Porto',
    country: 'PT',
  };
  await client.query(
    `insert into certo.customers (company_id, id, created_by, shown_name, country) values ($1, $2, 'bench', $3, 'PT')`,
    [companyId, customer.id, customer.name],
  );
  const chosen = [0, 1, 2].map((i) => items[(k * 3 + i) % items.length]);
  const lines = chosen.map((item, i) => ({
    id: randomUUID(),
    itemId: item.id,
    name: item.name,
    productType: 'PRODUCT',
    unit: 'UNIT',
    quantity: String(1 + ((k + i) % 9)),
    unitPrice: `${3 + ((k * 7 + i) % 90)}.${10 + (k % 89)}`,
    vatRate: item.vatRate,
    region: 'PT',
    ...(i === 0 ? { discount: { type: 'PERCENT', value: '5' } } : {}),
  }));
  const priced = price({ lines, taxPoint: period.from, currency: 'EUR' });
  const issuer = {
    id: companyId,
    name: 'Livros Grandes, Lda',
    taxpayerNumber: '500000000',
    address: 'Rua do Banco 1',
    postalCode: '1000-001',
    city: 'Lisboa',
    country: 'PT',
  };
  const content = { ...priced, type: 'INVOICE', issuer, customer, cae: '62010', currency: 'EUR' };
  const { net, tax, gross } = priced.totals;
  await client.query('insert into shapes values ($1, $2, $3, $4, $5, $6, $7)', [
    k,
    customer.id,
    chosen.map(({ id }) => id),
    net,
    tax,
    gross,
    JSON.stringify(content),
  ]);
}
