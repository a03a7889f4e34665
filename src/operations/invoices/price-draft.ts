/** From what was asked to the priced document: loads what the draft refers to, in one statement, and prices it. */
import type { Call, Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { toNumber } from '../../fiscal/decimal.ts';
import type { Content, DocumentRef, DocumentType, LineInput, Region } from '../../fiscal/document.ts';
import { documentTypes } from '../../fiscal/document.ts';
import type { Problem } from '../../fiscal/refusal.ts';
import { assert, Refusal, refuseAll } from '../../fiscal/refusal.ts';
import { originalOf } from '../../fiscal/saft/codes.ts';
import { dayOf } from '../../fiscal/time.ts';
import { price } from '../../fiscal/totals.ts';
import { unvalued } from '../../fiscal/transport.ts';
import { issuerColumns, issuerOf } from '../company/company.ts';
import { partyOf } from '../customers/customer.ts';
import type { ItemRecord } from '../items/item.ts';
import { emptyItem, recordColumns, regionOf } from '../items/item.ts';
import { builtIn } from '../templates/template.ts';
import type { AskedDraft, AskedLine } from './draft.ts';

// Numbers leave as text inside the JSON, so that no decimal ever passes through a double.
const itemJson = recordColumns
  .map((column) => (/price|percent|rate$/.test(column) && column !== 'vat_rate' ? `i.${column}::text` : `i.${column}`))
  .join(', ');

/** Everything a draft refers to. Parameters: customer, items, series, parent, document type, template. */
const referencesText = (lock: string) => `select certo.now() as now,
    (select to_jsonb(x) from (select ${issuerColumns}, c.cae, c.region from certo.companies c where c.id = certo.current_company()) x) as company,
    (select to_jsonb(x) from (select c.* from certo.customers c where c.company_id = certo.current_company() and c.id = $1${lock}) x) as customer,
    (select jsonb_agg(to_jsonb(x)) from (select i.id, ${itemJson} from certo.items i
       where i.company_id = certo.current_company() and i.id = any ($2::uuid[]) order by i.id${lock}) x) as items,
    (select not t.is_archived from certo.templates t where t.company_id = certo.current_company() and t.id = $6) as template,
    (select true from certo.series s where s.company_id = certo.current_company() and s.id = $3 and s.document_type = $5 and s.status = 'ACTIVE' and s.kind <> 'R') as series,
    (select to_jsonb(x) from (select d.id, d.number, d.date, d.type, d.content -> 'recovered' as recovered from certo.documents d
       where d.company_id = certo.current_company() and d.id = $4 and d.number is not null and d.status in ('ISSUED', 'PAID')
       and d.type in ('INVOICE', 'SIMPLIFIED_INVOICE', 'INVOICE_RECEIPT')) x) as parent`;
const readReferences = statement('draft_references', referencesText(''));
const holdReferences = statement('draft_references_held', referencesText(' for key share'), 'once');

/** Reads what a draft refers to, for one whose row is locked already. */
export function referencesCall(asked: AskedDraft): Call {
  return [readReferences, referencesOf(asked)];
}

/**
 * Reads what a draft refers to and keeps customer and items from changing until the commit: who changes them refreshes
 * the drafts it sees, and this one can't be seen yet.
 */
export async function loadReferences(tx: Tx, asked: AskedDraft): Promise<Row> {
  const [row] = await tx.query(holdReferences, referencesOf(asked));
  assert(row !== undefined, 'a select without from gives one row');
  return row;
}

function referencesOf(asked: AskedDraft): unknown[] {
  const items = [...new Set(asked.items.map((line) => line.id))];
  return [
    asked.customerId,
    items,
    asked.seriesId ?? null,
    asked.parentInvoiceId ?? null,
    asked.type,
    asked.templateId ?? null,
  ];
}

/** The built-in template, one of the company's, or an archived one that the draft had before. */
function isUsable(templateId: string | undefined, references: Row, before: AskedDraft | undefined): boolean {
  if (templateId === undefined || templateId === builtIn.id || references['template'] === true) return true;
  return references['template'] === false && before?.templateId === templateId;
}

/** The priced document, or INVALID_REQUEST with everything that is wrong with its references and amounts. */
export function priceDraft(asked: AskedDraft, references: Row, before?: AskedDraft): Content {
  const company = references['company'] as Row;
  const customer = references['customer'] as Row | null;
  const items = new Map(((references['items'] as Row[] | null) ?? []).map((row) => [String(row['id']), row]));
  const region = company['region'] as Region;
  const problems: Problem[] = [];
  const at = (pointer: string, code: Problem['code'], facts?: Problem['facts']): void => {
    problems.push({ code, pointer, facts });
  };

  assert(
    asked.type !== 'RECEIPT' && asked.type !== 'CREDIT_NOTE',
    'receipts and credit notes are made of their invoice',
  );
  if (!(company['cae'] as string[]).includes(asked.cae))
    at('/cae', 'CAE_NOT_OF_COMPANY', { allowed: (company['cae'] as string[]).join(', ') });
  if (customer === null) at('/customerId', 'UNKNOWN_CUSTOMER');
  else if (customer['is_archived'] === true && before?.customerId !== asked.customerId) at('/customerId', 'ARCHIVED');
  if (asked.seriesId !== undefined && references['series'] !== true) at('/seriesId', 'UNKNOWN_SERIES');
  if (!isUsable(asked.templateId, references, before)) at('/templateId', 'UNKNOWN_TEMPLATE');
  if (asked.type !== 'DEBIT_NOTE' && asked.parentInvoiceId !== undefined) at('/parentInvoiceId', 'PARENT_NOT_ALLOWED');
  else if (asked.parentInvoiceId !== undefined && references['parent'] === null)
    at('/parentInvoiceId', 'UNKNOWN_PARENT');
  if (asked.type !== 'DEBIT_NOTE' && asked.reason !== undefined) at('/reason', 'PARENT_NOT_ALLOWED');
  if (asked.payment !== undefined && asked.type !== 'INVOICE_RECEIPT' && asked.type !== 'SIMPLIFIED_INVOICE')
    at('/payment', 'PAYMENT_NOT_ALLOWED');
  if (asked.currency !== 'EUR' && asked.exchangeRate === undefined) at('/exchangeRate', 'EXCHANGE_RATE_REQUIRED');
  if (asked.currency === 'EUR' && asked.exchangeRate !== undefined) at('/exchangeRate', 'EXCHANGE_RATE_NOT_ALLOWED');
  if (asked.date !== undefined && asked.dueDate !== undefined && asked.dueDate < asked.date)
    at('/dueDate', 'DUE_BEFORE_DATE');

  const used = new Set(before?.items.map((line) => line.id));
  const lines: LineInput[] = [];
  asked.items.forEach((line, i) => {
    const row = items.get(line.id);
    if (row === undefined) {
      at(`/items/${i}/id`, 'UNKNOWN_ITEM');
      lines.push(lineInput(line, emptyItem, region));
      return;
    }
    const item = row as unknown as ItemRecord;
    if (item.is_archived && !used.has(line.id)) at(`/items/${i}/id`, 'ARCHIVED');
    if (line.withholdingTaxEnabled === true && item.withholding_tax_percent === null)
      at(`/items/${i}/withholdingTaxEnabled`, 'WITHHOLDING_NOT_AVAILABLE');
    lines.push(lineInput(line, item, region));
  });
  // An unknown item has no price: what would be said of its line, or of a discount on the whole, is left unsaid.
  const isTold = ({ pointer }: Problem): boolean => {
    const line = /^\/items\/(\d+)/.exec(pointer)?.[1];
    if (line !== undefined) return items.has(asked.items[Number(line)]!.id);
    return pointer !== '/globalDiscountAmount' || asked.items.every(({ id }) => items.has(id));
  };

  const taxPoint = asked.taxPointDate ?? asked.date ?? dayOf(references['now'] as Date, region);
  const { transport } = asked;
  const priced = withProblems(problems, isTold, () =>
    (transport?.valued === false ? unvalued : price)({
      lines,
      globalDiscount: asked.globalDiscount,
      taxPoint,
      currency: asked.currency,
      exchangeRate: asked.exchangeRate ?? (asked.currency === 'EUR' ? undefined : '1'),
    }),
  );
  assert(customer !== null, 'a draft without a customer was refused above');
  const parent = parentOf(references['parent'] as Row | null);
  return {
    type: asked.type,
    issuer: issuerOf(company),
    customer: partyOf(customer),
    cae: asked.cae,
    currency: asked.currency,
    exchangeRate: asked.exchangeRate,
    globalDiscount: asked.globalDiscount,
    date: asked.date,
    taxPointDate: asked.taxPointDate,
    dueDate: asked.dueDate,
    description: asked.description,
    notes: asked.notes,
    payment: asked.payment,
    parent:
      parent === undefined ? undefined : { ...parent, ...(asked.reason === undefined ? {} : { reason: asked.reason }) },
    origin: asked.origin,
    transport,
    ...priced,
  };
}

function parentOf(row: Row | null): DocumentRef | undefined {
  if (row === null) return undefined;
  const type = row['type'] as DocumentType;
  const recovered = row['recovered'] as Content['recovered'] | null;
  const original = recovered ? { original: originalOf(documentTypes[type].code, recovered) } : {};
  return { id: String(row['id']), number: String(row['number']), date: String(row['date']), type, ...original };
}

/** Runs the pricing and throws its problems, as far as they are told, together with those found before. */
function withProblems<T>(problems: Problem[], isTold: (problem: Problem) => boolean, run: () => T): T {
  let result: T;
  try {
    result = run();
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 400) throw error;
    refuseAll([
      ...problems,
      ...(error.problems.length > 0
        ? error.problems.filter(isTold)
        : [{ code: error.code, pointer: '', facts: error.facts }]),
    ]);
    throw error;
  }
  refuseAll(problems);
  return result;
}

