/** Clients that do what a business does: drafts, invoices, payments, credit notes, cancellations. */
import type { Wire } from '../client.ts';
import type { Chance } from './chance.ts';
import type { SimCompany } from './ground.ts';
import type { Journal, Told } from './journal.ts';

export interface Load {
  readonly journal: Journal;
  readonly company: SimCompany;
  readonly wire: Wire;
  readonly chance: Chance;
  /** Ends it: nothing new is begun. */
  readonly over: () => boolean;
}

/** So many clients at once, until it is over or the service is gone. */
export async function clients(count: number, load: Load): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => client(load)));
}

async function client({ journal, company, wire, chance, over }: Load): Promise<void> {
  while (!over()) {
    const type = chance.one(['INVOICE', 'INVOICE', 'INVOICE', 'INVOICE_RECEIPT', 'SIMPLIFIED_INVOICE'] as const);
    const create = journal.act('/invoices', draftBody(company, chance, type));
    const draft = await journal.send(wire, create);
    // Whoever gets no answer stops; whoever is refused goes on with the next.
    if (create.state === 'open' || over()) return;
    if (draft === undefined) continue;
    const issue = journal.act(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt });
    const invoice = await journal.send(wire, issue);
    if (issue.state === 'open' || over()) return;
    const then = invoice && afterwards(journal, chance, type, invoice);
    if (then === undefined) continue;
    await journal.send(wire, then);
    if (then.state === 'open') return;
  }
}

export function draftBody(company: SimCompany, chance: Chance, type: string): Record<string, unknown> {
  const item = company.items[chance.one(['NORMAL', 'INTERMEDIATE', 'REDUCED'])];
  // A simplified invoice has 100 euros at most.
  const quantity = chance.whole(1, type === 'SIMPLIFIED_INVOICE' ? 2 : 9);
  return {
    type,
    cae: company.cae[0],
    customerId: company.customers[0],
    items: [{ id: item, quantity }],
    ...(type === 'INVOICE_RECEIPT' ? { payment: { method: 'NU' } } : {}),
  };
}

function afterwards(journal: Journal, chance: Chance, type: string, { id }: Told) {
  const fate = chance.whole(1, 10);
  if (fate <= 4 && type === 'INVOICE')
    return journal.act(`/invoices/${id}/pay`, chance.whole(0, 1) === 0 ? {} : { amount: 1 });
  if (fate <= 7) return journal.act('/invoices/credit-notes', { parentInvoiceId: id });
  if (fate <= 9) return journal.act(`/invoices/${id}/cancel`, { reason: 'Erro no pedido' });
  return undefined;
}
