/** Small documents for tests of the law: a line, and a priced content around lines. */

import type { Taken } from '../src/fiscal/correct.ts';
import type { Content, DocumentType, LineInput, Priced, PriceInput } from '../src/fiscal/document.ts';
import { Refusal } from '../src/fiscal/refusal.ts';
import { price } from '../src/fiscal/totals.ts';

/** One unit at 100.00, NORMAL, mainland. */
export function sampleLine(over: Partial<LineInput> = {}): LineInput {
  return {
    id: 'line',
    itemId: 'item',
    name: 'Consultoria',
    productType: 'SERVICE',
    unit: 'UNIT',
    quantity: '1',
    unitPrice: '100.00',
    vatRate: 'NORMAL',
    region: 'PT',
    ...over,
  };
}

/** Priced on 2026-03-02, issuer 500000000, buyer 123456789 of Portugal. */
export function sampleContent(
  type: DocumentType,
  lines: readonly LineInput[] = [sampleLine()],
  more: Partial<Content> & { readonly taxPoint?: string } = {},
): Content {
  const { taxPoint = '2026-03-02', ...over } = more;
  const input: PriceInput = {
    lines,
    taxPoint,
    currency: over.currency ?? 'EUR',
    exchangeRate: over.exchangeRate,
    globalDiscount: over.globalDiscount,
  };
  return {
    ...price(input),
    type,
    issuer: { id: 'issuer', name: 'Casa de Teste, Lda', taxpayerNumber: '500000000', country: 'PT' },
    customer: { id: 'customer', name: 'Maria Silva', taxpayerNumber: '123456789', country: 'PT' },
    cae: '62010',
    currency: input.currency,
    ...over,
  };
}

/** What these notes have taken of their invoice. */
export function takenBy(notes: readonly Priced[]): Taken {
  const lines = notes.flatMap((note) =>
    note.lines.map(({ originLineId, quantity, net, eur }) => ({
      originLineId: originLineId!,
      quantity,
      net,
      eurNet: eur.net,
    })),
  );
  return { lines, totals: notes.map(({ totals }) => totals), books: notes.map(({ books }) => books) };
}

/** What the law refuses. Throws what else is thrown, and where nothing is. */
export function refusalOf(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
