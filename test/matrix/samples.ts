/** For each operation a request that succeeds, made anew each time: the rows of the matrix. */
import type { TestCompany } from '../service.ts';

export interface Sample {
  /** With the id of a record of the company in place of ":id". */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Another body that is valid too, for a key that is used again. */
  readonly otherBody?: Readonly<Record<string, unknown>>;
}

export const samples: Readonly<Record<string, (company: TestCompany) => Promise<Sample>>> = {
  getCompany: async () => ({ path: '/company' }),
  listSeries: async () => ({ path: '/series' }),
  listTemplates: async () => ({ path: '/templates' }),

  createCustomer: async () => ({
    path: '/customers',
    body: { name: 'Maria Silva', country: 'PT' },
    otherBody: { name: 'Mário Silva', country: 'PT' },
  }),
  listCustomers: async () => ({ path: '/customers' }),
  getCustomer: async (company) => ({ path: `/customers/${(await company.customer()).id}` }),
  patchCustomer: async (company) => ({
    path: `/customers/${(await company.customer()).id}`,
    body: { city: 'Évora' },
    otherBody: { city: 'Faro' },
  }),
  archiveCustomer: async (company) => ({ path: `/customers/${(await company.customer()).id}` }),

  createItem: async () => ({
    path: '/items',
    body: { name: 'Consultoria', type: 'SERVICE', unitPrice: 10, vatRate: 'NORMAL' },
    otherBody: { name: 'Consultoria', type: 'SERVICE', unitPrice: 11, vatRate: 'NORMAL' },
  }),
  listItems: async () => ({ path: '/items' }),
  getItem: async (company) => ({ path: `/items/${(await company.item()).id}` }),
  patchItem: async (company) => ({
    path: `/items/${(await company.item()).id}`,
    body: { unitPrice: 11 },
    otherBody: { unitPrice: 12 },
  }),
  archiveItem: async (company) => ({ path: `/items/${(await company.item()).id}` }),

  createDraft: async (company) => {
    const body = {
      type: 'INVOICE',
      cae: '62010',
      customerId: (await company.customer()).id,
      items: [{ id: (await company.item()).id, quantity: 1 }],
    };
    return { path: '/invoices', body, otherBody: { ...body, notes: 'outra' } };
  },
  listInvoices: async () => ({ path: '/invoices' }),
  getInvoice: async (company) => ({ path: `/invoices/${(await company.draft()).id}` }),
  patchDraft: async (company) => ({
    path: `/invoices/${(await company.draft()).id}`,
    body: { notes: 'uma' },
    otherBody: { notes: 'outra' },
  }),
  deleteDraft: async (company) => ({ path: `/invoices/${(await company.draft()).id}` }),
  issueInvoice: async (company) => {
    const draft = await company.draft();
    return {
      path: `/invoices/${draft.id}/issue`,
      body: { expectedUpdatedAt: draft.updatedAt },
      otherBody: { expectedUpdatedAt: '2026-01-01T00:00:00.000Z' },
    };
  },
  payInvoice: async (company) => ({
    path: `/invoices/${(await company.issue(await company.draft())).id}/pay`,
    body: {},
    otherBody: { amount: 1 },
  }),
  cancelInvoice: async (company) => ({
    path: `/invoices/${(await company.issue(await company.draft())).id}/cancel`,
    body: {},
    otherBody: { reason: 'Engano' },
  }),
  createCreditNote: async (company) => {
    const body = { parentInvoiceId: (await company.issue(await company.draft())).id };
    return { path: '/invoices/credit-notes', body, otherBody: { ...body, reason: 'Devolução' } };
  },
  getInvoicePdf: async (company) => ({
    path: `/invoices/${(await company.issue(await company.draft())).id}/pdf`,
  }),

  createTransport: async (company) => {
    const { movementType, movementDate, customer, items, loading, unloading } = await company.transport();
    const lines = items.map(({ ref }) => ({ id: ref, quantity: 1 }));
    const body = { movementType, movementDate, customerId: customer.ref, items: lines, loading, unloading };
    return { path: '/transport-documents', body, otherBody: { ...body, comments: 'outra' } };
  },
  listTransports: async () => ({ path: '/transport-documents' }),
  getTransport: async (company) => ({ path: `/transport-documents/${(await company.transport()).id}` }),
  patchTransport: async (company) => ({
    path: `/transport-documents/${(await company.transport()).id}`,
    body: { comments: 'uma' },
    otherBody: { comments: 'outra' },
  }),
  deleteTransport: async (company) => ({ path: `/transport-documents/${(await company.transport()).id}` }),
  issueTransport: async (company) => {
    const draft = await company.transport();
    return {
      path: `/transport-documents/${draft.id}/issue`,
      body: { expectedUpdatedAt: draft.updatedAt },
      otherBody: { expectedUpdatedAt: '2026-01-01T00:00:00.000Z' },
    };
  },
  cancelTransport: async (company) => ({
    path: `/transport-documents/${(await company.issueTransport(await company.transport())).id}/cancel`,
    body: {},
    otherBody: { reason: 'Engano' },
  }),
  getTransportPdf: async (company) => ({
    path: `/transport-documents/${(await company.issueTransport(await company.transport())).id}/pdf`,
  }),

  createProposal: async (company) => {
    const body = {
      cae: '62010',
      customerId: (await company.customer()).id,
      items: [{ id: (await company.item()).id, quantity: 1 }],
    };
    return { path: '/proposals', body, otherBody: { ...body, notes: 'outra' } };
  },
  listProposals: async () => ({ path: '/proposals' }),
  getProposal: async (company) => ({ path: `/proposals/${(await company.proposal()).id}` }),
  convertProposal: async (company) => {
    const { id, items } = await company.proposal();
    return {
      path: `/proposals/${id}/convert`,
      body: {},
      otherBody: { items: [{ id: items[0]!.id, quantity: 1 }] },
    };
  },
  cancelProposal: async (company) => ({
    path: `/proposals/${(await company.proposal()).id}/cancel`,
    body: {},
    otherBody: { reason: 'Engano' },
  }),
  deleteProposal: async (company) => ({ path: `/proposals/${(await company.proposal()).id}` }),
  getSaft: async () => ({ path: '/saft?fromDate=2026-01-01&toDate=2026-12-31' }),
  getProposalPdf: async (company) => ({ path: `/proposals/${(await company.proposal()).id}/pdf` }),
};

/** The same request against another id. */
export function withId(operationPath: string, id: string): string {
  return operationPath.replace(':id', id);
}

/** The same request with one more query parameter. */
export function withQuery(path: string, parameter: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${parameter}`;
}