/** The line as priced: catalogue values with the document's own laid over. */
function lineInput(line: AskedLine, item: ItemRecord, companyRegion: Region): LineInput {
  const vatRate = line.vatRate ?? item.vat_rate;
  const ownRate = vatRate === item.vat_rate;
  const withheld = line.withholdingTaxEnabled ?? item.withholding_tax_available;
  return {
    id: line.lineId,
    originLineId: line.originLineId,
    itemId: line.id,
    name: line.name ?? item.name,
    description: line.description ?? item.description ?? undefined,
    productType: item.type,
    unit: item.unit_type,
    quantity: line.quantity,
    unitPrice: line.unitPrice ?? item.unit_price,
    vatRate,
    region: regionOf(item.vat_territory, companyRegion),
    fixedRate: ownRate ? (item.fixed_tax_rate ?? undefined) : undefined,
    exemptionCode: line.vatExemptionReason ?? (ownRate ? (item.vat_exemption_reason ?? undefined) : undefined),
    discount: line.discount,
    withholding:
      withheld &&
      item.withholding_tax_type !== null &&
      item.withholding_tax_percent !== null &&
      toNumber(item.withholding_tax_percent) > 0
        ? {
            type: item.withholding_tax_type,
            percent: item.withholding_tax_percent,
            reason: item.withholding_tax_reason ?? undefined,
          }
        : undefined,
  };
}

