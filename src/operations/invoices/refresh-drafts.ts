/**
 * When a customer, an item or the company changes, the open drafts that refer to it show the new data and get a new
 * revision (decisions 3). A draft that can't be priced with the new data any more keeps its last prices and still
 * gets a new revision: a change of the catalogue is never blocked by somebody's draft.
 */
import type { Call, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import type { AskedDraft } from './draft.ts';
import { draftColumns, draftValues, priceDraft, referencesCall } from './price-draft.ts';

// A credit note keeps what its invoice had.
const open = `select id, asked from certo.documents where company_id = certo.current_company() and status in ('DRAFT', 'CREATED') and type <> 'CREDIT_NOTE'`;
const ofCustomer = statement('drafts_of_customer', `${open} and customer_id = $1 order by id for update`);
const ofItem = statement('drafts_of_item', `${open} and $1 = any (item_ids) order by id for update`);
const ofCompany = statement('drafts_of_company', `${open} order by id for update`);
const nextRevision = `updated_at = greatest(certo.now(), updated_at + interval '1 millisecond')`;
export const updateDraft = statement(
  'draft_update',
  `update certo.documents set ${nextRevision}, ${draftColumns.map((column, i) => `${column} = $${i + 2}`).join(', ')}
   where company_id = certo.current_company() and id = $1 returning updated_at`,
);
const touchDraft = statement(
  'draft_touch',
  `update certo.documents set ${nextRevision} where company_id = certo.current_company() and id = $1`,
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
    const references = await tx.batch(some.map((row) => referencesCall(row['asked'] as AskedDraft)));
    await tx.batch(
      some.map((row, i) => {
        const asked = row['asked'] as AskedDraft;
        try {
          return [updateDraft, [row['id'], ...draftValues(asked, priceDraft(asked, references[i]![0]!, asked))]];
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          return [touchDraft, [row['id']]];
        }
      }),
    );
  }
}
