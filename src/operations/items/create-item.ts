import type { Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { refuseAll } from '../../fiscal/refusal.ts';
import { dayOf } from '../../fiscal/time.ts';
import { offering } from '../fields.ts';
import { readNow } from '../now.ts';
import { defineWrite } from '../operation.ts';
import {
  emptyItem,
  ItemBody,
  ItemReply,
  itemListColumns,
  itemProblems,
  itemValues,
  overlay,
  recordColumns,
  showItem,
} from './item.ts';

const insertItem = statement(
  'item_insert',
  `insert into certo.items (company_id, id, created_by, ${recordColumns.join(', ')})
   values (certo.current_company(), $1, $2, ${recordColumns.map((_, i) => `$${i + 3}`).join(', ')})
   returning ${itemListColumns}`,
);

export const createItem = defineWrite({
  name: 'createItem',
  route: 'POST /items',
  tag: 'Items',
  summary: 'Create a catalogue item',
  body: offering(ItemBody, {
    name: 'Consultoria',
    type: 'SERVICE',
    unitType: 'HOUR',
    unitPrice: 60,
    vatRate: 'NORMAL',
  }),
  reply: [201, ItemReply],
  access: { key: true, oauth: ['invoicing.write'] },
  refuses: [],
  tool: 'create_item',
  load: readNow,
  decide(now, asked, world) {
    const { region } = asked.principal;
    const record = overlay(emptyItem, asked.body);
    const today = dayOf(now, region);
    refuseAll(itemProblems(record, asked.body, today, region));
    return { id: world.newId(), record, today, row: {} as Row };
  },
  async save(tx, change, asked) {
    const [row] = await tx.query(insertItem, [change.id, asked.principal.actor, ...itemValues(change.record)]);
    change.row = row!;
    return change.id;
  },
  show: (change, asked) => showItem(change.row, change.today, asked.principal.region),
});
