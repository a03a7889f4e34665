/**
 * Deleting a pro forma: for the caller it is gone. A signed document never leaves the books, so it is cancelled where it
 * was not and hidden; SAF-T goes on showing it (documents and mentions, section 6).
 */
import { Type } from 'typebox';
import { sealable } from '../../fiscal/seal.ts';
import { changeCall, changedOnce, checkUnbroken, nextUpdate } from '../books.ts';
import { canceled } from '../cancellation.ts';
import { closed, idParams } from '../fields.ts';
import { defineWrite } from '../operation.ts';
import { checkNotConverted } from './cancel-proposal.ts';
import { proposalToChange } from './conversions.ts';

export const deleteProposal = defineWrite({
  name: 'deleteProposal',
  route: 'DELETE /proposals/:id',
  tag: 'Pro formas',
  summary: 'Delete a pro forma',
  description:
    'It is cancelled where it was not, and cannot be read any more. It stays in the books and in SAF-T. Refused once an invoice made of it was issued.',
  params: idParams('Id of the pro forma.'),
  reply: [200, closed({ id: Type.String(), deleted: Type.Boolean() })],
  access: { key: true },
  fiscal: true,
  refuses: ['PROPOSAL_NOT_FOUND', 'PROPOSAL_CONVERTED', 'INTEGRITY_BROKEN'],
  load: (tx, { params }) => proposalToChange(tx, params.id),
  decide(proposal) {
    checkUnbroken(proposal.row);
    checkNotConverted(proposal);
    return proposal;
  },
  async save(tx, { id, content, status, row, now: at }, { principal }, world) {
    const cancels = status === 'CREATED';
    const cancel = cancels ? canceled(row, content, { actor: principal.actor, reason: undefined, at }) : {};
    const changes = { updated_at: nextUpdate(row, at), ...cancel, hidden_at: sealable(at) };
    const [changed] = await tx.batch([changeCall(row, { kind: 'HIDDEN', at, changes, tell: cancels }, world.seal)]);
    changedOnce(changed);
    return id;
  },
  show: ({ id }) => ({ id, deleted: true }),
  after: (world) => world.nudgeReports(),
});
