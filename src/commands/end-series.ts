/** `certo series finalize` and `annul`: end a series at the AT and here. Neither can be undone. */
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

type Credentials = NonNullable<ReturnType<typeof credentialsOf>>;

/** A series locked to be ended, with all that the AT wants to hear of it. */
interface Ending {
  readonly code: string;
  readonly lastNumber: number;
  /** Not at the AT yet. */
  readonly pending: number;
  readonly key: SeriesKey;
  readonly credentials: Credentials;
}

// Locked until the AT has answered: a document issued meanwhile would be one after the last that the AT was told.
const lockSeries = statement(
  'end_series_lock',
  `select s.code, s.at_type, s.status, s.validation_code, s.last_number, c.at_username, c.at_password_sealed, c.at_state,
     (select count(*)::int from certo.documents d where d.company_id = s.company_id and d.series_id = s.id and d.at_status = 'PENDING') as pending
   from certo.series s join certo.companies c on c.id = s.company_id
   where s.company_id = certo.current_company() and s.id = $1 for update of s`,
);
const setEnded = statement(
  'end_series_set',
  `update certo.series set status = $2, is_default = false, updated_at = certo.now()
   where company_id = certo.current_company() and id = $1 and status = 'ACTIVE' returning id`,
);

export async function finalize(outside: Outside, options: FinalizeOptions, seriesId: string): Promise<number> {
  const { justification } = options;
  const { id, code, lastNumber } = await end(outside, options, seriesId, 'FINALIZED', async (world, ending) => {
    const { code, lastNumber, pending, key, credentials } = ending;
    if (lastNumber === 0) {
      throw no(
        `Nothing was issued in the series ${code}: there is nothing to finalise. To give it up: certo series annul.`,
      );
    }
    if (pending > 0)
      throw no(`${pending} document(s) of the series ${code} are not at the AT yet: wait until they are.`);
    const outcome = await world.at.finalizeSeries(credentials, { ...key, lastNumber, justification });
    await believe(outcome, () => stands(world, ending, 'F'));
  });
  if (options.json === true) tellJson(outside, { id, code, lastNumber, status: 'FINALIZED' });
  else tell(outside, `The series ${code} is finalised; its last document is number ${lastNumber}.`);
  return exit.ok;
}

export async function annul(outside: Outside, options: OfCompany, seriesId: string): Promise<number> {
  const { id, code } = await end(outside, options, seriesId, 'ANNULLED', async (world, ending) => {
    const { lastNumber, key, credentials } = ending;
    if (lastNumber > 0) {
      throw no(
        `${lastNumber} document(s) were issued in the series ${ending.code}: finalise it (certo series finalize).`,
      );
    }
    await believe(await world.at.annulSeries(credentials, key), () => stands(world, ending, 'N'));
  });
  if (options.json === true) tellJson(outside, { id, code, status: 'ANNULLED' });
  else tell(outside, `The series ${code} is annulled. Its identifier is not used again.`);
  return exit.ok;
}

async function end(
  outside: Outside,
  options: OfCompany,
  seriesId: string,
  status: 'FINALIZED' | 'ANNULLED',
  tellTheAt: (world: ConnectedSeries, ending: Ending) => Promise<void>,
): Promise<{ id: string; code: string; lastNumber: number }> {
  const id = needId(seriesId, 'a series');
  const house = await enterHouse(outside);
  const company = await findCompany(house.owner, options.company);
  const world = await connectSeries(outside, house);
  await world.up();
  return world.db.transact(entryOfCompany(company.id, 'operator'), async (tx) => {
    const [row] = await tx.query(lockSeries, [id]);
    const ending = endingOf(row, world);
    await tellTheAt(world, ending);
    await tx.query(setEnded, [id, status]);
    return { id, code: ending.code, lastNumber: ending.lastNumber };
  });
}

function endingOf(row: Row | undefined, world: ConnectedSeries): Ending {
  if (row === undefined) throw no('The company has no such series: see certo series list.');
  const code = String(row['code']);
  if (row['status'] === 'CLOSED')
    throw no(
      `The series ${code} was closed by a restore, and its last number is not known here: finalise it in the tax portal, with the last number that the lost documents show.`,
    );
  if (row['status'] !== 'ACTIVE') throw no(`The series ${code} is ${row['status']}, not active.`);
  const credentials = credentialsOf(row, world.master);
  if (credentials === undefined) throw new Refusal('AT_CREDENTIALS_MISSING');
  const documentCode = row['at_type'] as AtDocumentCode;
  return {
    code,
    lastNumber: Number(row['last_number']),
    pending: Number(row['pending']),
    key: { series: code, documentCode, validationCode: String(row['validation_code']) },
    credentials,
  };
}

/** A refusal is believed unless the AT's own record says it is done: perhaps by ourselves, with the answer lost. */
async function believe(
  outcome: Awaited<ReturnType<ConnectedSeries['at']['annulSeries']>>,
  already: () => Promise<boolean>,
): Promise<void> {
  if (outcome.kind === 'unknown') throw new Refusal('AT_UNREACHABLE', { problem: outcome.problem });
  if (outcome.kind === 'refused' && !(await already())) {
    throw new Refusal('AT_REFUSED', { code: outcome.code, message: outcome.message });
  }
}

async function stands(world: ConnectedSeries, ending: Ending, state: 'F' | 'N'): Promise<boolean> {
  const { key, credentials, lastNumber } = ending;
  const listed = await world.at.listSeries(credentials, { ...key, state });
  const isIt = (s: { readonly validationCode: string; readonly lastNumber?: string | undefined }) =>
    s.validationCode === key.validationCode && (state === 'N' || Number(s.lastNumber) === lastNumber);
  return listed.kind === 'done' && listed.series.some(isIt);
}

const no = (message: string) => new CommandError(exit.no, message);
