/** Which documents are told to the AT one by one. */
import { type Content, documentTypes } from './document.ts';

/**
 * Whether a document goes to the AT by web service. Of receipts only those of the cash VAT scheme (RC) do; the others
 * stand in SAF-T alone (invoice elements manual, RegisterPayment). Training documents are recorded and exported, and
 * told to nobody. A recovered document that the AT knows by its original number is not told again.
 */
export function isCommunicated({
  type,
  cashVat,
  training,
  recovered,
}: Pick<Content, 'type' | 'cashVat' | 'training' | 'recovered'>): boolean {
  if (training === true || recovered?.known === true) return false;
  return documentTypes[type].family !== 'RECEIPT' || cashVat === true;
}

/** How a document's communication begins, and begins again when its status changes. */
export function atStatusOf(content: Parameters<typeof isCommunicated>[0]): 'PENDING' | 'NOT_APPLICABLE' {
  return isCommunicated(content) ? 'PENDING' : 'NOT_APPLICABLE';
}
