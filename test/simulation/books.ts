/** What must hold in the books after any harm, asked of the tables themselves and of `certo verify`. */

import { isDeepStrictEqual } from 'node:util';
import { unfold } from '../../src/print/folded.ts';
import type { Wire } from '../client.ts';
import type { InvoiceJson } from '../replies.ts';
import type { Ground } from './ground.ts';
import type { Act, Journal } from './journal.ts';

// Numbers without gap or duplicate, signatures that follow each other, dates and times that never go back, heads at their last.
const broken = `
  with numbered as (
    select d.company_id, d.series_id, d.number, d.sequence, d.date, d.system_entry, d.issued_at, d.hash,
      lag(d.sequence) over w as before, lag(d.date) over w as date_before, lag(d.system_entry) over w as entry_before,
      lag(d.issued_at) over w as issued_before, lead(d.sequence) over w is null as is_last,
      s.last_number, s.last_hash, s.start_number
    from certo.documents d join certo.series s on s.company_id = d.company_id and s.id = d.series_id
    where d.number is not null
    window w as (partition by d.company_id, d.series_id order by d.sequence))
  select number, case
      when sequence <> coalesce(before + 1, start_number) then 'is a gap or a duplicate'
      when date < date_before then 'is dated before the one before it'
      when system_entry < entry_before or issued_at < issued_before then 'was signed before the one before it'
      when is_last and last_number <> sequence then 'is the last of its series, whose head says otherwise'
      when is_last and last_hash <> hash then 'is the last of its series, whose head has another signature'
    end as problem
  from numbered`;
const heads = `
  select s.code, s.document_type from certo.series s where s.last_number >= s.start_number and not exists (
    select from certo.documents d where d.company_id = s.company_id and d.series_id = s.id and d.sequence = s.last_number)`;

// An act leaves one entry in the audit and one completed claim, in one transaction: neither stands without the other. An answer
// that is told again (src/operations/operation.ts) is not there to say whom it concerned: of those there are as many.
const unmatched = `
  with done as (
      -- No JSON as it is recorded (src/print/folded.ts): each of these answers begins with the id, behind its name or the code of it.
      select c.company_id, c.operation, case when c.retold is not null then 'any'
          else substring(convert_from(c.body, 'UTF8') from '^(?:\\{"id":"|\\u001fA)([0-9a-f-]{36})') end as subject, count(*) as times
      from certo.claims c where c.completed_at is not null group by 1, 2, 3),
    acted as (
      -- A payment is recorded under the receipt that it numbers, and answered with the invoice.
      select a.company_id, o.route as operation, case when o.retold then 'any' else coalesce(case when a.operation = 'payInvoice' then
          (select d.parent_id from certo.documents d where d.company_id = a.company_id and d.id = a.subject_id) end, a.subject_id)::text
        end as subject, count(*) as times,
        not o.retold or count(*) = count(distinct a.subject_id) as each_once
      from certo.audit a join (values ('createDraft', 'POST /invoices', false), ('issueInvoice', 'POST /invoices/:id/issue', true),
        ('payInvoice', 'POST /invoices/:id/pay', false), ('cancelInvoice', 'POST /invoices/:id/cancel', false),
        ('createCreditNote', 'POST /invoices/credit-notes', false)) o (name, route, retold) on o.name = a.operation
      group by 1, 2, 3, o.retold)
  select coalesce(done.operation, acted.operation) as operation, coalesce(done.subject, acted.subject) as subject,
    coalesce(done.times, 0)::int as done, coalesce(acted.times, 0)::int as acted
  from done full join acted using (company_id, operation, subject)
  where (done.times is distinct from acted.times or not acted.each_once)
    and coalesce(done.operation, acted.operation) in (
      'POST /invoices', 'POST /invoices/:id/issue', 'POST /invoices/:id/pay', 'POST /invoices/:id/cancel', 'POST /invoices/credit-notes')`;

/** Everything that is wrong, each with `where` it was found. Works while the service runs, between requests. */
export async function faultsOf({ owner }: Ground, journals: readonly Journal[], where: string): Promise<string[]> {
  const found: string[] = journals.flatMap(({ violations }) => violations.splice(0));
  for (const { number, problem } of (await owner.query(`select * from (${broken}) f where problem is not null`)).rows)
    found.push(`${number} ${problem}`);
  for (const { code, document_type } of (await owner.query(heads)).rows)
    found.push(`series ${code} of ${document_type} has no document of its last number`);
  for (const { operation, subject, done, acted } of (await owner.query(unmatched)).rows)
    found.push(`${operation} of ${subject} was done ${acted} time(s) and recorded for ${done} key(s)`);
  found.push(...(await lost(owner, journals)));
  return found.map((words) => `${words} (${where})`);
}

