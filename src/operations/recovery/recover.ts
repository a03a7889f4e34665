/**
 * Recovering one document into its recovery series: signed there with the next number, dated as the original, with the
 * time of now. A document recovered before by the same file is left as it is, so that a file can be run again after a
 * crash; by another file it is refused. One transaction each.
 */
import { StatementError } from '../../db/errors.ts';
import type { Db, Tx } from '../../db/transact.ts';
import type { Content, Region } from '../../fiscal/document.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { standing } from '../../fiscal/standing.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import { insertDraftCall } from '../invoices/create-draft.ts';
import { lockFamily } from '../invoices/family.ts';
import { loadReferences, priceDraft } from '../invoices/price-draft.ts';
import { lockPlace, numberDocument } from '../numbering.ts';
import { actCall, operator as actor } from '../operator.ts';
import { begunNow } from '../stamp.ts';
import { stampCalls } from '../stamping.ts';
import type { World } from '../world.ts';
import { type Planned, type Recovery, recoveredCall, recoveryOf } from './plan.ts';
import { recoveredContent, totalProblems } from './recovered-document.ts';

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
  { asked, key, seriesId }: Planned,
): Promise<RecoveredDocument> {
  const { original } = asked.recovered;
  const parent = asked.parentInvoiceId === undefined ? undefined : await lockFamily(tx, asked.parentInvoiceId);
  // The series before customer and items, as everywhere. Behind its lock the same document can't be under way.
  const place = await lockPlace(tx, { type: asked.type, seriesId, scheme: 'recovery' });
  const [[before] = []] = await tx.batch([recoveredCall(key)]);
  if (before !== undefined) {
    if (before['recovered_file'] === digest) return { ...recoveryOf(before), before: true };
    throw new Refusal('RECOVERED_ALREADY', { original, number: String(before['number']) });
  }
  if (parent?.status === 'CANCELED') throw new Refusal('NOT_CREDITABLE', { type: parent.type, status: parent.status });
  const content: Content = recoveredContent(priceDraft(asked, await loadReferences(tx, asked)), asked);
  // An item may have changed since the plan was made.
  const [differs] = totalProblems(content, asked);
  if (differs !== undefined) throw new Refusal(differs.code, differs.facts ?? {});
  const id = world.newId();
  const numbered = await numberDocument({ id, content, region }, place, world);
  const begun = { ...begunNow(asked, actor, numbered.now), recovered: { key, file: digest } };
  await tx.batch([
    insertDraftCall(id, asked, content, actor, numbered.now),
    ...stampCalls(numbered, { ...standing(asked.type, content.totals.toPay), actor, begun }, world.seal),
    actCall(recoveringAct, id),
  ]);
  return { id, number: numbered.issued.number, atcud: numbered.issued.atcud, before: false };
}
