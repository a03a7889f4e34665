/**
 * Issuing a transport document. The reply comes when it is committed, with the communication PENDING: the AT's code
 * appears on the document a moment later. It must be there, or the number at hand, before the transport starts.
 */
import { Type } from 'typebox';
import type { Row } from '../../db/transact.ts';
import type { Content, DocumentType } from '../../fiscal/document.ts';
import { checkStart } from '../../fiscal/transport.ts';
import { closed, idParams, instant, offering } from '../fields.ts';
import { checkRevision } from '../invoices/issue-invoice.ts';
import { lockPlace, numberDocument } from '../numbering.ts';
import { defineWrite } from '../operation.ts';
import { begunOf } from '../stamp.ts';
import { stampCalls } from '../stamping.ts';
import { loadTransport, lockDraft, showTransport, TransportReply, transportOf } from './transport-document.ts';

export const issueTransport = defineWrite({
  name: 'issueTransport',
  route: 'POST /transport-documents/:id/issue',
  tag: 'Transport documents',
  summary: 'Issue a transport document',
  description:
    "Assigns number, ATCUD, signature and QR code, freezes the document for ever and reports it to the tax authority, whose code then stands in atDocCode. The document is dated today; the transport can't start before now.",
  params: idParams('Id of the draft.'),
  body: offering(
    closed({
      expectedUpdatedAt: Type.Optional(
        instant('The updatedAt of the draft as you read it: refused when it has changed since.'),
      ),
    }),
    { expectedUpdatedAt: '2026-11-21T10:15:30.000Z' },
  ),
  reply: [200, TransportReply],
  access: { key: true },
  fiscal: true,
  grouped: true,
  refuses: [
    'TRANSPORT_NOT_FOUND',
    'INVALID_STATE',
    'DRAFT_CHANGED',
    'NOT_READY',
    'SERIES_NOT_ACTIVE',
    'MOVEMENT_IN_PAST',
    'MOVEMENT_TOO_FAR',
    'DATE_GOES_BACK',
    'DATE_IN_FUTURE',
    'DATE_BEFORE_SERIES',
    'QR_TOO_MANY_REGIONS',
    'CLOCK_REGRESSION',
    'INTEGRITY_BROKEN',
  ],
  async load(tx, { params }) {
    return { row: await lockDraft(tx, params.id) };
  },
  async locate(tx, { row }) {
    const wanted = { type: row['type'] as DocumentType, seriesId: row['series_id'] as string | null };
    return { row, place: await lockPlace(tx, wanted) };
  },
  async decide({ row, place }, { body, principal }, world) {
    if (body.expectedUpdatedAt !== undefined) checkRevision(row, body.expectedUpdatedAt);
    const { region } = principal;
    const draft = { id: String(row['id']), content: row['content'] as Content, region };
    const transport = transportOf(row);
    const numbered = await numberDocument(draft, place, world, (now) => checkStart(transport, now, region));
    return { numbered, begun: begunOf(row), row: {} as Row };
  },
  async save(tx, change, { principal }, world) {
    const { numbered, begun } = change;
    const as = { status: 'ISSUED', outstanding: '0', actor: principal.actor, begun } as const;
    await tx.batch(stampCalls(numbered, as, world.seal));
    change.row = await loadTransport(tx, numbered.id);
    return numbered.id;
  },
  show: ({ row }, { principal }, world) => showTransport(row, principal, world),
  after: (world) => world.nudgeReports(),
});
