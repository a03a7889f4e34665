/** Limits of simplified invoices (CIVA article 40, no. 1; compared with the gross total in EUR). */
import { compare } from './decimal.ts';
import type { Content, Decimal, Party } from './document.ts';
import { isPersonNif } from './nif.ts';
import { Refusal } from './refusal.ts';

/** Goods sold by retailers to private persons; all other supplies. EUR. */
const goodsToPersons = '1000';
const others = '100';

/** Throws SIMPLIFIED_LIMIT for a simplified invoice above its limit; other types have none. */
export function checkSimplifiedLimit(content: Pick<Content, 'type' | 'lines' | 'customer' | 'books'>): void {
  if (content.type !== 'SIMPLIFIED_INVOICE') return;
  const limit = simplifiedLimit(content);
  const total = content.books.gross;
  if (compare(total, limit) > 0) throw new Refusal('SIMPLIFIED_LIMIT', { limit, total });
}

/** 1000 when every line is a product and the customer has no NIF or a private person's; else 100. */
export function simplifiedLimit(content: Pick<Content, 'lines' | 'customer'>): Decimal {
  const goods = content.lines.every((line) => line.productType === 'PRODUCT');
  return goods && isPrivate(content.customer) ? goodsToPersons : others;
}

/** A foreign number tells nothing about whose it is, so it counts as a business's. */
function isPrivate(customer: Party): boolean {
  if (customer.finalConsumer || customer.taxpayerNumber === undefined) return true;
  return customer.country === 'PT' && isPersonNif(customer.taxpayerNumber);
}
