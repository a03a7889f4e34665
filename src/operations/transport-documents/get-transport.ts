import { idParams } from '../fields.ts';
import { defineRead } from '../operation.ts';
import { loadTransport, showTransport, TransportReply } from './transport-document.ts';

export const getTransport = defineRead({
  name: 'getTransport',
  route: 'GET /transport-documents/:id',
  tag: 'Transport documents',
  summary: 'Read a transport document',
  params: idParams('Id of the transport document.'),
  reply: [200, TransportReply],
  access: { key: true },
  quick: true,
  refuses: ['TRANSPORT_NOT_FOUND'],
  load: (tx, { params }) => loadTransport(tx, params.id),
  show: (row, { principal }, world) => showTransport(row, principal, world),
});
