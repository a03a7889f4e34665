/** `certo company cash-vat`: from when to when the company is in the cash VAT scheme. */
import type { Pool } from 'pg';
import type { CashVatPeriod } from '../fiscal/regime.ts';
import { isDay } from '../fiscal/time.ts';
import { setCashVat } from '../operations/company/cash-vat.ts';
import { CommandError, exit } from './exit.ts';
import { enterHouse, findCompany } from './guest.ts';
import { type Common, type Outside, tell, tellJson } from './outside.ts';

export interface CashVatOptions extends Common {
  readonly from?: string;
  readonly until?: string;
  readonly never?: boolean;
}

/** Sets the days, or with `never` takes them away. Throws CASH_VAT_PERIOD, CASH_VAT_USED. */
export async function cashVat(outside: Outside, options: CashVatOptions, company: string): Promise<number> {
  const period = periodOf(options);
  const { owner } = await enterHouse(outside);
  const { id, name, nif } = await findCompany(owner, company);
  await setCashVat(owner, id, period);
  if (options.json === true) tellJson(outside, { id, cashVat: period ?? null });
  else if (period === undefined) tell(outside, `${name} is not in the cash VAT scheme.`);
  else {
    tell(outside, inForce(name, period));
    if (!(await hasSeries(owner, id))) tell(outside, `Next, series of its own: ${registration(nif, period)}`);
  }
  return exit.ok;
}

function inForce(name: string, { from, until }: CashVatPeriod): string {
  const days = until === undefined ? `from ${from} on` : `from ${from} to ${until}`;
  return `${name} is in the cash VAT scheme ${days}.`;
}

/** Whose end is set, or whose days are corrected, has them already: what is registered at the AT stays there. */
async function hasSeries(owner: Pool, companyId: string): Promise<boolean> {
  const { rowCount } = await owner.query(
    `select from certo.series where company_id = $1 and cash_vat and kind = 'N' and document_type = 'INVOICE' and status = 'ACTIVE' limit 1`,
    [companyId],
  );
  return rowCount === 1;
}

/** Whole, to be pasted: the code is one that can be chosen, such as C2027. */
function registration(nif: string, { from }: CashVatPeriod): string {
  return `certo series register --company ${nif} --code C${from.slice(0, 4)} --all-types --cash-vat`;
}

function periodOf({ from, until, never }: CashVatOptions): CashVatPeriod | undefined {
  if ((never === true) === (from !== undefined) || (never === true && until !== undefined)) {
    throw new CommandError(exit.usage, 'Say from when: --from DAY, with --until DAY where it ends; or --never.');
  }
  for (const [name, day] of [
    ['--from', from],
    ['--until', until],
  ] as const) {
    if (day !== undefined && !isDay(day))
      throw new CommandError(exit.usage, `${name} ${day} is no day: write YYYY-MM-DD.`);
  }
  return from === undefined ? undefined : { from, until };
}
