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
import { assert, type Problem, refuseAll } from '../../fiscal/refusal.ts';
import { parseDay } from '../../fiscal/time.ts';
import type { AskedNote } from './create-credit-note.ts';
import { cleared, type DraftPatch } from './draft.ts';
import { type Corrected, lockToCredit } from './family.ts';

const updateNote = statement(
  'note_update',
  `update certo.documents set updated_at = greatest(certo.now(), updated_at + interval '1 millisecond'),
     asked = $2, content = $3, date = $4, notes = $5, series_id = $6, net = $7, tax = $8, gross = $9, to_pay = $10, item_ids = $11, tax_point_date = $12
   where company_id = certo.current_company() and id = $1`,
);

const readSeries = statement(
  'note_series',
  `select id from certo.series where company_id = certo.current_company() and id = $1
     and document_type = 'CREDIT_NOTE' and status = 'ACTIVE' and kind <> 'R'`,
);

interface NoteFacts {
  readonly kind: 'note';
  readonly before: AskedNote;
  readonly content: Content;
  /** Its invoice, where other lines of that are asked for. */
  readonly parent: Corrected | undefined;
  /** The series that is asked for is not there, or is none for it. */
  readonly isSeriesUnknown: boolean;
}

/** For other lines it locks the invoice until the commit, so that no other note takes the same quantities meanwhile. */
export async function loadNote(tx: Tx, row: Row, { items, seriesId }: DraftPatch): Promise<NoteFacts> {
  const content = row['content'] as Content;
  const parent = items === undefined ? undefined : await lockToCredit(tx, content.parent!.id);
  assert(items === undefined || parent !== undefined, 'the invoice of a credit note cannot disappear');
  const isSeriesUnknown = seriesId !== undefined && (await tx.query(readSeries, [seriesId])).length === 0;
  return { kind: 'note', before: row['asked'] as AskedNote, content, parent, isSeriesUnknown };
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
  const unknown: Problem[] = facts.isSeriesUnknown ? [{ code: 'UNKNOWN_SERIES', pointer: '/seriesId' }] : [];
  refuseAll([...foreignFields(body), ...unknown]);
  const { before, parent } = facts;
  const asked: AskedNote = {
    parentInvoiceId: before.parentInvoiceId,
    reason: body.reason ?? before.reason,
    items: body.items?.map((item) => ({ id: item.id, quantity: fromNumber(item.quantity) })) ?? before.items,
    date: (body.date === undefined ? undefined : parseDay(body.date, region)) ?? before.date,
    notes: cleared(body.notes, before.notes),
    seriesId: body.seriesId ?? before.seriesId,
  };
  const content =
    parent === undefined ? told(facts.content, asked) : creditNote(parent, asked, facts.content.issuer, newId);
  refuseAll(dateProblems(content.date, content));
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
    ],
  ];
}

/** The same note with what is said of it beside its lines. */
function told(content: Content, { date, notes, reason }: AskedNote): Content {
  return { ...content, date, notes, parent: { ...content.parent!, reason } };
}

/** A line of a note has only the id of the invoice's line and a quantity. */
function foreignFields(body: DraftPatch): Problem[] {
  const problem = (pointer: string): Problem => ({
    code: 'FIELD_NOT_ALLOWED',
    pointer,
    facts: { type: 'CREDIT_NOTE' },
  });
  const members = Object.keys(body).filter((name) => !own.has(name));
  const lines = (body.items ?? []).flatMap((item, i) =>
    Object.keys(item)
      .filter((name) => name !== 'id' && name !== 'quantity')
      .map((name) => `/items/${i}/${name}`),
  );
  return [...members.map((name) => problem(`/${name}`)), ...lines.map(problem)];
}