/** The document that a request is about. */
const subjectOf = (path: string): string | undefined => /^\/invoices\/([0-9a-f-]{36})\//.exec(path)?.[1];

interface Kept {
  readonly key: string;
  /** Null where it is told again, of the document. */
  readonly body: Buffer | null;
  readonly number: string | null;
  readonly atcud: string | null;
  readonly hash: string | null;
  readonly qr: string | null;
}

/** What was told to a client stands in the books, byte for byte, or as far as it is frozen; what was refused does not. */
async function lost(owner: Ground['owner'], journals: readonly Journal[]): Promise<string[]> {
  const acts = journals.flatMap((journal) => journal.acts);
  const { rows } = await owner.query<Kept>(
    `select c.key, c.body, d.number, d.atcud, d.hash, d.qr
     from certo.claims c join unnest($1::text[], $2::uuid[]) asked (key, id) on asked.key = c.key
       left join certo.documents d on d.company_id = c.company_id and d.id = asked.id
     where c.completed_at is not null and (c.retold is null) = (c.body is not null)`,
    [acts.map(({ key }) => key), acts.map(({ path }) => subjectOf(path))],
  );
  const kept = new Map(rows.map((row) => [row.key, row]));
  const found: string[] = [];
  for (const { key, path, state, told } of acts) {
    const row = kept.get(key);
    if (told !== undefined && (row === undefined || !isAsTold(row, told)))
      found.push(`${path} (key ${key}) was acknowledged and is lost`);
    if ((state === 'never' || state === 'refused') && row !== undefined)
      found.push(`${path} (key ${key}) was told to be ${state} and is done`);
  }
  return found;
}

function isAsTold({ body, number, atcud, hash, qr }: Kept, told: Buffer): boolean {
  // As it is replayed: with its pictures.
  if (body !== null) return Buffer.from(unfold(body.toString())).equals(told);
  const issued = JSON.parse(told.toString()) as InvoiceJson;
  return isDeepStrictEqual(
    [issued.number, issued.atcud, issued.signature?.value, issued.qrCode?.data],
    [number, atcud, hash, qr],
  );
}

/** `certo verify`, which does not trust the program that wrote the books. */
export async function verified(ground: Ground, where: string): Promise<{ documents: number; faults: string[] }> {
  const { code, out, err } = await ground.run(['verify', '--json']);
  if (code !== 0 && code !== 1) return { documents: 0, faults: [`certo verify ended with ${code}: ${err} (${where})`] };
  const { documents, list } = JSON.parse(out) as {
    documents: number;
    list: { number: string | null; problem: string }[];
  };
  return { documents, faults: list.map(({ number, problem }) => `${number ?? 'a series'} ${problem} (${where})`) };
}

/** A claim whose process died is for ever unknown after its lease (90 s). */
export const lease_ms = 91_000;

export interface Reckoning {
  readonly documents: number;
  /** Acts of all journals that ended so. */
  readonly count: (state: Act['state']) => number;
  readonly faults: string[];
}

/**
 * The end of a run of harm. What was in the air is told after the lease, and is what the books say; then the ground is
 * given up.
 */
export async function reckon(
  ground: Ground,
  journals: readonly Journal[],
  wire: Wire,
  where: string,
): Promise<Reckoning> {
  await ground.shiftClock(lease_ms);
  for (const journal of journals) await journal.retry(wire);
  // What is told again is told as it was, by all that has happened since.
  for (const journal of journals) await journal.again(wire, 50);
  const open = journals.flatMap((journal) => journal.open());
  const faults = open.map(({ path, key, code }) => `${path} (key ${key}) is still open after its lease: ${code}`);
  faults.push(...(await faultsOf(ground, journals, `${where}, after the lease`)));
  const books = await verified(ground, where);
  await ground.close();
  const acts = journals.flatMap((journal) => journal.acts);
  return {
    documents: books.documents,
    count: (wanted) => acts.filter(({ state }) => state === wanted).length,
    faults: [...faults, ...books.faults],
  };
}
