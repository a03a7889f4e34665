/**
 * Series at the tax authority: registering one before its first use, and comparing ours with what the AT holds. Both
 * call the outside, so they run from a command or from the clock, never inside a request.
 */
import type { AtGateway, Credentials } from '../../at/gateway.ts';
import type { AtDocumentCode, RegisterSeries, SeriesRecord } from '../../at/reports.ts';
import type { Db, Entry, Row, Tx } from '../../db/transact.ts';
import { statement, untangled } from '../../db/transact.ts';
import type { Day, DocumentType } from '../../fiscal/document.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { mayBeCashVat, type SeriesKind, seriesTypeCode } from '../../fiscal/regime.ts';
import { isSeriesCode } from '../../fiscal/series.ts';
import { addDays, dayOf } from '../../fiscal/time.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import type { MasterKey } from '../../keys/sealing.ts';
import { actCall } from '../operator.ts';
import { fillDefault, holdAlike, takeDefault } from './default-series.ts';

export interface SeriesWorld {
  readonly db: Db;
  readonly at: AtGateway;
  readonly master: MasterKey;
  readonly newId: () => string;
  readonly certificateNumber: number;
}

const readCredentials = statement(
  'at_credentials_read',
  `select at_username, at_password_sealed, at_state, certo.now() as now,
     (select max(restored_at) from certo.restores where not nothing_lost) as lost_until
   from certo.companies where id = certo.current_company()`,
);
const insertSeries = statement(
  'series_insert',
  `insert into certo.series (company_id, id, document_type, at_type, code, kind, cash_vat)
   values (certo.current_company(), $1, $2, $3, $4, $5, $6) on conflict (company_id, at_type, code_key) do nothing returning id`,
);
const readSeries = statement(
  'series_by_code',
  `select id, code, status, validation_code, kind, cash_vat, created_at from certo.series
   where company_id = certo.current_company() and at_type = $1 and code_key = upper($2)`,
);
const activate = statement(
  'series_activate',
  `update certo.series set status = 'ACTIVE', validation_code = $2, start_date = $3, updated_at = certo.now()
   where company_id = certo.current_company() and id = $1 and status = 'PENDING' returning id`,
);
const readActive = statement(
  'series_active',
  `select id, at_type, code, validation_code, start_date from certo.series where company_id = certo.current_company() and status = 'ACTIVE'`,
);
// Not `updated_at`: it tells whether a series was ENDING before a backup (end-series.ts). In order of id, as everyone who
// locks several of them.
const setStarts = statement(
  'series_set_starts',
  `update certo.series s set start_date = told.day from unnest($1::uuid[], $2::date[]) told (id, day)
   where s.company_id = certo.current_company() and s.id = told.id and s.start_date is null and s.id = any (array(
     select k.id from certo.series k where k.company_id = certo.current_company() and k.id = any ($1::uuid[]) and k.start_date is null
     order by k.id for no key update))`,
);
// What the AT said is said of the credentials it was asked with: others may have been set since.
const setWrong = statement(
  'company_at_wrong',
  `update certo.companies set at_state = 'WRONG', updated_at = certo.now()
   where id = certo.current_company() and at_state <> 'WRONG' and at_password_sealed = $1`,
);
const setSynced = statement(
  'company_at_synced',
  `update certo.companies set at_state = 'OK', at_synced_at = certo.now(), at_series_differ = $1, updated_at = certo.now()
   where id = certo.current_company() and at_password_sealed = $2`,
);

/** The company's sub-user at the AT, its password opened. Undefined when there is none or the AT refused it. */
export function credentialsOf(row: Row, master: MasterKey): Credentials | undefined {
  if (row['at_username'] === null || row['at_password_sealed'] === null || row['at_state'] === 'WRONG')
    return undefined;
  return {
    username: String(row['at_username']),
    password: master.open('at-password', row['at_password_sealed'] as Buffer).toString('utf8'),
  };
}

export interface WantedSeries {
  readonly documentType: DocumentType;
  readonly code: string;
  /** N when absent. Training (F) and recovery (R) series have to be named; they are nobody's default. */
  readonly kind?: SeriesKind | undefined;
  /** For the cash VAT scheme; its receipts are the type RC. */
  readonly cashVat?: boolean | undefined;
}

export interface RegisteredSeries {
  readonly id: string;
  readonly code: string;
  readonly documentType: DocumentType;
  readonly kind: SeriesKind;
  readonly cashVat: boolean;
  readonly validationCode: string;
  /** Registered before this call. */
  readonly existed: boolean;
}

/**
 * Registers a series at the AT and activates it; safe to repeat after a lost answer (4001: the code is read with
 * listSeries, of a series that can only be ours). Refuses SERIES_CODE_INVALID, SERIES_CODE_TAKEN, SERIES_NOT_CASH_VAT, AT_CREDENTIALS_MISSING, AT_REFUSED,
 * AT_UNREACHABLE.
 */
