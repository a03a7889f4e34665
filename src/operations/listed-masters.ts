/** What lists of customers and items have in common: what they are sorted by, and filters by text. */
import type { Condition, Page } from '../db/page.ts';
import type { Row, Tx } from '../db/transact.ts';
import { type Containing, readContaining } from './search.ts';

/** What a list of masters is asked for; its schema says that it is sorted by creation, change or name. */
export interface AskedMasters {
  readonly from: 'certo.customers' | 'certo.items';
  readonly columns: string;
  /** The column of the name that they are sorted by. */
  readonly name: string;
  readonly conditions: readonly Condition[];
  readonly filters: readonly Containing[];
  readonly page: Page;
}

/** A page in the order asked. */
export function readMasters(tx: Tx, { name, filters, ...asked }: AskedMasters): Promise<Row[]> {
  const sortColumns = {
    createdAt: { by: 'created_at' },
    updatedAt: { by: 'updated_at' },
    name: { by: `certo.fold(${name})` },
  };
  return readContaining(tx, { ...asked, sortColumns }, filters);
}
