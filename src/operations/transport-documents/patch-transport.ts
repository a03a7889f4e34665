import type { Row } from '../../db/transact.ts';
import { idParams, offering } from '../fields.ts';
import { updateDraftCall } from '../invoices/draft-rows.ts';
import { loadReferences, priceDraft } from '../invoices/price-draft.ts';
import { defineWrite } from '../operation.ts';
import {
  type AskedTransport,
  checkTimes,
  mergeTransport,
  TransportPatch,
  transportProblems,
  withActivity,
} from './asked-transport.ts';
import { loadTransport, lockDraft, showTransport, TransportReply } from './transport-document.ts';

export const patchTransport = defineWrite({
  name: 'patchTransport',
  route: 'PATCH /transport-documents/:id',
  tag: 'Transport documents',
  summary: 'Change a draft of a transport document',
  description:
    'Only the fields given change; items replaces all lines; an empty licensePlate or comments clears it. Issued documents cannot be changed.',
  params: idParams('Id of the draft.'),
  body: offering(TransportPatch, { licensePlate: 'AA-00-AA', comments: 'Entregar de manhã.' }),
  reply: [200, TransportReply],
  access: { key: true },
  refuses: ['TRANSPORT_NOT_FOUND', 'INVALID_STATE'],
  check: transportProblems,
  async load(tx, { params, body }, world) {
    const before = (await lockDraft(tx, params.id))['asked'] as AskedTransport;
    const merged = mergeTransport(before, body, world.newId);
    const references = await loadReferences(tx, merged);
    return { before, draft: withActivity(merged, references), references };
  },
  decide({ before, draft, references }, { params, body, principal }) {
    checkTimes(draft, body, references['now'] as Date, principal.region);
    return { id: params.id, draft, content: priceDraft(draft, references, before), row: {} as Row };
  },
  async save(tx, change) {
    const { id, draft, content } = change;
    await tx.batch([updateDraftCall(id, draft, content)]);
    change.row = await loadTransport(tx, id);
    return id;
  },
  show: ({ row }, { principal }, world) => showTransport(row, principal, world),
});
