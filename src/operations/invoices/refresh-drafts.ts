/**
 * When a customer, an item or the company changes, the open drafts that refer to it show the new data and get a new
 * revision (contract decisions 3). A draft that can't be priced with the new data any more keeps its last prices, with a new
 * revision and why, and is not issued: a change of the catalogue is never blocked by somebody's draft.
 */
import { joinCalls } from '../../db/joined.ts';
import type { Call, Row, Statement, Tx } from '../../db/transact.ts';
import { anyId, Elements, listStatement, statement } from '../../db/transact.ts';
import { assert, Refusal } from '../../fiscal/refusal.ts';
import { issuerOf } from '../company/company.ts';
import { isTransport, withActivity } from '../transport-documents/asked-transport.ts';
import type { AskedDraft } from './draft.ts';
import { nextRevision, updateDraftCall } from './draft-rows.ts';
import { priceDraft, readAllReferences } from './price-draft.ts';

const most_drafts = 50;
// Of what is asked a line takes 110 bytes at least, of what is priced 10 kB at most, with its item's texts: this and the one
// draft that may reach beyond it, of 1000 lines, become 60 MB. Of 300 drafts of a megabyte (two cores, heap of 4 GB) a
// process grew to 161 MB; when all of them were read at once, to 1.2 GB.
const most_bytes = 512 * 1024;

// Their ids alone: of drafts there may be any number.
const open = `from certo.documents where company_id = certo.current_company() and status in ('DRAFT', 'CREATED')`;
// A credit note keeps what its invoice had (note-drafts.ts), but for who issues it.
const others = `select id ${open} and type <> 'CREDIT_NOTE'`;
const ofCustomer = statement('drafts_of_customer', `${others} and customer_id = $1 order by id for update`);
const ofItem = statement('drafts_of_item', `${others} and $1 = any (item_ids) order by id for update`);
// Whose foreign key leads to one of them holds the company's row as well, which is locked next.
const ofCompany = statement(
  'drafts_of_company',
  `select id, type = 'CREDIT_NOTE' as is_note ${open} order by id for no key update`,
);
/**
 * A statement that reads such columns of some of the drafts that are locked: as many, in the order of their ids, as fit into
 * `most_bytes` by the length of the last column, and the one that reaches beyond.
 */
export function readSome(name: string, ...columns: readonly ('asked' | 'content')[]): Statement {
  return statement(
    name,
    `select id, ${columns.join(', ')} from (
     select id, ${columns.join(', ')}, sum(octet_length(${columns.at(-1)}::text)) over (order by id rows between unbounded preceding and 1 preceding) as before
     from certo.documents where company_id = certo.current_company() and id = ${anyId}) d
   where coalesce(before, 0) < ${most_bytes} order by id`,
  );
}
const readDrafts = readSome('drafts_to_refresh', 'asked');
const updateNotes = statement(
  'draft_notes_issuer',
  `update certo.documents d set ${nextRevision}, content = d.content || jsonb_build_object('issuer', $2::jsonb)
   where d.company_id = certo.current_company() and d.id = ${anyId}`,
);
const refuseDraft = listStatement(
  'draft_refuse',
  `update certo.documents d set ${nextRevision}, content = d.content || jsonb_build_object('refused', v.refused)
   from jsonb_to_recordset($1::jsonb) v (id uuid, refused jsonb) where d.company_id = certo.current_company() and d.id = v.id`,
);

export type Changed = { readonly customerId: string } | { readonly itemId: string } | 'company';

/**
 * Locks the open drafts that a change is going to refresh, and gives their ids in order. It comes before the lock of what
 * changes: locks are taken documents, series, masters, as issuing takes them, or the two would wait for each other.
 */
export function openDraftsCall(changed: Changed): Call {
  if (changed === 'company') return [ofCompany, []];
  return 'customerId' in changed ? [ofCustomer, [changed.customerId]] : [ofItem, [changed.itemId]];
}

/**
 * Changes the record by `update`, which returns its row (of the company `issuerColumns`), and the drafts that show it after
 * it. Returns the row.
 */
export async function changeAndRefresh(tx: Tx, changed: Changed, update: Call): Promise<Row> {
  // Asked again: a draft may have come since the first lock.
  const [[row] = [], drafts = []] = await tx.batch([update, openDraftsCall(changed)]);
  assert(row !== undefined, 'what is changed was locked');
  const idsOf = (wanted: boolean) =>
    drafts.filter((draft) => (draft['is_note'] === true) === wanted).map(({ id }) => String(id));
  await inChunks(tx, idsOf(false), readDrafts, (some) => refreshChunk(tx, some));
  const notes = idsOf(true);
  if (notes.length > 0) await tx.query(updateNotes, [notes, JSON.stringify(issuerOf(row))]);
  return row;
}

/**
 * Drafts that are locked, some after the other: each chunk is written before the next is read (`read`: of `readSome`), so
 * that what is held at once does not grow with the drafts.
 */
export async function inChunks(
  tx: Tx,
  ids: readonly string[],
  read: Statement,
  refresh: (some: readonly Row[]) => Promise<void>,
): Promise<void> {
  let most = most_drafts;
  for (let start = 0; start < ids.length; ) {
    const some = await tx.query(read, [ids.slice(start, start + most)]);
    assert(some.length > 0, 'a locked draft is still there');
    await refresh(some);
    start += some.length;
    // The server measures all that it is asked for: of large drafts not many more than fit.
    most = Math.min(most_drafts, some.length * 2);
  }
}

async function refreshChunk(tx: Tx, some: readonly Row[]): Promise<void> {
  const drafts = some.map((row) => row['asked'] as AskedDraft);
  const references = await readAllReferences(tx, drafts);
  const calls = drafts.map((before, i): [Call] => {
    const id = String(some[i]!['id']);
    const asked = isTransport(before) ? withActivity(before, references[i]!) : before;
    try {
      return [updateDraftCall(id, asked, priceDraft(asked, references[i]!, before))];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { problems, code, facts } = error;
      const refused = problems.length > 0 ? problems : [{ code, pointer: '', facts }];
      return [[refuseDraft, [new Elements([{ id, refused }])]]];
    }
  });
  await tx.batch(joinCalls(calls).calls);
}
