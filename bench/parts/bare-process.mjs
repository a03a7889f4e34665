// What the parts of the product take when nothing of the product is done: Fastify and pg answer POST /invoices/:id/issue in
// groups of 16, signed on a thread and written in one statement while the next are signed. A row, a claim and an answer are as
// long as the product's; there are no rules, no seals, no row-level security, no audit, and no index but the keys.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { fastify } from 'fastify';
import pg from 'pg';
import { ByColumn } from '../../dist/db/by-column.js';

const most_together = 16;
const most_under_way = 2;
const length = { document: 1_100, claim: 150, answer: 8_700 };

const tables = `
  drop table if exists documents, claims, series;
  create table documents (id uuid primary key, number bigint not null unique, hash text not null, content text not null);
  create table claims (key text primary key, id uuid not null, claim text not null);
  create table series (id integer primary key, last_number bigint not null, last_hash text not null);
  insert into series values (1, 0, '')`;
const list = new ByColumn({ id: 'uuid', number: 'bigint', hash: 'text', content: 'text', key: 'text', claim: 'text' });
const write = `with issued as materialized (select * from ${list.rows} v),
  written as (insert into documents select id, number, hash, content from issued),
  claimed as (insert into claims select key, id, claim from issued)
  update series set last_number = $7::bigint, last_hash = $8 where id = 1`;

const content = 'x'.repeat(length.document);
const claim = 'x'.repeat(length.claim);
const answer = JSON.stringify({ answer: 'x'.repeat(length.answer) });

const database = new pg.Client(JSON.parse(process.env.BARE_DATABASE));
await database.connect();
await database.query(tables);

const signer = new Worker(new URL('bare-sign.mjs', import.meta.url));
async function sign(first, count) {
  signer.postMessage({ first, count });
  const [signatures] = await once(signer, 'message');
  return signatures;
}

let last = 0;
const waiting = [];
const signed = [];
let isSigning = false;
let underWay = 0;

async function signNext() {
  if (isSigning || waiting.length === 0) return;
  isSigning = true;
  const group = waiting.splice(0, most_together);
  const first = last + 1;
  last += group.length;
  const hashes = await sign(first, group.length);
  isSigning = false;
  signed.push({ group, hashes, first });
  writeNext();
  signNext();
}

async function writeNext() {
  if (underWay === most_under_way || signed.length === 0) return;
  underWay += 1;
  const { group, hashes, first } = signed.shift();
  const rows = group.map(({ id, key }, i) => ({ id, number: first + i, hash: hashes[i], content, key, claim }));
  const values = [...list.encode(rows), first + group.length - 1, hashes.at(-1)];
  await database.query({ name: 'write', text: write, values });
  underWay -= 1;
  writeNext();
  for (const { done } of group) done();
}

const app = fastify({ logger: false });
app.post('/invoices/:id/issue', ({ params, headers }, reply) => {
  const done = () => reply.header('content-type', 'application/json').send(answer);
  waiting.push({ id: params.id, key: headers['idempotency-key'], done });
  if (waiting.length === 1) setImmediate(signNext);
  return reply;
});
await app.listen({ host: '127.0.0.1', port: 0 });
process.send({ port: app.server.address().port });
