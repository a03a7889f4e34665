/**
 * What was read before a transaction began is held in it until its commit, on condition that it has not changed since:
 * every change of a row gives it a later `updated_at`.
 */
import { allOr, anyId, anyOf, type Call, type Element, Elements, eachOnce, listStatement } from '../db/transact.ts';

/** A row and its revision, as it was read. */
export interface Seen {
  readonly id: string;
  readonly updated_at: Date | string;
}

const seen = `seen as materialized (select * from jsonb_to_recordset($1::jsonb) v (id uuid, updated_at timestamptz))`;
// In order of id, as everyone who locks several of them. The lock waits for whoever changes a row, and then finds the
// later revision.
const held = (table: 'documents' | 'customers' | 'items', lock: 'no key update' | 'key share') =>
  `${table} as materialized (
     select d.id, d.updated_at from certo.${table} d where d.company_id = certo.current_company() and d.id = ${anyOf('id', 'uuid')}
     order by d.id for ${lock} of d)`;
const holdDocuments = listStatement(
  'unchanged_documents',
  `with ${seen}, ${held('documents', 'no key update')}
   ${allOr('documents join seen using (id, updated_at)', 'certo.changed_meanwhile()')}`,
  { joins: eachRowOnce },
);
// One statement for all: it costs the server more than the rows. Customers before items, as everyone. The company's row a draft
// locks anyway, by its foreign key; here it does before the moment is compared, so that none is made with what a company was.
const holdMasterRecords = listStatement(
  'unchanged_masters',
  `with ${seen}, ${held('customers', 'key share')}, ${held('items', 'key share')},
   company as materialized (select c.id from certo.companies c where c.id = certo.current_company() for key share of c)
   ${allOr(
     '(select * from customers union all select * from items) held join seen using (id, updated_at) where exists (select from company)',
     'certo.changed_meanwhile()',
   )}`,
  { joins: eachRowOnce },
);

const lockSeries = listStatement(
  'unchanged_series',
  `select id from certo.series where company_id = certo.current_company() and id = ${anyId} order by id for no key update`,
  { joins: eachOnce },
);

/** A series that what is asked behind this depends on: it waits for whoever has the lock, and sees what that one did. */
export const holdSeries = (id: string): Call => [lockSeries, [[id]]];

/** A draft that this transaction is going to change. */
export const holdDraft = (draft: Seen): Call => [holdDocuments, [new Elements([{ ...draft }])]];

/** Masters that a document quotes, and the company: that they are used may be marked meanwhile. What is compared with the company comes behind it. */
export function holdMasters(customer: Seen, items: readonly Seen[]): Call {
  return [holdMasterRecords, [new Elements([customer, ...items].map(({ id, updated_at }) => ({ id, updated_at })))]];
}

/** Two that rest on different revisions of a row can't both be true: they are two lists, and the database refuses one. */
function eachRowOnce(elements: readonly Element[]): Element[][] {
  const lists: Map<string, Seen>[] = [];
  for (const element of elements as unknown as readonly Seen[]) {
    const fits = (list: ReadonlyMap<string, Seen>): boolean => {
      const other = list.get(element.id);
      return other === undefined || +new Date(other.updated_at) === +new Date(element.updated_at);
    };
    const list = lists.find(fits);
    if (list === undefined) lists.push(new Map([[element.id, element]]));
    else list.set(element.id, element);
  }
  return lists.map((list) => [...list.values()] as unknown as Element[]);
}
