import type { Row } from '../../db/transact.ts';
import type { Content } from '../../fiscal/document.ts';
import { closed, offering, someId } from '../fields.ts';
import { type AskedDraft, draftMembers, draftProblems, mergeDraft } from '../invoices/draft.ts';
import { insertDraftCall } from '../invoices/draft-rows.ts';
import { loadReferences, priceDraft } from '../invoices/price-draft.ts';
import { lockPlace, numberDocument } from '../numbering.ts';
import { defineWrite } from '../operation.ts';
import { begunNow, type Numbered } from '../stamp.ts';
import { stampCalls } from '../stamping.ts';
import { loadProposal, ProposalReply, showProposal } from './proposal.ts';

// It is not paid and corrects nothing.
const { payment: _payment, parentInvoiceId: _parent, reason: _reason, ...members } = draftMembers;

interface ProposalChange {
  readonly asked: AskedDraft;
  readonly content: Content;
  readonly numbered: Numbered;
  row: Row;
}

export const createProposal = defineWrite({
  name: 'createProposal',
  route: 'POST /proposals',
  tag: 'Pro formas',
  summary: 'Make a pro forma',
  description:
    'It is numbered, signed and reported to the tax authority at once, and is no invoice. Convert it into invoices, in full or in part, or cancel it.',
  body: offering(closed(members), {
    cae: '62010',
    customerId: someId,
    items: [{ id: someId, quantity: 2.5 }],
    notes: 'Válida por 30 dias.',
  }),
  reply: [201, ProposalReply],
  access: { key: true },
  fiscal: true,
  grouped: true,
  refuses: [
    'NOT_READY',
    'DATE_GOES_BACK',
    'DATE_IN_FUTURE',
    'DATE_BEFORE_SERIES',
    'QR_TOO_MANY_REGIONS',
    'CLOCK_REGRESSION',
    'INTEGRITY_BROKEN',
  ],
  check: draftProblems,
  load: () => Promise.resolve({}),
  async locate(tx, _facts, asked, world) {
    // The series before customer and items, as everywhere.
    const place = await lockPlace(tx, { type: 'PROFORMA', seriesId: asked.body.seriesId ?? null });
    const draft = mergeDraft(undefined, { ...asked.body, type: 'PROFORMA' }, asked.principal.region, world.newId);
    return { draft, place, references: await loadReferences(tx, draft) };
  },
  async decide({ draft, place, references }, { principal }, world): Promise<ProposalChange> {
    const content = priceDraft(draft, references);
    const numbered = await numberDocument({ id: world.newId(), content, region: principal.region }, place, world);
    return { asked: draft, content, numbered, row: {} };
  },
  async save(tx, change, { principal }, world) {
    const { numbered, asked, content } = change;
    await tx.batch([
      insertDraftCall(numbered.id, asked, content, principal.actor, numbered.now),
      ...stampCalls(
        numbered,
        {
          status: 'ISSUED',
          outstanding: '0',
          actor: principal.actor,
          begun: begunNow(asked, principal.actor, numbered.now),
        },
        world.seal,
      ),
    ]);
    change.row = await loadProposal(tx, numbered.id);
    return numbered.id;
  },
  show: ({ row }, { principal }, world) => showProposal(row, principal, world),
  after: (world) => world.nudgeReports(),
});
