/** Rates are chosen by the tax point at issue (CIVA articles 7 and 8): a draft made before a change is priced again. */
import type { Content, Day } from './document.ts';
import { exemptionOn } from './exemptions.ts';
import { price } from './totals.ts';
import { findRate } from './vat-rates.ts';

/**
 * The content as it stands when each line's rate and exemption code hold on the tax point; priced again when not, which
 * may refuse (INVALID_REQUEST). Notes and receipts keep what their invoice had, whatever holds today; a transport document
 * without values has no tax.
 */
export function reprice(content: Content, taxPoint: Day): Content {
  if (content.parent !== undefined) return content;
  return content.transport?.valued === false ? content : pricedOn(content, taxPoint);
}

/** The content with the rates of that day: itself when they hold. */
export function pricedOn(content: Content, taxPoint: Day): Content {
  if (ratesHold(content, taxPoint)) return content;
  const { currency, exchangeRate, globalDiscount, lines } = content;
  return { ...content, ...price({ lines, globalDiscount, taxPoint, currency, exchangeRate }) };
}

/** Whether each line's rate and exemption code are in force on the tax point. */
export function ratesHold(content: Pick<Content, 'lines'>, taxPoint: Day): boolean {
  return content.lines.every((line) =>
    line.vatRate === 'EXEMPT'
      ? exemptionOn(line.exemptionCode ?? '', taxPoint) !== undefined
      : findRate(line.region, line.vatRate, taxPoint) === line.rate,
  );
}
