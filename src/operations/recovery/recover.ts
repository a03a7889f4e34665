/**
 * Recovering one document into its recovery series: signed there with the next number, dated as the original, with the
 * time of now. A document recovered before by the same file is left as it is, so that a file can be run again after a
 * crash; by another file it is refused. One transaction each.
 */
import { StatementError } from '../../db/errors.ts';
import type { Call, Db, Tx } from '../../db/transact.ts';
import type { Content, Region } from '../../fiscal/document.ts';
import { assert, Refusal } from '../../fiscal/refusal.ts';
import { standing } from '../../fiscal/standing.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import { changedOnce } from '../books.ts';
import { issuerOf } from '../company/company.ts';
import { insertChildCall } from '../invoices/child.ts';
import { insertDraftCall } from '../invoices/draft-rows.ts';
import { balanceWithCall, lockFamily, lockToCredit, type Parent } from '../invoices/family.ts';
import { refreshNotes } from '../invoices/note-drafts.ts';
import { loadReferences } from '../invoices/price-draft.ts';
import { lockPlace, numberDocument, type Place } from '../numbering.ts';
import { actCall, operator as actor } from '../operator.ts';
import { begunNow } from '../stamp.ts';
import { stampCalls } from '../stamping.ts';
import type { World } from '../world.ts';
import { isChild, type Planned, type Recovery, recoveredCall, recoveryOf } from './plan.ts';
import type { AskedChild } from './plan-children.ts';
import { type AskedRecovery, recoveredContent, totalProblems } from './recovered-document.ts';
import { type AskedRecoveredNote, recoveredNote } from './recovered-note.ts';
import { type AskedRecoveredReceipt, recoveredReceipt } from './recovered-receipt.ts';

/** As the audit names it: a command, and so in no list of operations. */
export const recoveringAct = 'recoverDocument';

export interface RecoveredDocument extends Recovery {
  /** Done by an earlier run of the same file. */
  readonly before: boolean;
}

/** Refuses RECOVERED_ALREADY and what issuing refuses; then nothing has happened. */
export async function recoverDocument(
  db: Db,
  world: World,
  file: { readonly companyId: string; readonly digest: string },
  planned: Planned,
): Promise<RecoveredDocument> {
  if (planned.before !== undefined) return { ...planned.before, before: true };
  let region: Region = 'PT';
  const entry = entryOfCompany(file.companyId, actor, (principal) => {
    region = principal.region;
  });
  try {
    return await db.transact(entry, (tx) => recoverIn(tx, world, region, file.digest, planned));
  } catch (error) {
    // Recovered at the same moment into another series: the index is what decides.
    if (!(error instanceof StatementError) || error.constraint !== 'documents_recovered') throw error;
    const [[before] = []] = await db.read(entry).batch([recoveredCall(planned.key)]);
    const { original } = planned.asked.recovered;
    throw new Refusal('RECOVERED_ALREADY', { original, number: String(before?.['number']) });
  }
}

async function recoverIn(
  tx: Tx,
  world: World,
  region: Region,
  digest: string,
  { asked, key, seriesId, invoice }: Planned,
): Promise<RecoveredDocument> {
  const { original } = asked.recovered;
  const make = await toMake(tx, world, asked, invoice);
  // The series before customer and items, as everywhere. Behind its lock the same document can't be under way.
  const place = await lockPlace(tx, { type: asked.type, seriesId, scheme: 'recovery' });
  const [[before] = []] = await tx.batch([recoveredCall(key)]);
  if (before !== undefined) {
    if (before['recovered_file'] === digest) return { ...recoveryOf(before), before: true };
    throw new Refusal('RECOVERED_ALREADY', { original, number: String(before['number']) });
  }
  const made = await make(place);
  // An item, or what is open of an invoice, may have changed since the plan was made.
  const [differs] = totalProblems(made.content, asked);
  if (differs !== undefined) throw new Refusal(differs.code, differs.facts ?? {});
  const id = world.newId();
  const numbered = await numberDocument({ id, content: made.content, region }, place, world);
  const { content } = numbered.decided;
  const begun = begunNow(made.asked, actor, numbered.now, made.applicationId);
  const changes = made.changes(content, numbered.now);
  const written = await tx.batch([
    ...changes,
    made.insert(id, content, numbered.now),
    ...stampCalls(
      numbered,
      { ...standing(asked.type, content.totals.toPay), actor, begun: { ...begun, recovered: { key, file: digest } } },
      world.seal,
    ),
    actCall(recoveringAct, id),
  ]);
  written.slice(0, changes.length).forEach(changedOnce);
  if (content.type === 'CREDIT_NOTE') await refreshNotes(tx, content.parent!.id);
  return { id, number: numbered.issued.number, atcud: numbered.issued.atcud, before: false };
}

