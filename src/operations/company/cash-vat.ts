/** The company's cash VAT scheme: set by the operator, when the taxpayer has told the AT of the option. */
import type { Pool } from 'pg';
import { ownerTransaction } from '../../db/owner-transaction.ts';
import type { Day } from '../../fiscal/document.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import type { CashVatPeriod } from '../../fiscal/regime.ts';
import { writeAct } from '../operator.ts';

const most_named = 5;

/**
 * Sets the days of the scheme; undefined: the company is not in it. What was issued keeps what it was issued under, so
 * a period that leaves such a document outside is refused: CASH_VAT_USED. Also refuses CASH_VAT_PERIOD.
 */
export async function setCashVat(owner: Pool, companyId: string, period: CashVatPeriod | undefined): Promise<void> {
  const from: Day | null = period?.from ?? null;
  const until: Day | null = period?.until ?? null;
  if (from !== null && until !== null && until < from) throw new Refusal('CASH_VAT_PERIOD');
  await ownerTransaction(owner, async (client) => {
    // Whoever numbers in one of these series reads the scheme under its lock, also what was decided ahead: it is committed,
    // and found below, or reads what is written here.
    await client.query('select id from certo.series where company_id = $1 and cash_vat order by id for update', [
      companyId,
    ]);
    const { rows } = await client.query<{ number: string }>(
      `select d.number from certo.documents d join certo.series s on s.company_id = d.company_id and s.id = d.series_id
       where d.company_id = $1 and s.cash_vat and s.kind = 'N' and d.parent_id is null and d.number is not null
         and ($2::date is null or d.date < $2 or d.date > $3) order by d.date, d.number limit ${most_named + 1}`,
      [companyId, from, until],
    );
    if (rows.length > 0) {
      const named = rows.slice(0, most_named).map(({ number }) => number);
      const numbers = [...named, ...(rows.length > most_named ? ['…'] : [])].join(', ');
      throw new Refusal('CASH_VAT_USED', { numbers });
    }
    const { rowCount } = await client.query(
      'update certo.companies set cash_vat_from = $2, cash_vat_until = $3, updated_at = certo.now() where id = $1',
      [companyId, from, until],
    );
    if (rowCount !== 1) throw new Refusal('COMPANY_NOT_FOUND');
    await writeAct(client, companyId, 'setCashVat');
  });
}