/** Columns that every save of a draft writes, in the order of `draftValues`. */
export const draftColumns = [
  'family',
  'type',
  'customer_id',
  'item_ids',
  'series_id',
  'parent_id',
  'origin_id',
  'movement_start',
  'customer_name',
  'customer_nif',
  'customer_email',
  'currency',
  'description',
  'notes',
  'cae',
  'date',
  'tax_point_date',
  'due_date',
  'net',
  'tax',
  'gross',
  'to_pay',
  'asked',
  'content',
] as const;

export function draftValues(asked: AskedDraft, content: Content): unknown[] {
  return [
    documentTypes[asked.type].family,
    asked.type,
    asked.customerId,
    [...new Set(asked.items.map((line) => line.id))],
    asked.seriesId ?? null,
    asked.parentInvoiceId ?? null,
    asked.origin?.id ?? null,
    asked.transport?.start ?? null,
    content.customer.name,
    content.customer.taxpayerNumber ?? null,
    content.customer.email ?? null,
    content.currency,
    content.description ?? null,
    content.notes ?? null,
    content.cae,
    content.date ?? null,
    content.taxPointDate ?? null,
    content.dueDate ?? null,
    content.totals.net,
    content.totals.tax,
    content.totals.gross,
    content.totals.toPay,
    JSON.stringify(asked),
    JSON.stringify(content),
  ];
}
