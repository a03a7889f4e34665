import { defineRead } from '../operation.ts';
import { anyIdParams, knownForm, loadProposal, ProposalReply, showProposal } from './proposal.ts';

export const getProposal = defineRead({
  name: 'getProposal',
  route: 'GET /proposals/:id',
  tag: 'Pro formas',
  summary: 'Read a pro forma and the invoices made of it',
  params: anyIdParams,
  reply: [200, ProposalReply],
  access: { key: true },
  quick: true,
  refuses: ['PROPOSAL_NOT_FOUND'],
  load: async (tx, { params }) => loadProposal(tx, knownForm(params.id)),
  show: (row, { principal }, world) => showProposal(row, principal, world),
});
