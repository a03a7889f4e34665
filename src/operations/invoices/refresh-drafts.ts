/**
 * When a customer, an item or the company changes, the open drafts that refer to it show the new data and get a new
 * revision (decisions 3). A draft that can't be priced with the new data any more keeps its last prices and still
 * gets a new revision: a change of the catalogue is never blocked by somebody's draft.
 */
import { joinCalls } from '../../db/joined.ts';
import type { Call, Tx } from '../../db/transact.ts';
import { anyId, Elements, listStatement, statement } from '../../db/transact.ts';
import type { Content } from '../../fiscal/document.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import type { AskedDraft } from './draft.ts';
import { draftColumns, draftRow, priceDraft, readAllReferences } from './price-draft.ts';

// A credit note keeps what its invoice had.
const open = `select id, asked from certo.documents where company_id = certo.current_company() and status in ('DRAFT', 'CREATED') and type <> 'CREDIT_NOTE'`;
const ofCustomer = statement('drafts_of_customer', `${open} and customer_id = $1 order by id for update`);
const ofItem = statement('drafts_of_item', `${open} and $1 = any (item_ids) order by id for update`);
const ofCompany = statement('drafts_of_company', `${open} order by id for update`);
const nextRevision = `updated_at = greatest(certo.now(), d.updated_at + interval '1 millisecond')`;
const updateDraft = listStatement(
  'draft_update',
  `update certo.documents d set ${nextRevision}, ${draftColumns.map((column) => `${column} = v.${column}`).join(', ')}
   from jsonb_populate_recordset(null::certo.documents, $1::jsonb) v
   where d.company_id = certo.current_company() and d.id = v.id`,
);
const touchDraft = listStatement(
  'draft_touch',
  `update certo.documents d set ${nextRevision} where d.company_id = certo.current_company() and d.id = ${anyId}`,
);
const chunk = 50;

export type Changed = { readonly customerId: string } | { readonly itemId: string } | 'company';

/**
 * Locks the open drafts that a change is going to refresh. It comes before the lock of what changes: locks are taken
 * documents, series, masters, as issuing takes them, or the two would wait for each other.
 */
export function openDraftsCall(changed: Changed): Call {
  if (changed === 'company') return [ofCompany, []];
  return 'customerId' in changed ? [ofCustomer, [changed.customerId]] : [ofItem, [changed.itemId]];
}

export async function refreshDrafts(tx: Tx, changed: Changed): Promise<void> {
  // Asked again: a draft may have come since the first lock.
  const [rows = []] = await tx.batch([openDraftsCall(changed)]);
  for (let start = 0; start < rows.length; start += chunk) {
    const some = rows.slice(start, start + chunk);
    const drafts = some.map((row) => row['asked'] as AskedDraft);
    const references = await readAllReferences(tx, drafts);
    const calls = drafts.map((asked, i): [Call] => {
      const id = String(some[i]!['id']);
      try {
        return [updateDraftCall(id, asked, priceDraft(asked, references[i]!, asked))];
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return [[touchDraft, [[id]]]];
      }
    });
    await tx.batch(joinCalls(calls).calls);
  }
}

/** The statement that writes a draft anew. */
export function updateDraftCall(id: string, asked: AskedDraft, content: Content): Call {
  return [updateDraft, [new Elements([draftRow(id, asked, content)])]];
}
