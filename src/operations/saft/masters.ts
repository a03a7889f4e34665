/** Customers and items that documents of a period name, through cursors: a period may have as many as documents. */
import { rowsOf } from '../../db/snapshot.ts';
import type { Tx } from '../../db/transact.ts';
import type { Day, Party, ProductType } from '../../fiscal/document.ts';
import type { SaftCustomer, SaftItem } from '../../fiscal/saft/source.ts';
import { inPeriod } from './period.ts';

const portion = 500;

// As frozen in the latest document of the period (SAF-T reference, section 4); the fax stands on the record alone.
const customers = `
  select d.content->'customer' as party, c.fax
  from (select distinct on (d.customer_id) d.customer_id, d.id from certo.documents d where ${inPeriod}
        order by d.customer_id, d.issued_at desc, d.sequence desc) latest
  join certo.documents d on d.company_id = certo.current_company() and d.id = latest.id
  left join certo.customers c on c.company_id = certo.current_company() and c.id = latest.customer_id
  order by latest.customer_id`;

// Names of items in documents are locked, so that of the catalogue is the one that was issued.
const items = `
  select used.id, i.name, i.type
  from (select distinct unnest(d.item_ids) as id from certo.documents d where ${inPeriod}) used
  left join certo.items i on i.company_id = certo.current_company() and i.id = used.id
  order by used.id`;

export async function* customersOf(tx: Tx, from: Day, to: Day): AsyncGenerator<SaftCustomer[]> {
  for await (const rows of rowsOf(tx, 'saft_customers', customers, [from, to], portion)) {
    yield rows.map((row) => {
      const party = row['party'] as Party;
      return row['fax'] === null ? party : { ...party, fax: String(row['fax']) };
    });
  }
}

export async function* itemsOf(tx: Tx, from: Day, to: Day): AsyncGenerator<SaftItem[]> {
  for await (const rows of rowsOf(tx, 'saft_items', items, [from, to], portion)) {
    yield rows.map((row) => {
      const id = String(row['id']);
      return { id, name: String(row['name'] ?? id), type: (row['type'] as ProductType | null) ?? 'PRODUCT' };
    });
  }
}
