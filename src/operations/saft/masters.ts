/** Customers and items that documents of a period name, through cursors: a period may have as many as documents. */
import { rowsOf } from '../../db/snapshot.ts';
import type { Tx } from '../../db/transact.ts';
import type { Day, Party, ProductType } from '../../fiscal/document.ts';
import { finalConsumerNif } from '../../fiscal/nif.ts';
import type { SaftCustomer, SaftItem } from '../../fiscal/saft/source.ts';
import { inPeriod } from './period.ts';

const portion = 500;

/**
 * Which of the tax identities of its customer `c` a document `d` shows, from 1; null where they all show the same. 0 is one
 * that the record does not know, which changing it here can't bring about.
 */
export const identity = `case when c.tax_identities is not null then coalesce(array_position(c.tax_identities,
  coalesce(nullif(d.customer_nif, ''), '${finalConsumerNif}') || ' ' || coalesce(d.content->'customer'->>'country', '')), 0) end`;

// As frozen in the latest record of an identity that documents of the period show (SAF-T reference, section 4). Receipts and
// notes are copies: they show the customer as the document they are of did, and what is of a debit note as its invoice did.
// A copy can only be the latest if it was issued after all others, so hardly any of them is looked up. Contact and fax stand
// on the customer's own record alone.
const customers = `
  select d.content->'customer' as party, latest.identity, c.fax,
    case when c.company_name is not null then nullif(concat_ws(' ', c.first_name, c.last_name), '') end as contact
  from (select distinct on (z.customer_id, z.identity) z.customer_id, z.identity, z.id
        from (select y.customer_id, y.identity, y.id, y.sequence, case when y.copy then coalesce((select coalesce(i.issued_at, p.issued_at)
                from certo.documents p
                left join certo.documents i on i.company_id = certo.current_company() and i.id = p.parent_id
                where p.company_id = certo.current_company() and p.id = y.parent_id), y.issued_at)
                else y.issued_at end as since
              from (select x.*, max(case when not x.copy then x.issued_at end) over (partition by x.customer_id, x.identity) as own
                    from (select d.customer_id, d.id, d.parent_id, d.sequence, d.issued_at, ${identity} as identity,
                            d.family = 'RECEIPT' or d.type in ('CREDIT_NOTE', 'DEBIT_NOTE') as copy
                          from certo.documents d
                          left join certo.customers c on c.company_id = certo.current_company() and c.id = d.customer_id
                          where ${inPeriod}) x) y
              where case when y.copy then y.issued_at > coalesce(y.own, '-infinity') else y.issued_at = y.own end) z
        order by z.customer_id, z.identity, z.since desc, z.sequence desc) latest
  join certo.documents d on d.company_id = certo.current_company() and d.id = latest.id
  left join certo.customers c on c.company_id = certo.current_company() and c.id = latest.customer_id
  order by latest.customer_id, latest.identity`;

// Names of items in documents are locked, so that of the catalogue is the one that was issued. Whether it is goods or a
// service may change there: told is what the latest document of the period says of it, a credit note only where there is none
// besides, since it says what its invoice did. What a document says is read once for all of its items.
const items = `
  with latest as materialized (
    select distinct on (used.item) used.item, used.id
    from (select unnest(d.item_ids) as item, d.id, d.type = 'CREDIT_NOTE' as copy, d.issued_at, d.sequence
          from certo.documents d where ${inPeriod}) used
    order by used.item, used.copy, used.issued_at desc, used.sequence desc),
  told as (
    select d.id, line->>'itemId' as item, min(line->>'productType') as type
    from certo.documents d, jsonb_array_elements(d.content->'lines') line
    where d.company_id = certo.current_company() and d.id in (select id from latest)
    group by 1, 2)
  select latest.item as id, i.name, coalesce(told.type, i.type) as type
  from latest
  left join told on told.id = latest.id and told.item = latest.item::text
  left join certo.items i on i.company_id = certo.current_company() and i.id = latest.item
  order by latest.item`;

/** In portions of 500: one entry per customer and tax identity that the documents of the period show. */
export async function* customersOf(tx: Tx, from: Day, to: Day): AsyncGenerator<SaftCustomer[]> {
  for await (const rows of rowsOf(tx, 'saft_customers', customers, [from, to], portion)) {
    yield rows.map((row) => {
      const known = Object.entries({ identity: row['identity'], contact: row['contact'], fax: row['fax'] });
      const beside = Object.fromEntries(known.filter(([, value]) => value !== null));
      return { ...(row['party'] as Party), ...beside };
    });
  }
}

/** In portions of 500: items that are not in the catalogue any more are named by their id. */
export async function* itemsOf(tx: Tx, from: Day, to: Day): AsyncGenerator<SaftItem[]> {
  for await (const rows of rowsOf(tx, 'saft_items', items, [from, to], portion)) {
    yield rows.map((row) => {
      const id = String(row['id']);
      return { id, name: String(row['name'] ?? id), type: (row['type'] as ProductType | null) ?? 'PRODUCT' };
    });
  }
}
