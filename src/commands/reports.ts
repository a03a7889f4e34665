/** `certo reports`: what the AT refused of a company's documents, and telling it again once the reason is gone. */
import { type RefusedReport, refusedReports, tellAgain } from '../operations/reports/tell-again.ts';
import { CommandError, exit } from './exit.ts';
import { enterHouse, findCompany, type OfCompany, openGuestDb } from './guest.ts';
import { masterKeyFile, openMasterKey } from './master-key.ts';
import { type Outside, tell, tellJson } from './outside.ts';
import { counted } from './progress.ts';
import { table } from './table.ts';

export interface AgainOptions extends OfCompany {
  readonly number?: readonly string[];
}

/** Ends with 0 whether there are any or not. */
export async function refused(outside: Outside, options: OfCompany): Promise<number> {
  const { list } = await open(outside, options);
  if (options.json === true) tellJson(outside, list);
  else {
    const rows = list.map(({ number, code, message }) => [number, code, message]);
    tell(outside, table(['Number', 'Code', 'The AT says'], rows, 'The AT refused none of its documents.'));
  }
  return exit.ok;
}

/**
 * All of them, or those named. The service tells them with its next sweep; ends with 1 for a number that the AT did
 * not refuse.
 */
export async function again(outside: Outside, options: AgainOptions): Promise<number> {
  const { house, companyId, db, list } = await open(outside, options);
  const wanted = options.number === undefined ? list : named(list, options.number);
  const { config, directory, owner } = house;
  const master = await openMasterKey(masterKeyFile(config.masterKeyFile, directory), owner);
  const told = await tellAgain({ db, master }, companyId, wanted);
  if (options.json === true) tellJson(outside, { again: told });
  else tell(outside, `${counted(told, 'document')} will be told to the AT again by the service.`);
  return exit.ok;
}

async function open(outside: Outside, options: OfCompany) {
  const house = await enterHouse(outside);
  const { id: companyId } = await findCompany(house.owner, options.company);
  const db = await openGuestDb(outside, house);
  return { house, companyId, db, list: await refusedReports(db, companyId) };
}

function named(list: readonly RefusedReport[], numbers: readonly string[]): readonly RefusedReport[] {
  const strange = numbers.filter((number) => !list.some((report) => report.number === number));
  if (strange.length > 0)
    throw new CommandError(exit.no, `Not refused by the AT: ${strange.join(', ')}. See certo reports refused.`);
  return list.filter(({ number }) => numbers.includes(number));
}
