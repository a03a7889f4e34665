/** Pro formas as the API shows them. They are numbered and signed when they are made; there are no drafts of them. */
import { Type } from 'typebox';
import type { Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { toNumber } from '../../fiscal/decimal.ts';
import type { Region } from '../../fiscal/document.ts';
import { isUuid } from '../../fiscal/identifiers.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { startOfDay } from '../../fiscal/time.ts';
import type { Principal } from '../../identity/principal.ts';
import { anyId, closed, dateTime, oneOf } from '../fields.ts';
import { invoiceReplyMembers, invoiceStatuses, shownColumns } from '../invoices/invoice.ts';
import { showInvoice } from '../invoices/show-invoice.ts';
import type { World } from '../world.ts';
import { statusOf } from './conversions.ts';

export const proposalStatuses = ['CANCELED', 'CREATED', 'ISSUED'] as const;

const {
  documentType: _type,
  status: _status,
  parentInvoiceId: _parentId,
  parentInvoiceNumber: _parentNumber,
  parentInvoiceDate: _parentDate,
  parentInvoiceType: _parentType,
  payment: _payment,
  reason: _reason,
  ...shared
} = invoiceReplyMembers;
/** What a pro forma shows of itself, in lists too. */
export const proposalReplyMembers = {
  ...shared,
  updatedAt: dateTime('Last change of the record.'),
  status: oneOf(proposalStatuses, 'CREATED until an invoice made of it is issued, then ISSUED.'),
};

export const ProposalReply = closed({
  ...proposalReplyMembers,
  relatedDocuments: Type.Array(
    closed({
      id: Type.String(),
      number: Type.Optional(Type.String({ description: 'Assigned when it is issued.' })),
      documentType: Type.String(),
      status: oneOf(invoiceStatuses, 'State of the invoice.'),
      date: Type.Optional(dateTime('Its date.')),
      total: Type.Number(),
    }),
    { description: 'The invoices made of it, drafts and cancelled ones too.' },
  ),
});

const readProposal = statement(
  'proposal_read',
  `select ${shownColumns}, d.converted_at is not null as converted,
     (select jsonb_agg(jsonb_build_object('id', i.id, 'number', i.number, 'type', i.type, 'status', i.status, 'date', i.date, 'gross', i.gross::text)
        order by i.created_at, i.id) from certo.documents i where i.company_id = d.company_id and i.origin_id = d.id) as related
   from certo.documents d
   where d.company_id = certo.current_company() and d.id = $1 and d.family = 'PROFORMA' and d.hidden_at is null`,
);

/** The parameters of the reads that the contract gives no 400: what is no id is the id of nothing. */
export const anyIdParams = closed({ id: anyId('Id of the pro forma.') });

/** The id, if it has the form of one. Throws PROPOSAL_NOT_FOUND: the contract gives these reads no 400. */
export function knownForm(id: string): string {
  if (!isUuid(id)) throw new Refusal('PROPOSAL_NOT_FOUND');
  return id;
}

/** With the invoices made of it. Throws PROPOSAL_NOT_FOUND, also for one that was hidden. */
export async function loadProposal(tx: Tx, id: string): Promise<Row> {
  const [row] = await tx.query(readProposal, [id]);
  if (row === undefined) throw new Refusal('PROPOSAL_NOT_FOUND');
  return row;
}

/** As an invoice is shown, without what a pro forma does not have. */
export function showProposal(row: Row, { region, companyId }: Principal, world: World): Record<string, unknown> {
  const shown = showInvoice(row, region, companyId, world);
  const related = (row['related'] as Row[] | null) ?? [];
  return {
    ...Object.fromEntries(Object.keys(shared).map((name) => [name, shown[name]])),
    status: statusOf(row),
    relatedDocuments: related.map((document) => showRelated(document, region)),
  };
}

function showRelated(document: Row, region: Region): Record<string, unknown> {
  const { id, number, type, date, gross } = document;
  return {
    id,
    number: number ?? undefined,
    documentType: type,
    status: document['status'],
    date: date === null ? undefined : startOfDay(String(date), region),
    total: toNumber(String(gross)),
  };
}
