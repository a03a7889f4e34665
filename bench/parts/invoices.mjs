// Drafts and issued invoices over HTTP, for rows that need many.
import { inFlight } from './client.mjs';

/** A draft of three lines; `i` makes them differ. */
export function draftBody(company, i) {
  const { NORMAL, INTERMEDIATE, REDUCED } = company.items;
  return {
    type: 'INVOICE',
    cae: company.cae[0],
    customerId: company.customers[i % company.customers.length],
    items: [
      { id: NORMAL, quantity: 1 + (i % 7) },
      { id: INTERMEDIATE, quantity: 2.5 },
      { id: REDUCED, quantity: 1 + (i % 3) },
    ],
    notes: `Encomenda ${i}`,
  };
}

/** @returns {Promise<{ id: string, updatedAt: string }[]>} */
export async function createDrafts({ client, company }, count, width = 16) {
  const drafts = [];
  await inFlight(count, width, async (i) => {
    drafts.push(await client.expect(201, 'POST', '/invoices', draftBody(company, i)));
  });
  return drafts;
}

export function issue({ client }, draft) {
  return client.expect(200, 'POST', `/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt });
}