/** A document before it has a number, and what is written of it beside its stamp. */
interface Made {
  readonly content: Content;
  /** Columns. */
  readonly asked: unknown;
  readonly applicationId: string | null;
  readonly insert: (id: string, content: Content, now: Date) => Call;
  /** What happens to the document that it is about. */
  readonly changes: (content: Content, now: Date) => Call[];
}

/** Locks what the document is about; it is made once its place is locked too. */
type ToMake = (place: Place) => Promise<Made>;

function toMake(tx: Tx, world: World, asked: Planned['asked'], invoice: Planned['invoice']): Promise<ToMake> {
  if (!isChild(asked)) return draftToMake(tx, asked);
  return asked.type === 'RECEIPT' ? receiptToMake(tx, world, asked, invoice) : noteToMake(tx, world, asked, invoice);
}

async function draftToMake(tx: Tx, asked: AskedRecovery): Promise<ToMake> {
  const parent = asked.parentInvoiceId === undefined ? undefined : await lockFamily(tx, asked.parentInvoiceId);
  return async () => {
    if (parent?.status === 'CANCELED')
      throw new Refusal('NOT_CREDITABLE', { type: parent.type, status: parent.status });
    return {
      content: recoveredContent(asked, await loadReferences(tx, asked)),
      asked,
      applicationId: null,
      insert: (id, content, now) => insertDraftCall(id, asked, content, actor, now),
      changes: () => [],
    };
  };
}

/** Refuses RECOVERED_PARENT where what the file recovers before it was cancelled meanwhile. */
async function lockInvoice<T>(
  tx: Tx,
  asked: AskedChild,
  invoice: Planned['invoice'],
  lock: (tx: Tx, id: string) => Promise<T | undefined>,
): Promise<T> {
  assert(invoice !== undefined, 'what is planned of an invoice has it');
  const id = 'id' in invoice ? invoice.id : (await tx.batch([recoveredCall(invoice.key)]))[0]![0]?.['id'];
  const parent = id === undefined ? undefined : await lock(tx, String(id));
  if (parent === undefined) throw new Refusal('RECOVERED_PARENT', { number: asked.parentInvoiceNumber });
  return parent;
}

async function noteToMake(
  tx: Tx,
  world: World,
  asked: AskedRecoveredNote,
  invoice: Planned['invoice'],
): Promise<ToMake> {
  const parent = await lockInvoice(tx, asked, invoice, lockToCredit);
  return async (place) => {
    const { content, credit } = recoveredNote(parent, asked, issuerOf(place.moment), world.newId);
    const { recovered, total } = asked;
    return childMade(parent, content, { ...credit, parentInvoiceId: parent.id, recovered, total }, world);
  };
}

async function receiptToMake(
  tx: Tx,
  world: World,
  asked: AskedRecoveredReceipt,
  invoice: Planned['invoice'],
): Promise<ToMake> {
  const parent = await lockInvoice(tx, asked, invoice, lockFamily);
  return async (place) => {
    const content = recoveredReceipt(parent, asked, issuerOf(place.moment));
    const { date, method, notes, recovered, total } = asked;
    return childMade(parent, content, { date, method, notes, recovered, total }, world);
  };
}

const childMade = (parent: Parent, content: Content, asked: unknown, world: World): Made => ({
  content,
  asked,
  applicationId: parent.applicationId,
  insert: (id, content) => insertChildCall({ id, content, asked, seriesId: undefined, parentId: parent.id, actor }),
  changes: (content, now) => [balanceWithCall(parent, content, now, world.seal)],
});
