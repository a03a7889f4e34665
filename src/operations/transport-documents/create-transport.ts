import type { Row } from '../../db/transact.ts';
import { offering, someId } from '../fields.ts';
import { insertDraftCall } from '../invoices/draft-rows.ts';
import { loadReferences, priceDraft } from '../invoices/price-draft.ts';
import { defineWrite } from '../operation.ts';
import { checkTimes, mergeTransport, TransportBody, transportProblems, withActivity } from './asked-transport.ts';
import { loadTransport, showTransport, TransportReply } from './transport-document.ts';

export const createTransport = defineWrite({
  name: 'createTransport',
  route: 'POST /transport-documents',
  tag: 'Transport documents',
  summary: 'Create a draft of a transport document',
  description: 'A draft has no number and nothing is reported to the tax authority until it is issued.',
  body: offering(TransportBody, {
    movementType: 'GUIA_DE_TRANSPORTE',
    customerId: someId,
    items: [{ id: someId, quantity: 10 }],
    movementDate: '2035-01-15T09:00:00.000Z',
    loading: { address: 'Rua do Armazém 7', postalCode: '4000-001', city: 'Porto', country: 'PT' },
    unloading: { address: 'Rossio 1', postalCode: '1100-200', city: 'Lisboa', country: 'PT' },
  }),
  reply: [201, TransportReply],
  access: { key: true },
  refuses: [],
  check: transportProblems,
  async load(tx, { body }, world) {
    const merged = mergeTransport(undefined, body, world.newId);
    const references = await loadReferences(tx, merged);
    return { draft: withActivity(merged, references), references };
  },
  decide({ draft, references }, { body, principal }, world) {
    checkTimes(draft, body, references['now'] as Date, principal.region);
    return { id: world.newId(), draft, content: priceDraft(draft, references), references, row: {} as Row };
  },
  async save(tx, change, { principal }) {
    const { id, draft, content, references } = change;
    await tx.batch([insertDraftCall(id, draft, content, principal.actor, references['now'] as Date)]);
    change.row = await loadTransport(tx, change.id);
    return change.id;
  },
  show: ({ row }, { principal }, world) => showTransport(row, principal, world),
});
