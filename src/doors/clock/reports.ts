/**
 * Reporting issued documents to the tax authority. The documents' own columns are the outbox: PENDING rows are leased,
 * sent in order of issue (those that got no answer before come last) and marked. A lost answer is sent again and
 * recognised by the AT (-10), so each document stands there exactly once; an outage only delays, for as long as it lasts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AtGateway } from '../../at/gateway.ts';
import type { Call, Db, Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { Region } from '../../fiscal/document.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import type { MasterKey } from '../../keys/sealing.ts';
import { credentialsOf, markCredentialsWrong } from '../../operations/series/registration.ts';
import { type Answer, settle } from './settle.ts';
import { nextStatus, type Service, serviceOf, tell, toldColumns } from './tell.ts';

export interface ReportWorld {
  readonly db: Db;
  readonly at: AtGateway;
  readonly master: MasterKey;
  readonly log: Logger;
  readonly newId: () => string;
  /** A number between 0 and 1, for jitter. */
  readonly random: () => number;
  /** Many callers wait for the processor right now. */
  readonly busy: () => boolean;
}

const group_size = 20;
// Longer than two calls of the default deadline: a group goes on until each of two services did not answer once. One that
// takes longer does no harm: the AT recognises what another process sends again, and a code is kept whoever got it.
const lease_seconds = 150;
const longest_wait_seconds = 300;
/**
 * Before each document while callers wait: telling one takes the processor as long as issuing one, and the AT's deadlines
 * are days. A group takes half a second longer for it, and 40 a second are told all the same.
 */
const rest_ms = 25;

const readCredentials = statement(
  'report_credentials',
  'select region, at_username, at_password_sealed, at_state from certo.companies where id = certo.current_company()',
);
const lease = statement(
  'report_lease',
  `with due as (
     select id from certo.documents
     where company_id = certo.current_company() and at_status = 'PENDING' and (at_next_at is null or at_next_at <= certo.now())
     order by issued_at, sequence limit ${group_size} for update skip locked)
   update certo.documents d set at_lease = $1, at_attempts = d.at_attempts + 1, at_next_at = certo.now() + interval '${lease_seconds} seconds'
   from due where d.company_id = certo.current_company() and d.id = due.id
   returning ${toldColumns}`,
);
const postpone = statement(
  'report_postpone',
  `update certo.documents set at_lease = null, at_next_at = certo.now() + make_interval(secs => $3), at_problem = coalesce($4, at_problem),
     at_attempts = at_attempts - $5
   where company_id = certo.current_company() and id = $1 and at_lease = $2`,
);

/** Sends one group of a company's due documents; true when there may be more to send at once. */
export async function reportGroup(world: ReportWorld, companyId: string): Promise<boolean> {
  const entry = entryOfCompany(companyId, 'clock');
  const leaseId = world.newId();
  const { company, rows } = await world.db.transact(entry, async (tx) => {
    const [credentials, leased] = await tx.batch([
      [readCredentials, []],
      [lease, [leaseId]],
    ]);
    return { company: credentials![0]!, rows: leased!.sort(inTurn) };
  });
  if (rows.length === 0) return false;
  const credentials = credentialsOf(company, world.master);
  const answers: Answer[] = [];
  const postponed: Call[] = [];
  // Services of the AT that did not answer, with how long they rest. They fail apart: an invoice that can't be told must
  // not hold up a transport document, which has to be told before its start.
  const resting = new Map<Service, number>();
  let refused = credentials === undefined;
  for (const row of rows) {
    const id = String(row['id']);
    const service = serviceOf(row);
    const rest = resting.get(service);
    if (refused || credentials === undefined || rest !== undefined) {
      // Not sent: the attempt is taken back, so that it does not count as one whose answer was lost.
      postponed.push([postpone, [id, leaseId, rest ?? 0, null, 1]]);
      continue;
    }
    if (world.busy()) await sleep(rest_ms);
    const outcome = await tell({ at: world.at, credentials, row, region: company['region'] as Region });
    if (outcome.kind === 'done') {
      const { code, message, atDocCode } = outcome;
      const answer: Answer = { id, status: 'ACCEPTED', code, message, told: nextStatus(row), atDocCode };
      // Written down before the next call, which may be the last one of this process.
      if (atDocCode === undefined) answers.push(answer);
      else await settle(world, entry, leaseId, [answer]);
    } else if (outcome.kind === 'refused' && outcome.reason !== 'credentials') {
      world.log.warn({ companyId, number: row['number'], code: outcome.code }, 'the AT refused a document');
      answers.push({ id, status: 'REJECTED', code: outcome.code, message: outcome.message });
    } else if (outcome.kind === 'refused') {
      world.log.warn(
        { companyId, code: outcome.code },
        'the AT refused the credentials; reporting stops for this company',
      );
      await markCredentialsWrong(world.db, companyId, company);
      postponed.push([postpone, [id, leaseId, 0, outcome.message, 1]]);
      refused = true;
    } else {
      const seconds = waitSeconds(Number(row['at_attempts']), world.random());
      world.log.info(
        { companyId, number: row['number'], problem: outcome.problem, seconds },
        'no answer from the AT; trying again later',
      );
      postponed.push([postpone, [id, leaseId, seconds, outcome.problem, outcome.sent ? 0 : 1]]);
      resting.set(service, seconds);
    }
  }
  await settle(world, entry, leaseId, answers, postponed);
  return !refused && resting.size === 0 && rows.length === group_size;
}

/**
 * Returned rows come in no order. Documents are told in the order they were issued; what the AT gave no answer to comes
 * after what it was not asked, since one document that it can't digest must not hold up all the others for ever.
 */
function inTurn(a: Row, b: Row): number {
  return (
    Number(a['at_attempts']) - Number(b['at_attempts']) ||
    (a['issued_at'] as Date).getTime() - (b['issued_at'] as Date).getTime() ||
    Number(a['sequence']) - Number(b['sequence'])
  );
}

/** 1 s · 2^n with jitter, at most 5 minutes. It never runs out of attempts. */
export function waitSeconds(attempts: number, random: number): number {
  const full = Math.min(longest_wait_seconds, 2 ** Math.min(attempts - 1, 20));
  return full * (0.5 + random / 2);
}
