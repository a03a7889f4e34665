/**
 * Reporting issued documents to the tax authority. The documents' own columns are the outbox: PENDING rows are leased, sent
 * and marked, transport documents first, the others in order of issue (those that got no answer before come last). A lost
 * answer is sent again and recognised by the AT (-10), so each document stands there exactly once; an outage only delays,
 * for as long as it lasts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AtGateway, Credentials } from '../../at/gateway.ts';
import type { Call, Db, Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { Region } from '../../fiscal/document.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import type { MasterKey } from '../../keys/sealing.ts';
import { credentialsOf, markCredentialsWrong } from '../../operations/series/registration.ts';
import type { FailureLog } from '../failure-log.ts';
import { type Answer, settle } from './settle.ts';
import { nextStatus, type Service, serviceOf, tell, toldColumns } from './tell.ts';
import type { Unreached } from './unreached.ts';

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
const due = `company_id = certo.current_company() and at_status = 'PENDING' and (at_next_at is null or at_next_at <= (select certo.now()))`;
// Transport documents have to be told before their start, so those that have not started do not queue behind invoices: of
// these there may be thousands that wait for their own service. The order is that of an index (documents_by_movement), nulls too.
const lease = statement(
  'report_lease',
  `with urgent as (
     select id from certo.documents where family = 'TRANSPORT' and movement_start > (select certo.now()) and ${due}
     order by movement_start nulls first, id limit ${group_size} for update skip locked),
   others as (
     select id from certo.documents where ${due}
     order by issued_at, sequence limit ${group_size} for update skip locked)
   update certo.documents d set at_lease = $1, at_attempts = d.at_attempts + 1, at_next_at = certo.now() + interval '${lease_seconds} seconds'
   where d.company_id = certo.current_company()
     and d.id = any (array(select id from urgent) || array(select id from others))
   returning ${toldColumns}`,
);
// Of a transport document never more than half of what is left until its start, by which it has to be told.
const postpone = statement(
  'report_postpone',
  `update certo.documents set at_lease = null, at_next_at = certo.now() + least(make_interval(secs => $3),
       case when movement_start > certo.now() then greatest((movement_start - certo.now()) / 2, interval '1 second') end),
     at_problem = coalesce($4, at_problem), at_attempts = at_attempts - $5
   where company_id = certo.current_company() and id = $1 and at_lease = $2`,
);

/** Stands on the document until it is told. */
const untold = 'the program cannot make the message for this document; its log says why';

/**
 * Sends one group of a company's due documents, with those to be told before their start; true when there may be more to
 * send at once. `failures`, `unreached`: of all groups.
 */
export async function reportGroup(
  world: ReportWorld,
  companyId: string,
  failures: FailureLog,
  unreached: Unreached,
): Promise<boolean> {
  const leaseId = world.newId();
  const { company, rows } = await world.db.transact(entryOfCompany(companyId, 'clock'), async (tx) => {
    const [credentials, leased] = await tx.batch([
      [readCredentials, []],
      [lease, [leaseId]],
    ]);
    return { company: credentials![0]!, rows: leased!.sort(inTurn) };
  });
  if (rows.length === 0) return false;
  const group = new Group(world, { failures, unreached }, companyId, company, leaseId);
  try {
    for (const row of rows) await group.report(row);
  } finally {
    await group.settle();
  }
  return !group.stopped && rows.length >= group_size;
}

interface OfAll {
  readonly failures: FailureLog;
  readonly unreached: Unreached;
}

type Told = Awaited<ReturnType<typeof tell>> | { readonly kind: 'fault' };

/** Documents of one lease on their way to the AT, and what is to be written down of them. */
class Group {
  readonly #world: ReportWorld;
  readonly #ofAll: OfAll;
  readonly #companyId: string;
  readonly #company: Row;
  readonly #credentials: Credentials | undefined;
  readonly #leaseId: string;
  readonly #answers: Answer[] = [];
  readonly #postponed: Call[] = [];
  // Services of the AT that did not answer, with how long they rest. They fail apart: an invoice that can't be told must
  // not hold up a transport document, which has to be told before its start.
  readonly #resting = new Map<Service, number>();
  #refused: boolean;

  constructor(world: ReportWorld, ofAll: OfAll, companyId: string, company: Row, leaseId: string) {
    this.#world = world;
    this.#ofAll = ofAll;
    this.#companyId = companyId;
    this.#company = company;
    this.#credentials = credentialsOf(company, world.master);
    this.#leaseId = leaseId;
    this.#refused = this.#credentials === undefined;
  }

  /** The AT is not asked again at once. */
  get stopped(): boolean {
    return this.#refused || this.#resting.size > 0;
  }

