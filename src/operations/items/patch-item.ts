import type { Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { itemLockProblems } from '../../fiscal/masters.ts';
import { refuseAll } from '../../fiscal/refusal.ts';
import { dayOf } from '../../fiscal/time.ts';
import { idParams, offering } from '../fields.ts';
import { changeAndRefresh, openDraftsCall } from '../invoices/refresh-drafts.ts';
import { defineWrite } from '../operation.ts';
import {
  ItemPatch,
  ItemReply,
  itemListColumns,
  itemProblems,
  itemToChange,
  itemValues,
  overlay,
  recordColumns,
  recordOf,
  showItem,
} from './item.ts';

const updateItem = statement(
  'item_update',
  `update certo.items set updated_at = greatest(certo.now(), updated_at + interval '1 millisecond'),
   ${recordColumns.map((column, i) => `${column} = $${i + 2}`).join(', ')}
   where company_id = certo.current_company() and id = $1 returning ${itemListColumns}`,
);

export const patchItem = defineWrite({
  name: 'patchItem',
  route: 'PATCH /items/:id',
  tag: 'Items',
  summary: 'Change an item',
  description:
    'Only the fields given change; an empty text clears a field. Open drafts with the item show the new data and get a new updatedAt. The name locks once issued documents hold the item.',
  params: idParams('Id of the item.'),
  body: offering(ItemPatch, { unitPrice: 65 }),
  reply: [200, ItemReply],
  access: { key: true, oauth: ['invoicing.write'] },
  refuses: ['ITEM_NOT_FOUND', 'ITEM_NAME_LOCKED'],
  tool: 'update_item',
  load: (tx, { params: { id } }) => itemToChange(tx, id, [openDraftsCall({ itemId: id })]),
  decide(row, asked) {
    const { region } = asked.principal;
    const before = recordOf(row);
    const record = overlay(before, asked.body);
    const today = dayOf(row['now'] as Date, region);
    refuseAll(itemProblems(record, asked.body, today, region));
    itemLockProblems({ used: row['used'] === true, before: { name: before.name }, after: { name: record.name } });
    return { id: asked.params.id, record, today, row: {} as Row };
  },
  async save(tx, change) {
    const { id, record } = change;
    change.row = await changeAndRefresh(tx, { itemId: id }, [updateItem, [id, ...itemValues(record)]]);
    return id;
  },
  show: (change, asked) => showItem(change.row, change.today, asked.principal.region),
});
