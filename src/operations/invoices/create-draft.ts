import type { Static } from 'typebox';
import type { Call, Row } from '../../db/transact.ts';
import type { Content } from '../../fiscal/document.ts';
import type { Principal } from '../../identity/principal.ts';
import { offering, someId } from '../fields.ts';
import { defineWrite } from '../operation.ts';
import type { World } from '../world.ts';
import { type AskedDraft, DraftBody, draftProblems, mergeDraft, refuseOtherRoutes } from './draft.ts';
import { dueDateOf, insertDraftCall } from './draft-rows.ts';
import { InvoiceReply } from './invoice.ts';
import { keepDraft } from './kept-draft.ts';
import {
  holdReferencesAhead,
  loadReferences,
  priceDraft,
  readReferencesAhead,
  recallReferences,
  referencesAhead,
} from './price-draft.ts';
import { renderInvoice } from './render-invoice.ts';
import { type ShownContent, showContent } from './show-invoice.ts';

export const createDraft = defineWrite({
  name: 'createDraft',
  route: 'POST /invoices',
  tag: 'Invoices',
  summary: 'Create a draft',
  description: 'A draft has no number and nothing is reported to the tax authority until it is issued.',
  body: offering(DraftBody, {
    type: 'INVOICE',
    cae: '62010',
    customerId: someId,
    items: [{ id: someId, quantity: 2.5 }],
    notes: 'Obrigado.',
  }),
  reply: [201, InvoiceReply],
  access: { key: true, oauth: ['invoicing.write'] },
  grouped: true,
  foretold: true,
  refuses: ['USE_OTHER_ENDPOINT'],
  tool: 'create_invoice_draft',
  check: draftProblems,
  async load(tx, asked, world) {
    return { references: await loadReferences(tx, provisional(asked.body, world)) };
  },
  decide({ references, draft: merged }: DraftFacts, asked, world) {
    refuseOtherRoutes(asked.body.type);
    const draft = merged ?? mergeDraft(undefined, asked.body, asked.principal.region, world.newId);
    const content = priceDraft(draft, references);
    const shown = showContent(content, asked.principal.region);
    return { id: world.newId(), draft, content, references, shown };
  },
  async save(tx, change, { principal }) {
    await tx.batch([insertCall(change, principal.actor)]);
    return change.id;
  },
  ahead: {
    recall({ body, principal }, world) {
      const draft = mergeDraft(undefined, body, principal.region, world.newId);
      const references = recallReferences(draft, principal.region, world.memory.of(principal.companyId));
      return references === undefined ? undefined : { references, draft };
    },
    read: ({ body }, world) => readReferencesAhead(provisional(body, world)),
    facts(rows, { principal }, world) {
      const references = referencesAhead(rows, world.memory.of(principal.companyId));
      return references === undefined ? undefined : { references };
    },
    // Without a customer there is nothing to hold, nor to write.
    hold: ({ references }) => (references['customer'] === null ? undefined : holdReferencesAhead(references)),
    save: (change, { principal }) => ({ subject: change.id, calls: [insertCall(change, principal.actor)] }),
    keep: (change, { principal }, world) => keepNew(change, principal, world),
  },
  show: (change, { principal }, world) =>
    renderInvoice(newRow(change, principal.actor), change.shown, principal.region, principal.companyId, world),
});

interface DraftFacts {
  readonly references: Row;
  /** What is asked for, where the company's region was known before. */
  readonly draft?: AskedDraft;
}

interface NewDraft {
  readonly id: string;
  readonly draft: AskedDraft;
  readonly content: Content;
  readonly references: Row;
  readonly shown: ShownContent;
}

/** Days are civil days of the company; its region is not known before the first statement, and only then needed. */
const provisional = (body: Static<typeof DraftBody>, world: World): AskedDraft =>
  mergeDraft(undefined, body, 'PT', world.newId);

const insertCall = ({ id, draft, content, references }: NewDraft, actor: string): Call =>
  insertDraftCall(id, draft, content, actor, references['now'] as Date);

/** It is mostly issued next. */
function keepNew(change: NewDraft, { companyId, actor }: Principal, world: World): void {
  keepDraft(world.memory.of(companyId), companyId, newRow(change, actor), change.shown);
}

/** A draft as a row, for showing what was just written without reading it again, and to be kept. */
function newRow({ id, draft, content, references }: NewDraft, actor: string): Row {
  const now = references['now'];
  return {
    id,
    type: draft.type,
    status: 'DRAFT',
    created_at: now,
    created_by: actor,
    updated_at: now,
    application_id: null,
    schedule_template_id: null,
    asked: draft,
    series_id: draft.seriesId ?? null,
    series_name: references['series'],
    number: null,
    atcud: null,
    hash: null,
    date: draft.date ?? null,
    due_date: dueDateOf(draft) ?? null,
    credited: '0',
    content,
    qr: null,
    issued_at: null,
    at_status: 'NOT_APPLICABLE',
    at_code: null,
    at_message: null,
    now,
  };
}
