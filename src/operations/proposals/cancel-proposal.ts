import type { Row } from '../../db/transact.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { changedOnce, checkUnbroken } from '../books.ts';
import { CancelBody, cancelCall } from '../cancellation.ts';
import { idParams } from '../fields.ts';
import { defineWrite } from '../operation.ts';
import { type Proposal, proposalToChange } from './conversions.ts';
import { loadProposal, ProposalReply, showProposal } from './proposal.ts';

export const cancelProposal = defineWrite({
  name: 'cancelProposal',
  route: 'POST /proposals/:id/cancel',
  tag: 'Pro formas',
  summary: 'Cancel a pro forma',
  description:
    'It stays in the history, cancelled. Refused once an invoice made of it was issued; drafts made of it cannot be issued any more.',
  params: idParams('Id of the pro forma.'),
  body: CancelBody,
  reply: [200, ProposalReply],
  access: { key: true },
  fiscal: true,
  refuses: ['PROPOSAL_NOT_FOUND', 'ALREADY_CANCELED', 'PROPOSAL_CONVERTED', 'INTEGRITY_BROKEN'],
  load: (tx, { params }) => proposalToChange(tx, params.id),
  decide(proposal) {
    checkUnbroken(proposal.row);
    checkNotConverted(proposal);
    if (proposal.status === 'CANCELED') throw new Refusal('ALREADY_CANCELED');
    return { proposal, row: {} as Row };
  },
  async save(tx, change, { body, principal }, world) {
    const { id, row, content, now: at } = change.proposal;
    const by = { actor: principal.actor, reason: body.reason, at };
    const [changed] = await tx.batch([cancelCall(row, content, by, world.seal)]);
    changedOnce(changed);
    change.row = await loadProposal(tx, id);
    return id;
  },
  show: ({ row }, { principal }, world) => showProposal(row, principal, world),
  after: (world) => world.nudgeReports(),
});

/** An invoice refers to it, even a cancelled one: its number stands on paper. */
export function checkNotConverted({ status, numbers }: Proposal): void {
  if (status === 'ISSUED') throw new Refusal('PROPOSAL_CONVERTED', { numbers: numbers.join(', ') });
}
