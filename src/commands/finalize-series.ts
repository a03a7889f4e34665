/** `certo series finalize`: ends a series at the AT and here. It can't be undone. */
import type { AtDocumentCode, SeriesKey } from '../at/reports.ts';
import { type Row, statement } from '../db/transact.ts';
import { Refusal } from '../fiscal/refusal.ts';
import { entryOfCompany } from '../identity/principal.ts';
import { credentialsOf } from '../operations/series/registration.ts';
import { type ConnectedSeries, connectSeries } from './connect-series.ts';
import { CommandError, exit } from './exit.ts';
import { enterHouse, findCompany, needId, type OfCompany } from './guest.ts';
import { type Outside, tell, tellJson } from './outside.ts';

export interface FinalizeOptions extends OfCompany {
  readonly justification?: string;
}

// Locked until the AT has answered: a document issued meanwhile would be one after the last that the AT was told.
const lockSeries = statement(
  'finalize_lock',
  `select s.code, s.at_type, s.status, s.validation_code, s.last_number, c.at_username, c.at_password_sealed, c.at_state,
     (select count(*)::int from certo.documents d where d.company_id = s.company_id and d.series_id = s.id and d.at_status = 'PENDING') as pending
   from certo.series s join certo.companies c on c.id = s.company_id
   where s.company_id = certo.current_company() and s.id = $1 for update of s`,
);
const setFinalized = statement(
  'finalize_set',
  `update certo.series set status = 'FINALIZED', is_default = false, updated_at = certo.now()
   where company_id = certo.current_company() and id = $1 and status = 'ACTIVE' returning id`,
);

export async function finalize(outside: Outside, options: FinalizeOptions, seriesId: string): Promise<number> {
  const id = needId(seriesId, 'a series');
  const house = await enterHouse(outside);
  const company = await findCompany(house.owner, options.company);
  const world = await connectSeries(outside, house);
  await world.up();
  const entry = entryOfCompany(company.id, 'operator');
  const { code, lastNumber } = await world.db.transact(entry, async (tx) => {
    const [row] = await tx.query(lockSeries, [id]);
    const ended = await tellTheAt(world, row, options.justification);
    await tx.query(setFinalized, [id]);
    return ended;
  });
  if (options.json === true) tellJson(outside, { id, code, lastNumber, status: 'FINALIZED' });
  else tell(outside, `The series ${code} is finalised; its last document is number ${lastNumber}.`);
  return exit.ok;
}

async function tellTheAt(world: ConnectedSeries, row: Row | undefined, justification: string | undefined) {
  if (row === undefined) throw new CommandError(exit.no, 'The company has no such series: see certo series list.');
  const code = String(row['code']);
  const lastNumber = Number(row['last_number']);
  if (row['status'] !== 'ACTIVE')
    throw new CommandError(exit.no, `The series ${code} is ${row['status']}, not active.`);
  if (lastNumber === 0)
    throw new CommandError(exit.no, `Nothing was issued in the series ${code}: there is nothing to finalise.`);
  if (Number(row['pending']) > 0) {
    throw new CommandError(
      exit.no,
      `${row['pending']} document(s) of the series ${code} are not at the AT yet: wait until they are.`,
    );
  }
  const credentials = credentialsOf(row, world.master);
  if (credentials === undefined) throw new Refusal('AT_CREDENTIALS_MISSING');
  const key: SeriesKey = {
    series: code,
    documentCode: row['at_type'] as AtDocumentCode,
    validationCode: String(row['validation_code']),
  };
  const outcome = await world.at.finalizeSeries(credentials, { ...key, lastNumber, justification });
  if (outcome.kind === 'unknown') throw new Refusal('AT_UNREACHABLE', { problem: outcome.problem });
  if (outcome.kind === 'refused' && !(await wasFinalized(world, credentials, key, lastNumber))) {
    throw new Refusal('AT_REFUSED', { code: outcome.code, message: outcome.message });
  }
  return { code, lastNumber };
}

/** Perhaps by ourselves, with the answer lost. */
async function wasFinalized(
  { at }: ConnectedSeries,
  credentials: NonNullable<ReturnType<typeof credentialsOf>>,
  key: SeriesKey,
  lastNumber: number,
): Promise<boolean> {
  const listed = await at.listSeries(credentials, { ...key, state: 'F' });
  return (
    listed.kind === 'done' &&
    listed.series.some((s) => s.validationCode === key.validationCode && Number(s.lastNumber) === lastNumber)
  );
}
