import type { Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { dayOf } from '../../fiscal/time.ts';
import { idParams } from '../fields.ts';
import { changeAndRefresh, openDraftsCall } from '../invoices/refresh-drafts.ts';
import { defineWrite } from '../operation.ts';
import { ItemReply, itemListColumns, itemToChange, showItem } from './item.ts';

const archive = statement(
  'item_archive',
  `update certo.items set is_archived = true, updated_at = greatest(certo.now(), updated_at + interval '1 millisecond')
   where company_id = certo.current_company() and id = $1 returning ${itemListColumns}`,
);

export const archiveItem = defineWrite({
  name: 'archiveItem',
  route: 'DELETE /items/:id',
  tag: 'Items',
  summary: 'Archive an item',
  description:
    'The record stays; new drafts cannot use it, and open ones that do get a new updatedAt. PATCH with isArchived false brings it back.',
  params: idParams('Id of the item.'),
  reply: [200, ItemReply],
  access: { key: true, oauth: ['invoicing.write'] },
  refuses: ['ITEM_NOT_FOUND'],
  tool: 'archive_item',
  load: (tx, { params: { id } }) => itemToChange(tx, id, [openDraftsCall({ itemId: id })]),
  decide: (_row, asked) => ({ id: asked.params.id, row: {} as Row }),
  async save(tx, change) {
    change.row = await changeAndRefresh(tx, { itemId: change.id }, [archive, [change.id]]);
    return change.id;
  },
  show: ({ row }, { principal }) => showItem(row, dayOf(row['now'] as Date, principal.region), principal.region),
});
