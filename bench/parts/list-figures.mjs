// Lists of a company with a million documents, beside one with ten thousand and beside the plain SQL for the same. Measured
// once for all rows: filling the books takes longer than any of the figures.
import { randomBytes, randomUUID } from 'node:crypto';
import { useEmbedded } from '../../dist/db/embedded.js';
import { openOwner } from '../../dist/db/open.js';
import { mintToken, tokenHash } from '../../dist/identity/tokens.js';
import { openClient } from './client.mjs';
import { fillListed } from './listed-books.mjs';
import { startPrepared } from './service.mjs';
import { median, percentile } from './statistics.mjs';

/** Documents of the large company; BENCH_DOCUMENTS says another number. */
const large = { whole: 1_000_000, quick: 50_000 };
const small = 10_000;
const first_pages = { whole: 1_000, quick: 50 };
const tries = 5;

let measured;

/** @returns {Promise<{ count: number, first: { small: number[], large: number[] }, deep: object, searches: object[] }>} in milliseconds, one for each round. */
export function listFigures(tools) {
  measured ??= measure(tools);
  return measured;
}

async function measure({ say, rounds, quick }) {
  const size = quick ? 'quick' : 'whole';
  const count = Number(process.env.BENCH_DOCUMENTS ?? large[size]);
  // Its check of the books at the start comes before there are documents whose seals prove nothing.
  const service = await startPrepared();
  const server = await useEmbedded({
    dataDirectory: service.folder,
    uid: process.getuid?.() ?? 1,
    log: () => undefined,
  });
  const owner = await openOwner(server);
  const clients = [];
  try {
    for (const [nif, documents] of [
      ['500000000', small],
      ['501442600', count],
    ]) {
      const id = await fillListed(owner, { count: documents, nif, say });
      clients.push({ id, ...openClient(service.baseUrl, { 'x-api-key': await addKey(owner, id) }, 1) });
    }
    return { count, ...(await rounded({ say, rounds, pages: first_pages[size] }, clients, owner, count)) };
  } finally {
    for (const client of clients) client.close();
    await owner.end();
    await server.stop();
    await service.stop();
  }
}

async function addKey(owner, companyId) {
  const token = mintToken('svc_sk_', randomBytes(32));
  await owner.query(
    `insert into certo.api_keys (company_id, id, lineage, name, prefix, hash) values ($1, $2, $2, 'bench', 'bench', $3)`,
    [companyId, randomUUID(), tokenHash(token)],
  );
  return token;
}

async function rounded({ say, rounds, pages }, [few, many], owner, count) {
  const first = { small: [], large: [] };
  const deep = { ours: [], plain: [] };
  const searches = termsOf(count).map((term) => ({ ...term, ours: [], plain: [] }));
  for (const client of [few, many]) await firstPages(client, Math.ceil(pages / 4));
  // In turns, so that what else the machine does meets both.
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`);
    first.small.push(percentile(await firstPages(few, pages), 0.99));
    first.large.push(percentile(await firstPages(many, pages), 0.99));
    const offset = Math.floor(count / 2);
    deep.ours.push(await overHttp(many, `/invoices?offset=${offset}`));
    deep.plain.push(await inSql(owner, plainOffset, [many.id, offset]));
    for (const search of searches) {
      search.ours.push(await overHttp(many, `/invoices?search=${encodeURIComponent(search.words)}`));
      search.plain.push(
        await inSql(owner, ilikeScan, [many.id, `%${search.words}%`], ['index', 'indexonly', 'bitmap']),
      );
    }
  }
  return { first, deep, searches };
}

/** One or two of each class; the worst of all counts. */
const termsOf = (count) => [
  { kind: 'rare word', words: 'Instalação' },
  { kind: 'common word', words: 'Avença' },
  { kind: 'fragment of a number', words: `A2026/${Math.floor(count / 3)}` },
  { kind: 'fragment of an ATCUD', words: `1XZ-${Math.floor(count / 3)}` },
  { kind: 'short, in most', words: 'av' },
  { kind: 'short, in none', words: 'zq' },
];

async function firstPages(client, pages) {
  const taken = [];
  for (let page = 0; page < pages; page++) taken.push(await timed(() => client.expect(200, 'GET', '/invoices')));
  return taken.sort((a, b) => a - b);
}

async function overHttp(client, path) {
  const taken = [];
  for (let attempt = 0; attempt < tries; attempt++) taken.push(await timed(() => client.expect(200, 'GET', path)));
  return median(taken);
}

/** As the owner, for whom row-level security adds nothing; without these ways of the planner. */
async function inSql(owner, text, values, without = []) {
  const client = await owner.connect();
  try {
    await client.query('begin');
    for (const way of without) await client.query(`set local enable_${way}scan = off`);
    const taken = [];
    for (let attempt = 0; attempt < 2; attempt++) taken.push(await timed(() => client.query(text, values)));
    await client.query('rollback');
    return Math.min(...taken);
  } finally {
    client.release();
  }
}

async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

const columns = `id, number, type, status, date, tax_point_date, due_date, currency, parent_id, schedule_template_id, net, gross, tax,
  customer_id, customer_name, customer_nif, customer_email, content -> 'parent' as parent`;
const listed = `company_id = $1 and family in ('SALES', 'RECEIPT') and status <> 'SCHEDULED'`;
const plainOffset = `select ${columns} from certo.documents where ${listed} order by created_at desc, id desc limit 20 offset $2`;
const ilikeScan = `select ${columns} from certo.documents where ${listed} and (number ilike $2 or atcud ilike $2 or customer_name ilike $2
  or customer_nif ilike $2 or description ilike $2) order by created_at desc, id desc limit 20`;
