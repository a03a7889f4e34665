/**
 * Verifies that what was numbered is still there, by what every act leaves in the audit. Whoever takes the last documents of
 * a series away and puts back the row that the series had before leaves no seal that does not fit, but these entries.
 */
import { statement } from '../../db/transact.ts';
import { findingSeal } from '../../fiscal/seal.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import { operations } from '../all.ts';
import { createCreditNote } from '../invoices/create-credit-note.ts';
import { deleteDraft } from '../invoices/delete-draft.ts';
import { recoveringAct } from '../recovery/recover.ts';
import type { VerifyWorld, Watch } from './verify-series.ts';

/** Acts that leave a numbered document behind, and name it in the audit; a credit note may be a draft still. */
const acts = [...operations.filter(({ fiscal }) => fiscal).map(({ name }) => name), recoveringAct];

/** Entries read at once: some 10 ms of the server. A million entries of 300,000 documents took 11 s beside other work. */
const portion = 2_000;
/** Looking for them reads the whole audit, which no index gives by its subjects. */
const most_notes = 20_000;

// In the order of its key, so that neither side keeps more than a portion. Each entry came with what it tells of in one
// transaction: one statement sees both.
const readGone = statement(
  'verify_audit',
  `with entries as materialized (
     select a.id, a.at, a.operation, a.subject_id from certo.audit a
     where a.company_id = certo.current_company() and a.id > $1 order by a.id limit ${portion})
   select (select e.id from entries e order by e.id desc limit 1) as last,
     (select json_agg(json_build_object('id', e.id, 'at', to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'act', e.operation, 'subject', e.subject_id) order by e.id)
      from entries e
      where e.operation = any ($2::text[]) and not exists (
        select from certo.documents d where d.company_id = certo.current_company() and d.id = e.subject_id
          and (d.number is not null or e.operation = '${createCreditNote.name}'))) as gone`,
);
const readDeleted = statement(
  'verify_deleted',
  `select a.subject_id from certo.audit a join unnest($1::uuid[]) v (id) on v.id = a.subject_id
   where a.company_id = certo.current_company() and a.operation = '${deleteDraft.name}'`,
);
const first = '00000000-0000-0000-0000-000000000000';

/** An entry whose document is not there, or has no number. */
interface Gone {
  readonly id: string;
  readonly at: string;
  readonly act: string;
  readonly subject: string;
}

/** The audit is not sealed: an entry that was removed tells nothing. */
export async function verifyAudit(world: VerifyWorld, companyId: string, watch: Watch): Promise<void> {
  const tx = world.db.read(entryOfCompany(companyId, 'verify'));
  const tell = ({ id, at, act, subject }: Gone): void => {
    const problem = `has an act in its audit (${act}, ${at}) on a document that is not there (${subject})`;
    const evidence = findingSeal(world.seal, companyId, id, problem);
    watch.found({ companyId, series: '', documentType: '', number: null, problem, evidence });
  };
  /** Most of them were drafts, and deleted. */
  let notes: Gone[] = [];
  const tellNotes = async (): Promise<void> => {
    const rows = await tx.query(readDeleted, [notes.map(({ subject }) => subject)]);
    const deleted = new Set(rows.map((row) => row['subject_id']));
    for (const note of notes) if (!deleted.has(note.subject)) tell(note);
    notes = [];
  };
  for (let after = first; ; ) {
    const [row] = await tx.query(readGone, [after, acts]);
    for (const one of (row!['gone'] ?? []) as Gone[]) {
      if (one.act === createCreditNote.name) notes.push(one);
      else tell(one);
    }
    const last = row!['last'] as string | null;
    if (notes.length >= most_notes || (last === null && notes.length > 0)) await tellNotes();
    await watch.done(0);
    if (last === null) return;
    after = last;
  }
}
