/**
 * Issue: the act that can't be undone. Draft and series are locked, the law decides, the chain is signed, and number,
 * signature, ATCUD, QR and the frozen document are written in one transaction together with the claim and the audit.
 * Reporting to the AT follows from the `PENDING` that this leaves behind; issuing never waits for it.
 */
import type { Call, Row } from '../../db/transact.ts';
import { atStatusOf } from '../../fiscal/communicated.ts';
import { checkConversion, convertedOf } from '../../fiscal/convert.ts';
import { debitNoteOver } from '../../fiscal/debit-note.ts';
import type { Content } from '../../fiscal/document.ts';
import { assert, Refusal } from '../../fiscal/refusal.ts';
import { schemeOf } from '../../fiscal/regime.ts';
import { standing } from '../../fiscal/standing.ts';
import { dayOf } from '../../fiscal/time.ts';
import { changedOnce } from '../books.ts';
import { issuerOf } from '../company/company.ts';
import { closed, idParams, instant, offering } from '../fields.ts';
import { holdMomentCall, readMoment } from '../moment.ts';
import {
  lockPlace,
  numberDocument,
  type Place,
  placeAhead,
  regimeRefusals,
  seriesOfPlaces,
  type Wanted,
} from '../numbering.ts';
import { defineWrite } from '../operation.ts';
import { convertedCall, lockProposal, type Proposal } from '../proposals/conversions.ts';
import { begunOf, type Numbered, type Stamp, stampedAt } from '../stamp.ts';
import { namedBy, stampCalls } from '../stamping.ts';
import { holdDraft, holdSeries } from '../unchanged.ts';
import type { World } from '../world.ts';
import { balanceWithCall, type Corrected, draftBehindInvoice, lockFamily, type Parent } from './family.ts';
import { InvoiceReply, isDraft, loadAsIssued, readDraftAhead } from './invoice.ts';
import { isFrozenAsDrafted, type KeptDraft, recallDraft } from './kept-draft.ts';
import { hasSameAmounts, type NoteDraft, noteOfNow, refreshNotes } from './note-drafts.ts';
import { renderInvoice } from './render-invoice.ts';
import { showInvoice } from './show-invoice.ts';

interface IssueFacts {
  /** Of a kept draft its content is an outline. */
  readonly row: Row;
  readonly parent: Parent | undefined;
  readonly corrected: Corrected | undefined;
  readonly proposal: Proposal | undefined;
  readonly kept?: KeptDraft;
}

interface IssueChange {
  readonly row: Row;
  readonly place: Place;
  readonly parent: Parent | undefined;
  readonly proposal: Proposal | undefined;
  readonly numbered: Numbered;
  readonly stamp: Stamp;
  readonly updatedAt: Date;
  readonly kept: KeptDraft | undefined;
}