export async function registerSeries(
  world: SeriesWorld,
  companyId: string,
  wanted: WantedSeries,
): Promise<RegisteredSeries> {
  const { documentType, code, kind = 'N', cashVat = false } = wanted;
  if (!isSeriesCode(code)) throw new Refusal('SERIES_CODE_INVALID', { code });
  if (cashVat && !mayBeCashVat(documentType)) throw new Refusal('SERIES_NOT_CASH_VAT', { type: documentType });
  const atType = seriesTypeCode(documentType, cashVat) as AtDocumentCode;
  const entry = entryOfCompany(companyId, 'operator');
  const { series, company, credentials } = await begin(world, entry, { documentType, atType, code, kind, cashVat });
  const id = String(series['id']);
  const registered = { id, code, documentType, kind, cashVat };
  if (credentials === undefined) {
    return { ...registered, validationCode: String(series['validation_code']), existed: true };
  }
  // The AT judges the start date by Lisbon's day (4049 when it is past), also for companies of the islands.
  const { validationCode, startDate } = await registeredAt(world, credentials, {
    series: code,
    documentCode: atType,
    kind,
    startDate: dayOf(company['now'] as Date, 'PT'),
    firstAsked: series['created_at'] as Date,
    lostUntil: company['lost_until'] as Date | null,
  });
  await untangled(() =>
    world.db.transact(entry, async (tx) => {
      const all = await tx.batch([holdAlike(id), [activate, [id, validationCode, startDate]], fillDefault(id)]);
      const [, activated = [], [filled] = []] = all;
      await tx.batch([
        ...(filled?.['id'] === id ? takeDefault(id) : []),
        // None: the same command, run twice at once, has done it.
        ...activated.map(() => actCall('registerSeries', id)),
      ]);
    }),
  );
  return { ...registered, validationCode, existed: false };
}

interface Begun {
  readonly series: Row;
  readonly company: Row;
  /** To tell the AT with; undefined of a series that is ACTIVE. */
  readonly credentials: Credentials | undefined;
}

/** Writes down what is asked for before the AT is told, since its answer may be lost. What is refused here leaves nothing. */
function begin(
  world: SeriesWorld,
  entry: Entry,
  { documentType, atType, code, kind, cashVat }: Required<WantedSeries> & { readonly atType: AtDocumentCode },
): Promise<Begun> {
  return world.db.transact(entry, async (tx) => {
    const results = await tx.batch([
      [insertSeries, [world.newId(), documentType, atType, code, kind, cashVat]],
      [readSeries, [atType, code]],
      [readCredentials, []],
    ]);
    const [series, company] = [results[1]![0]!, results[2]![0]];
    if (company === undefined) throw new Refusal('COMPANY_NOT_FOUND');
    const { status } = series;
    // The same letters in another case are the same series for the AT, but not the same text on documents.
    const same = series['code'] === code && series['kind'] === kind && series['cash_vat'] === cashVat;
    if (!same || (status !== 'PENDING' && status !== 'ACTIVE')) throw new Refusal('SERIES_CODE_TAKEN', { code });
    if (status === 'ACTIVE') return { series, company, credentials: undefined };
    const credentials = credentialsOf(company, world.master);
    if (credentials === undefined) throw new Refusal('AT_CREDENTIALS_MISSING');
    return { series, company, credentials };
  });
}

type Registration = Pick<RegisterSeries, 'series' | 'documentCode' | 'startDate'> & {
  readonly kind: SeriesKind;
  /** When this series was asked for here, before the AT was told of it. */
  readonly firstAsked: Date;
  /** The last restore after which documents may be missing. */
  readonly lostUntil: Date | null;
};

/** As the AT has it now, or had it already. */
async function registeredAt(
  world: SeriesWorld,
  credentials: Credentials,
  { firstAsked, lostUntil, ...wanted }: Registration,
): Promise<Pick<SeriesRecord, 'validationCode' | 'startDate'>> {
  const message = { ...wanted, firstNumber: 1, certificateNumber: world.certificateNumber };
  const outcome = await world.at.registerSeries(credentials, message);
  if (outcome.kind === 'done') return { validationCode: outcome.series.validationCode, startDate: message.startDate };
  if (outcome.kind === 'unknown') throw new Refusal('AT_UNREACHABLE', { problem: outcome.problem });
  if (outcome.code !== '4001') throw new Refusal('AT_REFUSED', { code: outcome.code, message: outcome.message });
  // Registered before, perhaps by ourselves with the answer lost: then the active record has the code.
  const { series, documentCode } = wanted;
  const registeredFrom = earliestOwn(firstAsked, lostUntil);
  const listed = await world.at.listSeries(credentials, { series, documentCode, state: 'A', registeredFrom });
  if (listed.kind === 'unknown') throw new Refusal('AT_UNREACHABLE', { problem: listed.problem });
  if (listed.kind === 'refused') throw new Refusal('AT_REFUSED', { code: listed.code, message: listed.message });
  const found = listed.series.find((record) => isOwnUnused(record, message));
  if (found === undefined) throw new Refusal('SERIES_CODE_TAKEN', { code: series });
  // Of an earlier try: the day that was told then.
  return found;
}

