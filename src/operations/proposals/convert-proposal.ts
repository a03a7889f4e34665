/** A pro forma into an invoice: a draft that keeps what the pro forma promised, and says where it came from. */
import { Type } from 'typebox';
import type { Row } from '../../db/transact.ts';
import { discountOf, type Open, openOfProforma, type TakenLine, takenLines } from '../../fiscal/convert.ts';
import { fromNumber } from '../../fiscal/decimal.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { closed, id, idParams, line, offering, quantity } from '../fields.ts';
import type { AskedDraft, AskedLine } from '../invoices/draft.ts';
import { insertDraftCall } from '../invoices/draft-rows.ts';
import { InvoiceReply, loadInvoice } from '../invoices/invoice.ts';
import { loadReferences, priceDraft } from '../invoices/price-draft.ts';
import { showInvoice } from '../invoices/show-invoice.ts';
import { defineWrite } from '../operation.ts';
import { type Proposal, proposalToChange } from './conversions.ts';

const ConvertBody = closed({
  cae: Type.Optional(line(5, "One of the company's activity codes; that of the pro forma when absent.", 5)),
  items: Type.Optional(
    Type.Array(
      closed({
        id: id("items[].id of the pro forma's line, or its items[].ref where no other line has it."),
        quantity: quantity('How much of it.'),
      }),
      { minItems: 1, maxItems: 1000, description: 'For a part; everything still open when absent.' },
    ),
  ),
});

export const convertProposal = defineWrite({
  name: 'convertProposal',
  route: 'POST /proposals/:id/convert',
  tag: 'Pro formas',
  summary: 'Make an invoice draft of a pro forma',
  description:
    'The draft has the prices, discounts, description and notes of the pro forma and refers to it. Where the company does not have its activity code any more, say another one. It reserves nothing: quantities are checked again when it is issued. With the first issued invoice the pro forma is ISSUED; it can be converted until its quantities are used.',
  params: idParams('Id of the pro forma.'),
  body: offering(ConvertBody, {}),
  reply: [201, InvoiceReply],
  access: { key: true },
  refuses: ['PROPOSAL_NOT_FOUND', 'PROPOSAL_CANCELED', 'NOTHING_TO_CONVERT'],
  async load(tx, { params, body }, world) {
    const proposal = await proposalToChange(tx, params.id);
    if (proposal.status === 'CANCELED') throw new Refusal('PROPOSAL_CANCELED', { number: proposal.ref.number });
    const wanted = body.items?.map((item) => ({ id: item.id, quantity: fromNumber(item.quantity) }));
    const open = openOfProforma(proposal);
    const taken = takenLines(proposal.content.lines, open, wanted);
    if (taken.length === 0) throw new Refusal('NOTHING_TO_CONVERT');
    const draft = { ...askedOf(proposal, taken, open, world.newId), ...(body.cae && { cae: body.cae }) };
    return { proposal, draft, references: await loadReferences(tx, draft) };
  },
  decide({ proposal, draft, references }, _asked, world) {
    // What the pro forma has may be invoiced even where customer or item were archived since.
    const content = priceDraft(draft, references, { ...proposal.asked, items: draft.items });
    return { id: world.newId(), draft, content, references, row: {} as Row };
  },
  async save(tx, change, { principal }) {
    const { id, draft, content, references } = change;
    await tx.batch([insertDraftCall(id, draft, content, principal.actor, references['now'] as Date)]);
    change.row = await loadInvoice(tx, change.id);
    return change.id;
  },
  show: ({ row }, { principal }, world) => showInvoice(row, principal.region, principal.companyId, world),
});

function askedOf(proposal: Proposal, taken: readonly TakenLine[], open: Open, newId: () => string): AskedDraft {
  const { asked, content, invoiced, ref } = proposal;
  return {
    type: 'INVOICE',
    cae: asked.cae,
    customerId: asked.customerId,
    items: taken.map((one) => askedLineOf(one, newId())),
    taxPointDate: asked.taxPointDate,
    currency: asked.currency,
    exchangeRate: asked.exchangeRate,
    description: asked.description,
    notes: asked.notes,
    templateId: asked.templateId,
    globalDiscount: discountOf(content, taken, invoiced, open),
    origin: ref,
  };
}

/** The line as the pro forma froze it, whatever the catalogue says by now. */
function askedLineOf({ line, quantity: taken }: TakenLine, lineId: string): AskedLine {
  const { productType, unit, region, fixedRate, withholding } = line;
  return {
    lineId,
    originLineId: line.id,
    id: line.itemId,
    quantity: taken,
    name: line.name,
    description: line.description,
    unitPrice: line.unitPrice,
    vatRate: line.vatRate,
    vatExemptionReason: line.exemptionCode,
    discount: line.discount,
    promised: { productType, unit, region, fixedRate, withholding },
  };
}
