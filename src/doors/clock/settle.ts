/** Writing down what the AT answered: into the books, as an event of the document each. */
import type { Call, Db, Entry, Row } from '../../db/transact.ts';
import { statement, untangled } from '../../db/transact.ts';
import type { State, StateColumn } from '../../fiscal/seal.ts';
import { booksSeal, type MasterKey } from '../../keys/sealing.ts';
import { type Change, changeCall, changedOnce, standingColumns } from '../../operations/books.ts';
import type { Told } from './tell.ts';

export interface Answer {
  /** Of the document. */
  readonly id: string;
  readonly status: 'ACCEPTED' | 'REJECTED';
  readonly code: string;
  readonly message: string;
  /** What it accepted. */
  readonly told?: Told;
  readonly atDocCode?: string | undefined;
}

// What was leased may have been paid or cancelled meanwhile: the answer is laid over what stands now. A lease that is
// over was taken by another process, which tells it again; but the AT tells its code of a transport document once, so
// that is kept whoever got it.
const lockAnswered = statement(
  'settle_lock',
  `select ${standingColumns}, d.at_lease is not distinct from $2 as leased, certo.now() as now from certo.documents d
   where d.company_id = certo.current_company()
     and (d.id = any ($1::uuid[]) and d.at_lease = $2 or d.id = any ($3::uuid[]) and d.at_doc_code is null)
   order by d.id for no key update`,
);

const most_tries = 5;

/** Writes the answers of one lease, and then `more`, in one transaction. */
export async function settle(
  world: { readonly db: Db; readonly master: MasterKey },
  entry: Entry,
  leaseId: string,
  answers: readonly Answer[],
  more: readonly Call[] = [],
): Promise<void> {
  const ids = answers.map(({ id }) => id);
  const coded = answers.filter(({ atDocCode }) => atDocCode !== undefined).map(({ id }) => id);
  const mac = booksSeal(world.master);
  const write = () =>
    world.db.transact(entry, async (tx) => {
      const rows = await tx.query(lockAnswered, [ids, leaseId, coded]);
      const changes = rows.map((row) => {
        const answer = answers.find(({ id }) => id === row['id'])!;
        if (row['leased'] !== true) return changeCall(row, codeOf(row, answer), mac);
        return changeCall(row, { ...changeOf(row, answer), lease: leaseId }, mac);
      });
      const results = await tx.batch([...changes, ...more]);
      results.slice(0, changes.length).forEach(changedOnce);
    });
  // A cancellation locks a note before its invoice: whoever comes second begins again. An answer must not be lost.
  return untangled(write, most_tries);
}

/** What is kept of an answer that came after the lease was over. */
function codeOf(row: Row, { code, message, atDocCode }: Answer): Change {
  const changes = { at_doc_code: atDocCode ?? null, at_code: code, at_message: message };
  return { kind: 'AT_CODE', at: row['now'] as Date, changes };
}

/** What was cancelled or invoiced while its issue was told goes on to be told so. */
function changeOf(row: Row, { status, code, message, told, atDocCode }: Answer): Change {
  const accepted = status === 'ACCEPTED';
  const more = accepted && told === 'N' && (row['canceled_at'] !== null || row['converted_at'] !== null);
  const wanted: State = {
    at_status: more ? 'PENDING' : status,
    at_code: code,
    at_message: message,
    ...(told === undefined ? {} : { at_told: told }),
    ...(atDocCode === undefined || row['at_doc_code'] !== null ? {} : { at_doc_code: atDocCode }),
  };
  const changes = Object.entries(wanted).filter(([column, value]) => row[column as StateColumn] !== value);
  return {
    kind: accepted ? 'AT_ACCEPTED' : 'AT_REJECTED',
    at: row['now'] as Date,
    changes: Object.fromEntries(changes),
  };
}
