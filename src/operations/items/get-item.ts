import { Refusal } from '../../fiscal/refusal.ts';
import { dayOf } from '../../fiscal/time.ts';
import { idParams } from '../fields.ts';
import { defineRead } from '../operation.ts';
import { ItemReply, readItem, showItem } from './item.ts';

export const getItem = defineRead({
  name: 'getItem',
  route: 'GET /items/:id',
  tag: 'Items',
  summary: 'Read an item',
  params: idParams('Id of the item.'),
  reply: [200, ItemReply],
  access: { key: true, oauth: ['invoicing.read', 'invoicing.read_all'] },
  quick: true,
  refuses: ['ITEM_NOT_FOUND'],
  tool: 'get_item',
  async load(tx, asked) {
    const [row] = await tx.query(readItem, [asked.params.id]);
    if (row === undefined) throw new Refusal('ITEM_NOT_FOUND');
    return row;
  },
  show: (row, { principal }) => showItem(row, dayOf(row['now'] as Date, principal.region), principal.region),
});
