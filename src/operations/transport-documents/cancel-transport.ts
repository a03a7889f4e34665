import type { Row } from '../../db/transact.ts';
import type { Content } from '../../fiscal/document.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { checkNotStarted } from '../../fiscal/transport.ts';
import { changedOnce, checkUnbroken, readStanding } from '../books.ts';
import { CancelBody, cancelCall } from '../cancellation.ts';
import { idParams } from '../fields.ts';
import { defineWrite } from '../operation.ts';
import { loadTransport, lockTransport, showTransport, TransportReply, transportOf } from './transport-document.ts';

export const cancelTransport = defineWrite({
  name: 'cancelTransport',
  route: 'POST /transport-documents/:id/cancel',
  tag: 'Transport documents',
  summary: 'Cancel an issued transport document',
  description: 'Only before the transport starts. It stays in the books, cancelled, and is cancelled with the AT too.',
  params: idParams('Id of the transport document.'),
  body: CancelBody,
  reply: [200, TransportReply],
  access: { key: true },
  fiscal: true,
  refuses: ['TRANSPORT_NOT_FOUND', 'INVALID_STATE', 'ALREADY_CANCELED', 'MOVEMENT_STARTED', 'INTEGRITY_BROKEN'],
  async load(tx, { params }) {
    const row = await lockTransport(tx, params.id);
    // After the lock: the time must not be older than what the lock waited for.
    return { row, standing: await readStanding(tx, params.id) };
  },
  decide({ row, standing }, { principal }) {
    const now = standing['now'] as Date;
    checkUnbroken(standing);
    if (row['status'] === 'CANCELED') throw new Refusal('ALREADY_CANCELED');
    if (row['status'] !== 'ISSUED') throw new Refusal('INVALID_STATE', { status: String(row['status']) });
    checkNotStarted(transportOf(row), now, principal.region);
    return { before: standing, content: row['content'] as Content, at: now, row: {} as Row };
  },
  async save(tx, change, { body, principal }, world) {
    const { before, content, at } = change;
    const id = String(before['id']);
    const by = { actor: principal.actor, reason: body.reason, at };
    const [changed] = await tx.batch([cancelCall(before, content, by, world.seal)]);
    changedOnce(changed);
    change.row = await loadTransport(tx, id);
    return id;
  },
  show: ({ row }, { principal }, world) => showTransport(row, principal, world),
  after: (world) => world.nudgeReports(),
});
