import type { Row } from '../../db/transact.ts';
import type { Content } from '../../fiscal/document.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { checkNotStarted } from '../../fiscal/transport.ts';
import { closed, idParams } from '../fields.ts';
import { cancelCall, cancelReason } from '../invoices/cancel-invoice.ts';
import { readNow } from '../now.ts';
import { defineWrite } from '../operation.ts';
import { loadTransport, lockTransport, showTransport, TransportReply, transportOf } from './transport-document.ts';

export const cancelTransport = defineWrite({
  name: 'cancelTransport',
  route: 'POST /transport-documents/:id/cancel',
  tag: 'Transport documents',
  summary: 'Cancel an issued transport document',
  description: 'Only before the transport starts. It stays in the books, cancelled, and is cancelled with the AT too.',
  params: idParams('Id of the transport document.'),
  body: closed({ reason: cancelReason }),
  reply: [200, TransportReply],
  access: { key: true },
  fiscal: true,
  refuses: ['TRANSPORT_NOT_FOUND', 'INVALID_STATE', 'ALREADY_CANCELED', 'MOVEMENT_STARTED'],
  async load(tx, { params }) {
    const row = await lockTransport(tx, params.id);
    // After the lock: the time must not be older than what the lock waited for.
    return { row, now: await readNow(tx) };
  },
  decide({ row, now }, { principal }) {
    if (row['status'] === 'CANCELED') throw new Refusal('ALREADY_CANCELED');
    if (row['status'] !== 'ISSUED') throw new Refusal('INVALID_STATE', { status: String(row['status']) });
    checkNotStarted(transportOf(row), now, principal.region);
    return { id: String(row['id']), content: row['content'] as Content, row: {} as Row };
  },
  async save(tx, change, { body, principal }) {
    const { id, content } = change;
    await tx.batch([cancelCall(id, content, principal.actor, body.reason)]);
    change.row = await loadTransport(tx, id);
    return id;
  },
  show: ({ row }, { principal }, world) => showTransport(row, principal, world),
  after: (world) => world.nudgeReports(),
});
