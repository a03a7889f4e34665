/** The product's table of contents: every operation, in the order of the reference. Nothing else lists them. */
import { getCompany } from './company/get-company.ts';
import { archiveCustomer } from './customers/archive-customer.ts';
import { createCustomer } from './customers/create-customer.ts';
import { getCustomer } from './customers/get-customer.ts';
import { listCustomers } from './customers/list-customers.ts';
import { patchCustomer } from './customers/patch-customer.ts';
import { cancelInvoice } from './invoices/cancel-invoice.ts';
import { createCreditNote } from './invoices/create-credit-note.ts';
import { createDraft } from './invoices/create-draft.ts';
import { deleteDraft } from './invoices/delete-draft.ts';
import { getInvoice } from './invoices/get-invoice.ts';
import { getInvoicePdf } from './invoices/get-invoice-pdf.ts';
import { issueInvoice } from './invoices/issue-invoice.ts';
import { listInvoices } from './invoices/list-invoices.ts';
import { patchDraft } from './invoices/patch-draft.ts';
import { payInvoice } from './invoices/pay-invoice.ts';
import { archiveItem } from './items/archive-item.ts';
import { createItem } from './items/create-item.ts';
import { getItem } from './items/get-item.ts';
import { listItems } from './items/list-items.ts';
import { patchItem } from './items/patch-item.ts';
import type { Operation } from './operation.ts';
import { cancelProposal } from './proposals/cancel-proposal.ts';
import { convertProposal } from './proposals/convert-proposal.ts';
import { createProposal } from './proposals/create-proposal.ts';
import { deleteProposal } from './proposals/delete-proposal.ts';
import { getProposal } from './proposals/get-proposal.ts';
import { getProposalPdf } from './proposals/get-proposal-pdf.ts';
import { listProposals } from './proposals/list-proposals.ts';
import { getSaft } from './saft/get-saft.ts';
import { listSeries } from './series/list-series.ts';
import { listTemplates } from './templates/list-templates.ts';
import { cancelTransport } from './transport-documents/cancel-transport.ts';
import { createTransport } from './transport-documents/create-transport.ts';
import { deleteTransport } from './transport-documents/delete-transport.ts';
import { getTransport } from './transport-documents/get-transport.ts';
import { getTransportPdf } from './transport-documents/get-transport-pdf.ts';
import { issueTransport } from './transport-documents/issue-transport.ts';
import { listTransports } from './transport-documents/list-transports.ts';
import { patchTransport } from './transport-documents/patch-transport.ts';

export const operations: readonly Operation[] = [
  getCompany,
  listSeries,
  listTemplates,
  createCustomer,
  listCustomers,
  getCustomer,
  patchCustomer,
  archiveCustomer,
  createItem,
  listItems,
  getItem,
  patchItem,
  archiveItem,
  createDraft,
  listInvoices,
  getInvoice,
  patchDraft,
  deleteDraft,
  issueInvoice,
  payInvoice,
  cancelInvoice,
  createCreditNote,
  getInvoicePdf,
  createTransport,
  listTransports,
  getTransport,
  patchTransport,
  deleteTransport,
  issueTransport,
  cancelTransport,
  getTransportPdf,
  createProposal,
  listProposals,
  getProposal,
  convertProposal,
  cancelProposal,
  deleteProposal,
  getProposalPdf,
  getSaft,
];
