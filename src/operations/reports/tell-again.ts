/**
 * What the tax authority refused, and telling it again. A refusal stands until a person has removed its reason; the
 * document itself is never changed, since it is issued.
 */
import type { Db, Row } from '../../db/transact.ts';
import { statement, untangled } from '../../db/transact.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import { booksSeal, type MasterKey } from '../../keys/sealing.ts';
import { changeCall, changedOnce, standingColumns } from '../books.ts';
import { actCall } from '../operator.ts';

export interface RefusedReport {
  readonly id: string;
  readonly number: string;
  /** The AT's. */
  readonly code: string;
  readonly message: string;
}

const listRefused = statement(
  'reports_refused',
  `select id, number, at_code, at_message from certo.documents
   where company_id = certo.current_company() and at_status = 'REJECTED' order by issued_at, sequence`,
);
const lockRefused = statement(
  'reports_refused_lock',
  `select ${standingColumns}, certo.now() as now from certo.documents d
   where d.company_id = certo.current_company() and d.id = any ($1::uuid[]) and d.at_status = 'REJECTED'
   order by d.id for no key update`,
);

// The AT has heard of it: where it answers that it has the document already, it is now believed.
const countAsSent = statement(
  'reports_again_sent',
  `update certo.documents set at_attempts = 1
   where company_id = certo.current_company() and id = any ($1::uuid[]) and at_status = 'PENDING' and at_attempts = 0`,
);

/** Documents of the company that the AT refused, in order of issue. */
export async function refusedReports(db: Db, companyId: string): Promise<RefusedReport[]> {
  const rows = await db.read(entryOfCompany(companyId, 'operator')).query(listRefused);
  return rows.map((row) => ({
    id: String(row['id']),
    number: String(row['number']),
    code: String(row['at_code']),
    message: String(row['at_message'] ?? ''),
  }));
}

/** As many rows are locked at once; the clock and the API want them too. */
const piece = 200;

/**
 * Puts refused documents among those to be told, as an event of each. Returns how many: one that is not refused any more
 * is passed by.
 */
export async function tellAgain(
  world: { readonly db: Db; readonly master: MasterKey },
  companyId: string,
  refused: readonly RefusedReport[],
): Promise<number> {
  const mac = booksSeal(world.master);
  const entry = entryOfCompany(companyId, 'operator');
  let told = 0;
  for (let at = 0; at < refused.length; at += piece) {
    const ids = refused.slice(at, at + piece).map(({ id }) => id);
    told += await untangled(() =>
      world.db.transact(entry, async (tx) => {
        const rows = await tx.query(lockRefused, [ids]);
        const results = await tx.batch(rows.map((row) => changeCall(row, againOf(row), mac)));
        results.forEach(changedOnce);
        const told = rows.map((row) => String(row['id']));
        await tx.batch([[countAsSent, [told]], ...told.map((id) => actCall('reportAgain', id))]);
        return rows.length;
      }),
    );
  }
  return told;
}

function againOf(row: Row) {
  const changes = { at_status: 'PENDING', at_code: null, at_message: null };
  return { kind: 'AT_AGAIN', at: row['now'] as Date, changes, tell: true } as const;
}
