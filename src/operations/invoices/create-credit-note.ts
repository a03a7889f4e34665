/** Credit note: takes an issued invoice back, in full or line by line. */

import { Type } from 'typebox';
import type { Row } from '../../db/transact.ts';
import { creditNote } from '../../fiscal/credit-note.ts';
import { dateProblems } from '../../fiscal/dates.ts';
import { fromNumber } from '../../fiscal/decimal.ts';
import type { Content } from '../../fiscal/document.ts';
import { alongside, type Problem } from '../../fiscal/refusal.ts';
import { refOf } from '../../fiscal/standing.ts';
import { parseDay } from '../../fiscal/time.ts';
import { changedOnce } from '../books.ts';
import { issuerOf } from '../company/company.ts';
import { closed, dayOfBooks, id, line, offering, quantity, someId, text } from '../fields.ts';
import { readMoment } from '../moment.ts';
import { lockPlace, numberDocument, type Place, regimeOfInvoiceRefusals } from '../numbering.ts';
import { defineWrite } from '../operation.ts';
import { begunNow, type Numbered } from '../stamp.ts';
import { stampCalls } from '../stamping.ts';
import { insertChildCall } from './child.ts';
import { cleared } from './draft.ts';
import { balanceWithCall, type Corrected, lockToCredit, type Parent } from './family.ts';
import { missingInvoice } from './imported.ts';
import { InvoiceReply, loadInvoice } from './invoice.ts';
import { type AskedNote, noteSeriesCall, refreshNotes, unknownSeries } from './note-drafts.ts';
import { showInvoice } from './show-invoice.ts';

const NoteBody = closed({
  parentInvoiceId: id('The invoice to credit.'),
  issue: Type.Optional(Type.Boolean({ default: true, description: 'false leaves a draft.' })),
  reason: Type.Optional(line(50, 'Printed and exported; "Anulação" when absent.', 1)),
  items: Type.Optional(
    Type.Array(closed({ id: id("items[].id of the invoice's line."), quantity: quantity('How much of it.') }), {
      minItems: 1,
      maxItems: 1000,
      description: 'For a partial note; everything still open when absent.',
    }),
  ),
  seriesId: Type.Optional(id('Series of the note; the default one when absent.')),
  date: Type.Optional(dayOfBooks('Document date; the day of issue when absent.')),
  notes: Type.Optional(text(2000, 'Printed notes.')),
});

interface NoteFacts {
  readonly parent: Corrected;
  readonly moment: Row;
  readonly isSeriesUnknown: boolean;
  /** Undefined: it stays a draft. */
  readonly place: Place | undefined;
}

interface NoteChange {
  readonly id: string;
  readonly parent: Parent;
  readonly asked: AskedNote;
  readonly content: Content;
  readonly numbered: Numbered | undefined;
  row: Row;
}

export const createCreditNote = defineWrite({
  name: 'createCreditNote',
  route: 'POST /invoices/credit-notes',
  tag: 'Invoices',
  summary: 'Credit an issued invoice, in full or in part',
  description:
    'Items and customer are copied from the invoice, at its prices and rates. It is issued at once unless issue is false; a draft reserves nothing, follows the other notes of the invoice by a cent with a new updatedAt, and is checked again when issued.',
  body: offering(NoteBody, { parentInvoiceId: someId, reason: 'Devolução' }),
  reply: [201, InvoiceReply],
  access: { key: true, oauth: ['invoicing.issue'] },
  fiscal: true,
  grouped: true,
  tool: 'create_credit_note',
  refuses: [
    'PARENT_NOT_FOUND',
    'IMPORTED_FROM_AT',
    'NOT_CREDITABLE',
    'NOT_READY',
    'DATE_GOES_BACK',
    'DATE_IN_FUTURE',
    'DATE_BEFORE_SERIES',
    ...regimeOfInvoiceRefusals,
    'QR_TOO_MANY_REGIONS',
    'CLOCK_REGRESSION',
    'INTEGRITY_BROKEN',
  ],
  async load(tx, asked) {
    const parent = await lockToCredit(tx, asked.body.parentInvoiceId);
    if (parent === undefined) throw await missingInvoice(tx, asked.body.parentInvoiceId, 'PARENT_NOT_FOUND');
    return { parent };
  },
  async locate(tx, { parent }, { body }): Promise<NoteFacts> {
    const seriesId = body.seriesId ?? null;
    if (body.issue === false) {
      // It numbers nothing: it waits for nobody who does, and what blocks that does not concern it.
      const [series, [moment]] = (await tx.batch([noteSeriesCall(seriesId), [readMoment, []]])) as [Row[], Row[]];
      return { parent, moment: moment!, isSeriesUnknown: seriesId !== null && series.length === 0, place: undefined };
    }
    const scheme = parent.content.cashVat === true ? 'always' : 'never';
    const place = await lockPlace(tx, { type: 'CREDIT_NOTE', seriesId, scheme });
    const isSeriesUnknown = place.isNamed && place.series === undefined;
    return { parent, moment: place.moment, isSeriesUnknown, place };
  },
  async decide({ parent, moment, isSeriesUnknown, place }, asked, world): Promise<NoteChange> {
    const { body, principal } = asked;
    const note: AskedNote = {
      parentInvoiceId: parent.id,
      reason: body.reason ?? 'Anulação',
      items: body.items?.map((item) => ({ id: item.id, quantity: fromNumber(item.quantity) })),
      date: body.date === undefined ? undefined : parseDay(body.date, principal.region),
      notes: cleared(body.notes, undefined),
      seriesId: body.seriesId,
    };
    const found: Problem[] = [
      ...(isSeriesUnknown ? [unknownSeries] : []),
      // Numbering says it of what is issued. That the draft of an invoice can't be credited is told alone.
      ...(place !== undefined || parent.number === null
        ? []
        : dateProblems(note.date, { type: 'CREDIT_NOTE', parent: refOf(parent) })),
    ];
    const content = alongside(found, () => creditNote(parent, note, issuerOf(moment), world.newId));
    const noteId = world.newId();
    const numbered =
      place === undefined
        ? undefined
        : await numberDocument({ id: noteId, content, region: principal.region }, place, world);
    return { id: noteId, parent, asked: note, content, numbered, row: {} };
  },
  async save(tx, change, { principal }, world) {
    const { parent, numbered, asked } = change;
    const content = numbered?.decided.content ?? change.content;
    const insert = insertChildCall({
      id: change.id,
      content,
      asked,
      seriesId: asked.seriesId,
      parentId: parent.id,
      actor: principal.actor,
    });
    if (numbered === undefined) await tx.batch([insert]);
    else {
      const written = await tx.batch([
        insert,
        ...stampCalls(
          numbered,
          {
            status: 'ISSUED',
            outstanding: '0',
            actor: principal.actor,
            begun: begunNow(asked, principal.actor, numbered.now, parent.applicationId),
          },
          world.seal,
        ),
        balanceWithCall(parent, content, numbered.now, world.seal),
      ]);
      changedOnce(written.at(-1));
      await refreshNotes(tx, parent.id);
    }
    change.row = await loadInvoice(tx, change.id);
    return change.id;
  },
  show: ({ row }, { principal }, world) => showInvoice(row, principal.region, principal.companyId, world),
  after: (world) => world.nudgeReports(),
});