export const issueInvoice = defineWrite({
  name: 'issueInvoice',
  route: 'POST /invoices/:id/issue',
  tag: 'Invoices',
  summary: 'Issue a draft',
  description:
    'Assigns number, ATCUD, signature and QR code, freezes the document for ever and reports it to the tax authority. It cannot be undone; a mistake is corrected with a credit note.',
  params: idParams('Id of the draft.'),
  body: offering(closed({ expectedUpdatedAt: instant('The updatedAt of the draft as you read it.') }), {
    expectedUpdatedAt: '2026-11-21T10:15:30.000Z',
  }),
  reply: [200, InvoiceReply],
  access: { key: true, oauth: ['invoicing.issue'] },
  fiscal: true,
  grouped: true,
  foretold: true,
  tool: 'issue_invoice',
  refuses: [
    'INVOICE_NOT_FOUND',
    'IMPORTED_FROM_AT',
    'INVALID_STATE',
    'DRAFT_CHANGED',
    'NOT_READY',
    'SERIES_NOT_ACTIVE',
    'PARENT_REQUIRED',
    'NOT_CREDITABLE',
    'DATE_GOES_BACK',
    'DATE_IN_FUTURE',
    'DATE_BEFORE_SERIES',
    'SIMPLIFIED_LIMIT',
    ...regimeRefusals,
    'PROPOSAL_CANCELED',
    'PROPOSAL_NOT_TAKEN',
    'PROPOSAL_EXCEEDED',
    'QR_TOO_MANY_REGIONS',
    'CLOCK_REGRESSION',
    'INTEGRITY_BROKEN',
  ],
  async load(tx, asked): Promise<IssueFacts> {
    const { row, corrected } = await draftBehindInvoice(tx, asked.params.id);
    // A note's invoice and the pro forma of a conversion are locked before the series, as paying and cancelling do.
    const { parent: named, origin } = row['content'] as Content;
    const parent = named === undefined ? undefined : (corrected ?? (await lockFamily(tx, named.id)));
    const proposal = origin === undefined ? undefined : await lockProposal(tx, origin.id);
    const content = following(row['content'] as Content, parent, proposal);
    return { row: { ...row, content } as Row, parent, corrected, proposal };
  },
  async locate(tx, facts): Promise<IssueFacts & { readonly place: Place }> {
    return { ...facts, place: await lockPlace(tx, wantedBy(facts.row)) };
  },
  async decide({ row, parent, corrected, proposal, place, kept }, asked, world): Promise<IssueChange> {
    checkRevision(row, asked.body.expectedUpdatedAt);
    const content = contentToIssue({ row, parent, corrected, place });
    if (proposal !== undefined) checkConversion(content, proposal);
    const numbered = await numberDocument(
      { id: asked.params.id, content, region: asked.principal.region, drafted: kept?.drafted, qr: kept?.qr },
      place,
      world,
    );
    const { type, totals } = numbered.decided.content;
    assert(kept === undefined || numbered.decided.content === content, 'of an outline nothing is made anew');
    const begun = begunOf(row);
    const { status, outstanding } = standing(type, totals.toPay);
    const stamp = { actor: asked.principal.actor, begun, status, outstanding };
    const updatedAt = stampedAt(numbered.now, begun);
    return { row, place, parent, proposal, numbered, stamp, updatedAt, kept };
  },
  async save(tx, change, _asked, world) {
    const { decided, now } = change.numbered;
    const { content } = decided;
    const stamping = stampCalls(change.numbered, change.stamp, world.seal, { asDrafted: isAsDrafted(change) });
    const results = await tx.batch([
      ...stamping,
      ...(content.type === 'CREDIT_NOTE' ? [balanceWithCall(change.parent!, content, now, world.seal)] : []),
      ...(change.proposal?.status === 'CREATED' ? [convertedCall(change.proposal, now, world.seal)] : []),
    ]);
    // Behind the stamp: what happened to the invoice that a note corrects, or to the pro forma.
    results.slice(stamping.length).forEach(changedOnce);
    if (content.type === 'CREDIT_NOTE') await refreshNotes(tx, change.parent!.id);
    return change.numbered.id;
  },
  ahead: {
    recall({ params, principal }, world) {
      const memory = world.memory.of(principal.companyId);
      const kept = recallDraft(memory, params.id);
      const moment = kept && memory.moment(principal.region);
      const places = moment && memory.places(String(kept.row['type']), kept.row['series_id'] as string | null);
      if (kept === undefined || moment === undefined || places === undefined) return undefined;
      const content = kept.row['content'] as Content;
      kept.row['marked'] = memory.areUsed(namedBy(content));
      const facts = factsAhead(kept.row, places, moment, world);
      const day = dayOf(moment['now'] as Date, principal.region);
      if (facts?.place.series === undefined || !isFrozenAsDrafted(content, facts.place.series, day)) return undefined;
      const { row, place } = facts;
      return { row, parent: undefined, corrected: undefined, proposal: undefined, place, kept };
    },
    read: ({ params }) => [readDraftAhead(params.id), [readMoment, []]],
    facts([rows = [], moments], { principal }, world) {
      const row = rows[0];
      const moment = moments?.[0];
      if (row === undefined || moment === undefined) return undefined;
      const memory = world.memory.of(principal.companyId);
      const places = seriesOfPlaces(rows);
      memory.keepMoment(moment);
      memory.keepPlaces(String(row['type']), row['series_id'] as string | null, places);
      if (row['marked'] === true) memory.keepUsed(namedBy(row['content'] as Content));
      return factsAhead(row, places, moment, world);
    },
    hold: ({ kept, place }) => (kept === undefined ? [] : holdPlace(place)),
    save: (change, _asked, world) => {
      const { row, place, numbered, stamp, kept } = change;
      const asDrafted = isAsDrafted(change);
      const known = { marked: row['marked'] === true, asDrafted };
      return {
        subject: numbered.id,
        calls: [
          ...(asDrafted ? [] : [holdDraft({ id: numbered.id, updated_at: row['updated_at'] as Date })]),
          // Behind the draft's lock, where it takes one: of a kept draft it is held already.
          ...(kept === undefined ? holdPlace(place) : []),
          ...stampCalls(numbered, stamp, world.seal, known),
        ],
      };
    },
    keep({ numbered }, { principal }, world) {
      world.memory.of(principal.companyId).forgetDraft(numbered.id);
    },
    settle({ row, numbered }, { principal }, world) {
      if (row['marked'] === true) return;
      world.memory.of(principal.companyId).keepUsed(namedBy(numbered.decided.content));
    },
  },
  show(change, { principal: { region, companyId } }, world) {
    const issued = issuedRow(change);
    const { kept } = change;
    if (kept === undefined) return showInvoice(issued, region, companyId, world);
    return renderInvoice(issued, kept.shown, region, companyId, world);
  },
  // All that the answer says is frozen, or stands in the document as it was then.
  async retell(tx, { params, principal: { region, companyId } }, world) {
    return showInvoice(await loadAsIssued(tx, params.id), region, companyId, world);
  },
  after: (world) => world.nudgeReports(),
});

