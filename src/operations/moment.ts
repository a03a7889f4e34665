/**
 * The moment of a company: the time by the database's clock, and everything of the company and its series that drafts and
 * numbers are decided on, with a digest of it. Whoever has read it without a lock, be it long ago, writes on condition that
 * the digest is still the same and the time not far.
 */
import { type Call, callFor, clock, type Element, listStatement, oneOr, type Row, statement } from '../db/transact.ts';
import { issuerColumns, readinessColumns } from './company/company.ts';

// Of the series only what never moves while documents are numbered; readiness asks nothing else of them. What identifies one is
// frozen, and its code is with it once it is active; its start too, once the AT has told it.
const companyAndBooks = `certo.companies c,
     lateral (select max(s.last_issued_at) as last_signed,
         bit_xor(uuid_hash_extended(s.id, s.is_default::int + 2 * (s.start_date is null)::int)) filter (where s.status = 'ACTIVE') as active
       from certo.series s where s.company_id = c.id) series,
     lateral (select exists (select from certo.integrity_breaks b where b.company_id = c.id and b.resolved_at is null) as broken,
       (select max(k.version) from certo.signing_keys k) as key_version) books`;
const own = `c.region, ${issuerColumns}, c.cae, c.cash_vat_from, c.cash_vat_until, books.broken, books.key_version`;
// Not when series were compared with the AT's last: that is daily, and decides nothing.
const digest = `hash_record_extended((${own}, c.at_state, c.at_synced_at is null, c.at_series_differ, series.active), 0)::text`;

// After a lock, in the same round trip: the time must not be older than what the lock waited for.
export const readMoment = statement(
  'number_moment',
  `select certo.now() as now, ${own}, ${readinessColumns('certo.current_company()')}, series.last_signed, ${digest} as digest
   from ${companyAndBooks} where c.id = certo.current_company()`,
  'last',
);

/** What was decided last may have read the clock a little before or after; by more, a clock was set. */
export const a_moment_ms = 1_000;
/** From the decision to its writing, at most. */
const most_behind_seconds = 5;

const holdMoment = listStatement(
  'unchanged_moment',
  oneOr(
    `${companyAndBooks}, ${clock} m
     where c.id = certo.current_company() and c.id = $1::uuid and ${digest} = $2::text
       and m.now between $4::timestamptz - interval '${a_moment_ms} ms' and $3::timestamptz + interval '${most_behind_seconds} s'
       and (series.last_signed is null or series.last_signed <= $3::timestamptz + interval '${a_moment_ms} ms')`,
    'certo.changed_meanwhile()',
  ),
  { joins: firstAndLast, columns: ['id', 'digest', 'first', 'last'] },
);

/** On condition that the company is as `moment` found it; `now`: when it is decided that it is. */
export function holdMomentCall({ id, digest }: Row, now: Date): Call {
  return callFor(holdMoment, [{ id: String(id), digest, first: now, last: now }]);
}

/** Of what was decided on the same moment, the earliest and the latest: the others are between them. */
function firstAndLast(elements: readonly Element[]): Timed[][] {
  const byDigest = new Map<unknown, Timed>();
  for (const element of elements as readonly Timed[]) {
    const { id, digest } = element;
    const before = byDigest.get(digest) ?? element;
    const first = element.first < before.first ? element.first : before.first;
    const last = element.last > before.last ? element.last : before.last;
    // Written out: members that are written over a copy V8 looks up each time.
    byDigest.set(digest, { id, digest, first, last });
  }
  return [...byDigest.values()].map((held) => [held]);
}

interface Timed {
  readonly id: string;
  readonly digest: unknown;
  readonly first: Date;
  readonly last: Date;
  readonly [column: string]: unknown;
}
