/**
 * Changing the draft of a credit note: its own few fields; everything else is copied from the invoice. Its lines stay as
 * they are unless others are given: what is open of the invoice by now is asked again when it is issued.
 */
import type { Call, Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { creditNote } from '../../fiscal/credit-note.ts';
import { dateProblems } from '../../fiscal/dates.ts';
import { fromNumber } from '../../fiscal/decimal.ts';
import type { Content, Region } from '../../fiscal/document.ts';
import { alongside, type Problem } from '../../fiscal/refusal.ts';
import { parseDay } from '../../fiscal/time.ts';
import { cleared, type DraftPatch } from './draft.ts';
import { dueDateOf } from './draft-rows.ts';
import type { Corrected } from './family.ts';
import { type AskedNote, type NoteDraft, noteIfOpen, noteSeriesCall, unknownSeries } from './note-drafts.ts';

const updateNote = statement(
  'note_update',
  `update certo.documents set updated_at = greatest(certo.now(), updated_at + interval '1 millisecond'),
     asked = $2, content = $3, date = $4, notes = $5, series_id = $6, net = $7, tax = $8, gross = $9, to_pay = $10, item_ids = $11, tax_point_date = $12, due_date = $13
   where company_id = certo.current_company() and id = $1`,
);

interface NoteFacts extends NoteDraft {
  readonly kind: 'note';
  /** Its invoice. */
  readonly corrected: Corrected;
  /** The series that is asked for is not there, or is none for it. */
  readonly isSeriesUnknown: boolean;
}

/** The draft of a note, which is locked with its invoice. */
export async function loadNote(tx: Tx, row: Row, corrected: Corrected, { seriesId }: DraftPatch): Promise<NoteFacts> {
  const { asked, content } = row as unknown as NoteDraft;
  const isKept = seriesId === undefined || seriesId === asked.seriesId;
  const isSeriesUnknown = !isKept && (await tx.batch([noteSeriesCall(seriesId)]))[0]!.length === 0;
  return { kind: 'note', asked, content, corrected, isSeriesUnknown };
}

const own: ReadonlySet<string> = new Set(['date', 'notes', 'seriesId', 'reason', 'items']);

/**
 * The statement that writes the note. Refuses fields that are not its own, a series that is none for it, and whatever stands
 * against other lines.
 */
export function updateNoteCall(
  id: string,
  facts: NoteFacts,
  body: DraftPatch,
  region: Region,
  newId: () => string,
): Call {
  const { asked: before, corrected } = facts;
  const asked: AskedNote = {
    parentInvoiceId: before.parentInvoiceId,
    reason: body.reason ?? before.reason,
    items: body.items?.map((item) => ({ id: item.id, quantity: fromNumber(item.quantity) })) ?? before.items,
    date: (body.date === undefined ? undefined : parseDay(body.date, region)) ?? before.date,
    notes: cleared(body.notes, before.notes),
    seriesId: body.seriesId ?? before.seriesId,
  };
  const found = [
    ...foreignFields(body),
    ...(facts.isSeriesUnknown ? [unknownSeries] : []),
    ...dateProblems(asked.date, facts.content),
  ];
  const content = alongside(found, () =>
    body.items === undefined
      ? withSameLines(corrected, { asked, content: facts.content })
      : creditNote(corrected, asked, facts.content.issuer, newId),
  );
  const { totals } = content;
  return [
    updateNote,
    [
      id,
      JSON.stringify(asked),
      JSON.stringify(content),
      content.date ?? null,
      content.notes ?? null,
      asked.seriesId ?? null,
      totals.net,
      totals.tax,
      totals.gross,
      totals.toPay,
      [...new Set(content.lines.map((line) => line.itemId))],
      content.taxPointDate ?? null,
      dueDateOf(content) ?? null,
    ],
  ];
}

/** The same note with what is said of it beside its lines, also where they can't be issued as things stand. */
function withSameLines(corrected: Corrected, { asked, content }: NoteDraft): Content {
  const { date, notes, reason } = asked;
  return (
    noteIfOpen(corrected, { asked, content }) ?? { ...content, date, notes, parent: { ...content.parent!, reason } }
  );
}

/** A line of a note has only the id of the invoice's line and a quantity. */
function foreignFields(body: DraftPatch): Problem[] {
  const problem = (pointer: string): Problem => ({
    code: 'FIELD_NOT_ALLOWED',
    pointer,
    facts: { type: 'CREDIT_NOTE' },
  });
  const isOwn = (name: string) => own.has(name) || (name === 'type' && body.type === 'CREDIT_NOTE');
  const members = Object.keys(body).filter((name) => !isOwn(name));
  const lines = (body.items ?? []).flatMap((item, i) =>
    Object.keys(item)
      .filter((name) => name !== 'id' && name !== 'quantity')
      .map((name) => `/items/${i}/${name}`),
  );
  return [...members.map((name) => problem(`/${name}`)), ...lines.map(problem)];
}