/** On condition that the place is as it was when it was found. */
const holdPlace = ({ series, moment }: Place): Call[] => [
  // The cash VAT scheme is changed under the locks of its series, which the moment is read behind: see setCashVat.
  ...(series?.['cash_vat'] === true ? [holdSeries(String(series['id']))] : []),
  holdMomentCall(moment, moment['now'] as Date),
];

/** What is frozen stands in the draft's row already: nothing of it was made anew, nor taken from another document. */
const isAsDrafted = ({ row, numbered, parent, proposal }: IssueChange): boolean =>
  parent === undefined && proposal === undefined && numbered.decided.content === row['content'];

/** A debit note follows the regime of the invoice it corrects; what is made of a pro forma for training is for training, and says what is not of it. */
function following(draft: Content, parent: Parent | undefined, proposal: Proposal | undefined): Content {
  if (parent !== undefined) {
    const { cashVat, training } = parent.content;
    return { ...draft, cashVat, training };
  }
  if (proposal === undefined) return draft;
  return { ...convertedOf(draft, proposal.content.lines), training: proposal.content.training };
}

/** Of a draft that nothing else has to be locked with. */
function factsAhead(
  row: Row,
  places: readonly Row[],
  moment: Row,
  world: World,
): (IssueFacts & { readonly place: Place }) | undefined {
  if (!isDraft(row)) return undefined;
  // What it corrects, or was made of, is locked and changed with it.
  const { parent, origin } = row['content'] as Content;
  if (parent !== undefined || origin !== undefined) return undefined;
  const place = placeAhead(places, moment, wantedBy(row), world);
  return place && { row, parent: undefined, corrected: undefined, proposal: undefined, place };
}

function wantedBy(row: Row): Wanted {
  const content = row['content'] as Content;
  const { type, date } = content;
  return { type, seriesId: row['series_id'] as string | null, scheme: schemeOf(content), date };
}

/** Refuses a draft that is not any more as the caller read it. */
export function checkRevision(row: Row, expectedUpdatedAt: string): void {
  const isFiner = finerThanMilliseconds.test(expectedUpdatedAt);
  if (isFiner || Date.parse(expectedUpdatedAt) !== (row['updated_at'] as Date).getTime()) throw draftChanged(row);
}

/** What a Date drops: no revision has it. */
const finerThanMilliseconds = /\.\d{3}0*[1-9]/;

const draftChanged = (row: Row): Refusal =>
  new Refusal('DRAFT_CHANGED', {}, { members: { currentUpdatedAt: (row['updated_at'] as Date).toISOString() } });

/**
 * A note is checked again against what is open of its invoice now: drafts reserve nothing (contract decisions 3, Credit note). Its
 * amounts were made anew whenever they moved; what shows others all the same is not signed.
 */
function contentToIssue({
  row,
  parent,
  corrected,
  place,
}: Omit<IssueFacts, 'proposal'> & { readonly place: Place }): Content {
  const content = row['content'] as Content;
  if (content.type === 'DEBIT_NOTE' && parent !== undefined) return debitNote(content, parent);
  if (content.type !== 'CREDIT_NOTE') return content;
  assert(corrected !== undefined, 'a credit note has its invoice');
  const note = noteOfNow(corrected, row as unknown as NoteDraft);
  if (!hasSameAmounts(note, content)) throw draftChanged(row);
  // Its issuer was read behind no lock where there was no series for it yet.
  return { ...note, issuer: issuerOf(place.moment) };
}

function debitNote(draft: Content, { type, status, date, content }: Parent): Content {
  if (status === 'CANCELED') throw new Refusal('NOT_CREDITABLE', { type, status });
  // One that can't be priced with the data of today has old lines: why, is told at its decision.
  if (draft.refused !== undefined) return draft;
  const corrected = { date: date!, taxPointDate: content.taxPointDate, groups: content.totals.groups };
  return { ...debitNoteOver(draft, corrected), customer: content.customer };
}

/** The row as it is shown, for showing what was just written without reading it again. */
function issuedRow({ row, numbered, stamp, updatedAt }: IssueChange): Row {
  const { decided, issued, seriesId, signedText, now } = numbered;
  // Written out: put together of parts, V8 makes a table of so many members to look them up in.
  return {
    id: row['id'],
    type: row['type'],
    status: stamp.status,
    created_at: row['created_at'],
    updated_at: updatedAt,
    series_id: seriesId,
    series_name: issued.seriesCode,
    number: issued.number,
    atcud: issued.atcud,
    hash: issued.hash,
    short_hash: issued.shortHash,
    signed_text: signedText,
    key_version: issued.keyVersion,
    date: decided.date,
    due_date: decided.dueDate,
    credited: row['credited'],
    content: decided.content,
    qr: issued.qr,
    issued_at: now,
    at_status: atStatusOf(decided.content),
    at_code: row['at_code'],
    at_message: row['at_message'],
    now,
  };
}
