/** Which documents are told to the AT one by one. */
import { type Content, documentTypes } from './document.ts';

/**
 * Whether a document goes to the AT by web service. Of receipts only those of the cash VAT scheme (RC) do; the others
 * stand in SAF-T alone (invoice elements manual, RegisterPayment).
 */
export function isCommunicated(content: Pick<Content, 'type' | 'cashVat'>): boolean {
  return documentTypes[content.type].family !== 'RECEIPT' || content.cashVat === true;
}