/**
 * The day from which on a registration may be ours: nobody told the AT of the series before it was asked for here, and one
 * from before a restore may have been ours and is forgotten, with documents in it. The AT tells days only.
 */
function earliestOwn(firstAsked: Date, lostUntil: Date | null): Day {
  const asked = dayOf(firstAsked, 'PT');
  const known = lostUntil === null ? asked : addDays(dayOf(lostUntil, 'PT'), 1);
  return asked > known ? asked : known;
}

/**
 * What the AT has is what was sent, and nothing was numbered in it. A series of the tax portal, of another program or from
 * another first number on is none of ours: its documents would be out of range, or have numbers that are used already.
 */
function isOwnUnused(record: SeriesRecord, sent: RegisterSeries): boolean {
  return (
    record.series === sent.series &&
    record.documentCode === sent.documentCode &&
    record.kind === sent.kind &&
    record.state === 'A' &&
    record.processing === 'PI' &&
    Number(record.firstNumber) === sent.firstNumber &&
    record.certificateNumber !== undefined &&
    Number(record.certificateNumber) === sent.certificateNumber &&
    Number(record.lastNumber ?? 0) === 0
  );
}

export type SyncResult = 'ok' | 'differ' | 'wrong-credentials' | 'no-credentials' | 'unreachable';

export interface Comparison {
  readonly result: SyncResult;
  /** The series that differ, as "FT A2026". */
  readonly differing: readonly string[];
}

const ended = (result: Exclude<SyncResult, 'differ'>): Comparison => ({ result, differing: [] });

/** As `compareSeries`, where it does not matter which series differ. */
export async function syncSeries(world: SeriesWorld, companyId: string): Promise<SyncResult> {
  return (await compareSeries(world, companyId)).result;
}

/**
 * Compares our active series with the AT's and records the result, which readiness shows, and the start of those whose start
 * is not known here. Refused credentials are not tried again.
 */
export async function compareSeries(world: SeriesWorld, companyId: string): Promise<Comparison> {
  const entry = entryOfCompany(companyId, 'clock');
  const results = await world.db.read(entry).batch([
    [readCredentials, []],
    [readActive, []],
  ]);
  const company = results[0]![0];
  if (company === undefined) throw new Refusal('COMPANY_NOT_FOUND');
  const credentials = credentialsOf(company, world.master);
  if (company['at_state'] === 'WRONG') return ended('wrong-credentials'); // Refused before: asking again may lock the account.
  if (credentials === undefined) return ended('no-credentials');
  // Ended series grow more for ever, and with all of them the answer would be longer than is read some day.
  const outcome = await world.at.listSeries(credentials, { state: 'A' });
  if (outcome.kind === 'unknown') return ended('unreachable');
  if (outcome.kind === 'refused') {
    // An outage or a fault of the program never counts against the company (contract decisions 3, Readiness).
    if (outcome.reason !== 'credentials') return ended('unreachable');
    await world.db.transact(entry, (tx) => tx.query(setWrong, [company['at_password_sealed']]));
    return ended('wrong-credentials');
  }
  const known = new Map(
    outcome.series
      .filter(({ state }) => state === 'A')
      .map((s) => [`${s.documentCode} ${s.series} ${s.validationCode}`, s.startDate]),
  );
  const before = new Set(results[1]!.map(keyAtAt));
  const compare = async (tx: Tx): Promise<Row[]> => {
    // What was begun or ended here while the AT answered is not judged by its answer.
    const active = (await tx.query(readActive)).filter((row) => before.has(keyAtAt(row)));
    const differing = active.filter((row) => !known.has(keyAtAt(row)));
    const unstarted = active.filter((row) => row['start_date'] === null && known.has(keyAtAt(row)));
    if (unstarted.length > 0) {
      await tx.query(setStarts, [unstarted.map((row) => row['id']), unstarted.map((row) => known.get(keyAtAt(row)))]);
    }
    await tx.query(setSynced, [differing.length > 0, company['at_password_sealed']]);
    return differing;
  };
  const differing = await untangled(() => world.db.transact(entry, compare));
  if (differing.length === 0) return ended('ok');
  return { result: 'differ', differing: differing.map((row) => `${row['at_type']} ${row['code']}`) };
}

const keyAtAt = (row: Row): string => `${row['at_type']} ${row['code']} ${row['validation_code']}`;

/** The AT refused the credentials of this row while something was reported: nothing is sent until they are corrected. */
export async function markCredentialsWrong(db: Db, companyId: string, row: Row): Promise<void> {
  await db.transact(entryOfCompany(companyId, 'clock'), (tx) => tx.query(setWrong, [row['at_password_sealed']]));
}
