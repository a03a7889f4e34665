/**
 * Deleting a pro forma: for the caller it is gone. A signed document never leaves the books, so it is cancelled where it
 * was not and hidden; SAF-T goes on showing it (documents and mentions, section 6).
 */
import { Type } from 'typebox';
import { statement } from '../../db/transact.ts';
import { closed, idParams } from '../fields.ts';
import { cancelCall } from '../invoices/cancel-invoice.ts';
import { defineWrite } from '../operation.ts';
import { checkNotConverted } from './cancel-proposal.ts';
import { proposalToChange } from './conversions.ts';

const hide = statement(
  'proposal_hide',
  `update certo.documents set hidden_at = certo.now(), updated_at = greatest(certo.now(), updated_at + interval '1 millisecond')
   where company_id = certo.current_company() and id = $1 and status = 'CANCELED'`,
);

export const deleteProposal = defineWrite({
  name: 'deleteProposal',
  route: 'DELETE /proposals/:id',
  tag: 'Pro formas',
  summary: 'Delete a pro forma',
  description:
    'It is cancelled where it was not, and can not be read any more. It stays in the books and in SAF-T. Refused once an invoice made of it was issued.',
  params: idParams('Id of the pro forma.'),
  reply: [200, closed({ id: Type.String(), deleted: Type.Boolean() })],
  access: { key: true },
  fiscal: true,
  refuses: ['PROPOSAL_NOT_FOUND', 'PROPOSAL_CONVERTED'],
  load: (tx, { params }) => proposalToChange(tx, params.id),
  decide(proposal) {
    checkNotConverted(proposal);
    return proposal;
  },
  async save(tx, { id, content, status }, { principal }) {
    const cancel = status === 'CREATED' ? [cancelCall(id, content, principal.actor, undefined)] : [];
    await tx.batch([...cancel, [hide, [id]]]);
    return id;
  },
  show: ({ id }) => ({ id, deleted: true }),
  after: (world) => world.nudgeReports(),
});