  /** Tells the AT, and keeps what it answers. */
  async report(row: Row): Promise<void> {
    const service = serviceOf(row);
    const rest = this.#resting.get(service);
    if (this.#refused || rest !== undefined) return this.#postpone(row, { seconds: rest ?? 0, unsent: true });
    if (this.#world.busy()) await sleep(rest_ms);
    const outcome = await this.#tell(row);
    const id = String(row['id']);
    const away = this.#secondsAway(service, outcome);
    switch (outcome.kind) {
      case 'done': {
        const { code, message, atDocCode } = outcome;
        return this.#accepted({ id, status: 'ACCEPTED', code, message, told: nextStatus(row), atDocCode });
      }
      case 'refused': {
        const { code, message, reason } = outcome;
        if (reason === 'credentials') return this.#stop(row, code, message);
        this.#log('warn', row, { code }, 'the AT refused a document');
        this.#answers.push({ id, status: 'REJECTED', code, message });
        return;
      }
      case 'unknown': {
        const { problem, sent } = outcome;
        const seconds = waitSeconds(Number(row['at_attempts']), this.#world.random(), away);
        const occurrence = { companyId: this.#companyId, number: row['number'], seconds };
        this.#ofAll.failures.unanswered(problem, 'no answer from the AT; trying again later', occurrence);
        this.#postpone(row, { seconds, problem, unsent: !sent });
        this.#resting.set(service, seconds);
        return;
      }
      case 'fault': {
        // Another version of the program may cure it, and nothing sooner.
        const seconds = jittered(longest_wait_seconds, this.#world.random());
        this.#postpone(row, { seconds, problem: untold, unsent: true });
      }
    }
  }

  /** A document that can't be told is a fault of ours, and of that document alone. */
  async #tell(row: Row): Promise<Told> {
    const region = this.#company['region'] as Region;
    try {
      return await tell({ at: this.#world.at, credentials: this.#credentials!, row, region });
    } catch (error) {
      this.#log('error', row, { err: error }, 'a document cannot be told to the AT; it is tried again later');
      return { kind: 'fault' };
    }
  }

  /** For how long the service could not be reached; 0 once it was. */
  #secondsAway(service: Service, outcome: Told): number {
    const key = `${this.#companyId} ${service}`;
    if (outcome.kind === 'unknown' && !outcome.sent) return this.#ofAll.unreached.failed(key);
    if (outcome.kind !== 'fault') this.#ofAll.unreached.reached(key);
    return 0;
  }

  async #accepted(answer: Answer): Promise<void> {
    if (answer.atDocCode === undefined) {
      this.#answers.push(answer);
      return;
    }
    try {
      // Written down before the next call, which may be the last one of this process.
      await this.#settle([answer]);
    } catch (error) {
      // It comes once: tried again with the others.
      this.#answers.push(answer);
      throw error;
    }
  }

  async #stop(row: Row, code: string, message: string): Promise<void> {
    this.#log('warn', row, { code }, 'the AT refused the credentials; reporting stops for this company');
    await markCredentialsWrong(this.#world.db, this.#companyId, this.#company);
    this.#postpone(row, { seconds: 0, problem: message, unsent: true });
    this.#refused = true;
  }

  /** `unsent`: the attempt is taken back, so that it does not count as one whose answer was lost. */
  #postpone(row: Row, { seconds, problem, unsent }: { seconds: number; problem?: string; unsent: boolean }): void {
    this.#postponed.push([postpone, [String(row['id']), this.#leaseId, seconds, problem ?? null, unsent ? 1 : 0]]);
  }

  /** Writes down what is not written down yet: together, or each for itself where that fails. */
  async settle(): Promise<void> {
    try {
      return await this.#settle(this.#answers, this.#postponed);
    } catch (error) {
      // Of one that stands alone with nothing beside it there is nothing to part.
      if (this.#answers.length + this.#postponed.length < 2) throw error;
    }
    let failed: { readonly error: unknown } | undefined;
    const alone = [...this.#answers.map((answer) => [answer]), []];
    for (const answers of alone) {
      await this.#settle(answers, answers.length === 0 ? this.#postponed : []).catch((error) => {
        failed = { error };
      });
    }
    if (failed !== undefined) throw failed.error;
  }

  #settle(answers: readonly Answer[], more: readonly Call[] = []): Promise<void> {
    return settle(this.#world, entryOfCompany(this.#companyId, 'clock'), this.#leaseId, answers, more);
  }

  #log(level: 'warn' | 'error', row: Row, facts: object, words: string): void {
    this.#world.log[level]({ companyId: this.#companyId, number: row['number'], ...facts }, words);
  }
}

/**
 * Returned rows come in no order. Transport documents come first, since they have to be told before their start. Then
 * documents are told in the order they were issued; what the AT gave no answer to comes after what it was not asked, since
 * one document that it can't digest must not hold up all the others for ever.
 */
function inTurn(a: Row, b: Row): number {
  const later = (row: Row) => Number(serviceOf(row) !== 'transport');
  return (
    later(a) - later(b) ||
    Number(a['at_attempts']) - Number(b['at_attempts']) ||
    (a['issued_at'] as Date).getTime() - (b['issued_at'] as Date).getTime() ||
    Number(a['sequence']) - Number(b['sequence'])
  );
}

/** 1 s · 2^n, or as long as it could not be reached, with jitter, at most 5 minutes. It never runs out of attempts. */
export function waitSeconds(attempts: number, random: number, away = 0): number {
  const full = Math.min(longest_wait_seconds, Math.max(2 ** Math.min(attempts - 1, 20), away));
  return jittered(full, random);
}

const jittered = (seconds: number, random: number): number => seconds * (0.5 + random / 2);
