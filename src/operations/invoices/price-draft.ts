/** From what was asked to the priced document: loads what the draft refers to, in one statement, and prices it. */
import type { Call, Row, Tx } from '../../db/transact.ts';
import { anyId, Elements, eachOnce, listStatement } from '../../db/transact.ts';
import { type Dated, dateProblems } from '../../fiscal/dates.ts';
import { type Corrected, foreignRates, taxPointOf } from '../../fiscal/debit-note.ts';
import { compare } from '../../fiscal/decimal.ts';
import type { Content, Day, Decimal, DocumentRef, DocumentType, Party, Region } from '../../fiscal/document.ts';
import { documentTypes, isPaidAtOnce } from '../../fiscal/document.ts';
import { plausibleRates } from '../../fiscal/exchange-rate.ts';
import { quotedOriginal } from '../../fiscal/recovery.ts';
import type { Problem } from '../../fiscal/refusal.ts';
import { alongside, assert } from '../../fiscal/refusal.ts';
import { dayOf } from '../../fiscal/time.ts';
import { price } from '../../fiscal/totals.ts';
import { unvalued } from '../../fiscal/transport.ts';
import { issuerColumns, issuerOf } from '../company/company.ts';
import { customerListColumns, partyOf } from '../customers/customer.ts';
import { recordColumns } from '../items/item.ts';
import type { CompanyMemory } from '../memory.ts';
import { holdMomentCall, readMoment } from '../moment.ts';
import { builtIn } from '../templates/template.ts';
import { holdMasters, type Seen } from '../unchanged.ts';
import type { AskedDraft } from './draft.ts';
import { linesOf, type Tell } from './draft-lines.ts';

// Numbers leave as text inside the JSON, so that no decimal ever passes through a double.
const itemJson = recordColumns
  .map((column) => (/price|percent|rate$/.test(column) && column !== 'vat_rate' ? `i.${column}::text` : `i.${column}`))
  .join(', ');

/** Everything that each of some drafts refers to. */
const referencesText = (lock: string) => `select v.id, certo.now() as now,
    (select to_jsonb(x) from (select ${issuerColumns}, c.cae, c.region from certo.companies c where c.id = certo.current_company()${lock}) x) as company,
    (select to_jsonb(x) from (select c.* from certo.customers c where c.company_id = certo.current_company() and c.id = v.customer_id${lock}) x) as customer,
    (select coalesce(jsonb_agg(to_jsonb(x)), '[]') from (select i.id, i.updated_at, ${itemJson} from certo.items i
       where i.company_id = certo.current_company() and i.id = any (v.item_ids) order by i.id${lock}) x) as items,
    (select not t.is_archived from certo.templates t where t.company_id = certo.current_company() and t.id = v.template_id) as template,
    (select s.code from certo.series s where s.company_id = certo.current_company() and s.id = v.series_id and s.document_type = v.type and s.status = 'ACTIVE' and s.kind <> 'R') as series,
    (select to_jsonb(x) from (select d.id, d.number, d.date, d.type, d.status, d.content -> 'recovered' as recovered, d.content -> 'training' as training,
         d.customer_id, d.content -> 'customer' as customer, d.currency, d.content ->> 'exchangeRate' as exchange_rate, d.tax_point_date,
         d.content -> 'totals' -> 'groups' as groups from certo.documents d
       where d.company_id = certo.current_company() and d.id = v.parent_id and d.number is not null
       and d.type in ('INVOICE', 'SIMPLIFIED_INVOICE', 'INVOICE_RECEIPT')) x) as parent
  from jsonb_to_recordset($1::jsonb) v (id uuid, customer_id uuid, item_ids uuid[], series_id uuid, parent_id uuid, type text, template_id uuid)`;
const readReferences = listStatement('draft_references', referencesText(''));
const holdReferences = listStatement('draft_references_held', referencesText(' for key share'));

// The same for most drafts, which name no series, template or invoice: what many of them refer to is read once for all.
const readCustomers = listStatement(
  'draft_customers',
  `select ${customerListColumns} from certo.customers where company_id = certo.current_company() and id = ${anyId}`,
  { joins: eachOnce },
);
const readItems = listStatement(
  'draft_items',
  `select id, updated_at, ${recordColumns.join(', ')} from certo.items where company_id = certo.current_company() and id = ${anyId}`,
  { joins: eachOnce },
);
/** Reads what drafts refer to, in the order of the drafts: of such as are locked already, or not there yet. */
export async function readAllReferences(tx: Tx, drafts: readonly AskedDraft[]): Promise<Row[]> {
  const rows = await tx.query(readReferences, [new Elements(drafts.map(referencesOf))]);
  const byId = new Map(rows.map((row) => [row['id'], row]));
  return drafts.map((asked) => byId.get(referencesOf(asked).id)!);
}

/**
 * Reads what a draft refers to and keeps company, customer and items from changing until the commit: who changes them
 * refreshes the drafts it sees, and this one can't be seen yet.
 */
export async function loadReferences(tx: Tx, asked: AskedDraft): Promise<Row> {
  const [row] = await tx.query(holdReferences, [new Elements([referencesOf(asked)])]);
  assert(row !== undefined, 'what is asked for one draft is answered for it');
  return row;
}

/** Such as most drafts refer to nothing else than: customer and items. */
const isPlain = ({ seriesId, templateId, parentInvoiceId }: AskedDraft): boolean =>
  seriesId === undefined && templateId === undefined && parentInvoiceId === undefined;

/** What a draft refers to, as this process remembers it. Undefined: it does not, or not all. */
export function recallReferences(asked: AskedDraft, region: Region, memory: CompanyMemory): Row | undefined {
  if (!isPlain(asked)) return undefined;
  const { customer_id, item_ids } = referencesOf(asked);
  const moment = memory.moment(region);
  const customer = memory.master('customer', customer_id);
  const items = item_ids.map((id) => memory.master('item', id)).filter((row) => row !== undefined);
  if (moment === undefined || customer === undefined || items.length < item_ids.length) return undefined;
  return plainReferences(moment, customer, items);
}

/** The same before the transaction: `holdReferencesAhead` there makes sure of them. */
export function readReferencesAhead(asked: AskedDraft): Call[] {
  const references = referencesOf(asked);
  const moment: Call = [readMoment, []];
  if (!isPlain(asked)) return [[readReferences, [new Elements([references])]], moment];
  return [[readCustomers, [[references.customer_id]]], [readItems, [references.item_ids]], moment];
}

/** What those calls found, as `priceDraft` takes it; it is kept. */
export function referencesAhead(rows: readonly Row[][], memory: CompanyMemory): Row | undefined {
  const moment = rows.at(-1)?.[0];
  if (moment === undefined) return undefined;
  memory.keepMoment(moment);
  if (rows.length === 2) {
    const references = rows[0]![0];
    return references && { ...references, company: moment };
  }
  const [customers = [], items = []] = rows;
  memory.keepMasters('customer', customers);
  memory.keepMasters('item', items);
  return plainReferences(moment, customers[0] ?? null, items);
}

const plainReferences = (moment: Row, customer: Row | null, items: readonly Row[]): Row => ({
  now: moment['now'],
  company: moment,
  customer,
  items,
  template: null,
  series: null,
  parent: null,
});

/** Keeps customer and items from changing until the commit, on condition that they and the company have not since. */
export function holdReferencesAhead(references: Row): Call[] {
  const company = references['company'] as Row;
  const masters = holdMasters(references['customer'] as unknown as Seen, references['items'] as unknown as Seen[]);
  // Behind the lock on the company.
  return [masters, holdMomentCall(company, references['now'] as Date)];
}

function referencesOf(asked: AskedDraft) {
  return {
    // A line belongs to one draft, whether that has an id already or not.
    id: asked.items[0]!.lineId,
    customer_id: asked.customerId,
    item_ids: [...new Set(asked.items.map((line) => line.id))],
    series_id: asked.seriesId,
    parent_id: asked.parentInvoiceId,
    type: asked.type,
    template_id: asked.templateId,
  };
}

/** The built-in template, one of the company's, or an archived one that the draft had before. */
function isUsable(templateId: string | undefined, references: Row, before: AskedDraft | undefined): boolean {
  if (templateId === undefined || templateId === builtIn.id || references['template'] === true) return true;
  return references['template'] === false && before?.templateId === templateId;
}

/** An active one of its type, or the one that it named before: whether that numbers by then, issuing decides. */
function isNumbering({ type, seriesId }: AskedDraft, references: Row, before: AskedDraft | undefined): boolean {
  if (seriesId === undefined || references['series'] !== null) return true;
  return before?.seriesId === seriesId && before.type === type;
}

/** An issued invoice, or one that was cancelled after the draft had named it: issuing refuses that. */
function isCorrectable(parent: Row | null, asked: AskedDraft, before: AskedDraft | undefined): boolean {
  return parent !== null && (parent['status'] !== 'CANCELED' || before?.parentInvoiceId === asked.parentInvoiceId);
}

/** A debit note has the customer, the currency and the exchange rate of the invoice that it corrects. */
function differences({ customerId, currency, exchangeRate }: AskedDraft, parent: Row | null): Problem[] {
  if (parent === null) return [];
  const rate = rateOf(parent);
  // Of an invoice in euros the currency says it all: these have no rate.
  const isOtherRate = exchangeRate !== undefined && rate !== undefined && compare(exchangeRate, rate) !== 0;
  const of = (differs: boolean, field: string, expected: unknown): Problem[] =>
    differs ? [{ code: 'PARENT_DIFFERS', pointer: `/${field}`, facts: { expected: String(expected) } }] : [];
  return [
    ...of(customerId !== parent['customer_id'], 'customerId', parent['customer_id']),
    ...of(currency !== parent['currency'], 'currency', parent['currency']),
    ...of(isOtherRate, 'exchangeRate', rate),
  ];
}

/** Undefined: the invoice is in euros. */
const rateOf = (parent: Row): Decimal | undefined => (parent['exchange_rate'] as Decimal | null) ?? undefined;

/** Of a rate that is given or changed. */
function rateProblems({ currency, exchangeRate: rate }: AskedDraft, before: AskedDraft | undefined): Problem[] {
  if (rate === undefined || currency === 'EUR') return [];
  if (before?.exchangeRate === rate && before.currency === currency) return [];
  const { least, most } = plausibleRates(currency);
  if (compare(rate, least) >= 0 && compare(rate, most) <= 0) return [];
  const facts = { currency, rate, least, most };
  return [{ code: 'EXCHANGE_RATE_IMPLAUSIBLE', pointer: '/exchangeRate', facts }];
}

/** Days that contradict each other, or those of the documents that the draft names. `corrected`: the invoice of a debit note. */
function dayProblems(asked: AskedDraft, corrected: Row | null): Problem[] {
  const { type, date, taxPointDate, dueDate, payment, origin, recovered } = asked;
  const parent = parentOf(corrected);
  // Written out: of a copy with one member more V8 makes a shape of its own, each time. All of them have to be said.
  const dated: Dated & Record<keyof Dated, unknown> = {
    type,
    parent,
    origin,
    taxPointDate,
    dueDate,
    payment,
    recovered,
  };
  const problems = dateProblems(date, dated);
  if (date === undefined || dueDate === undefined || dueDate >= date) return problems;
  return [{ code: 'DUE_BEFORE_DATE', pointer: '/dueDate' }, ...problems];
}

const ofProforma = 'INVOICE, INVOICE_RECEIPT, SIMPLIFIED_INVOICE';

/** The priced document, or INVALID_REQUEST with everything that is wrong with its references and amounts. */
export function priceDraft(asked: AskedDraft, references: Row, before?: AskedDraft): Content {
  const company = references['company'] as Row;
  const customer = references['customer'] as Row | null;
  const items = new Map((references['items'] as Row[]).map((row) => [String(row['id']), row]));
  const region = company['region'] as Region;
  const problems: Problem[] = [];
  const at: Tell = (pointer, code, facts) => void problems.push({ code, pointer, facts });

  assert(
    asked.type !== 'RECEIPT' && asked.type !== 'CREDIT_NOTE',
    'receipts and credit notes are made of their invoice',
  );
  if (!(company['cae'] as string[]).includes(asked.cae))
    at('/cae', 'CAE_NOT_OF_COMPANY', { allowed: (company['cae'] as string[]).join(', ') });
  if (customer === null) at('/customerId', 'UNKNOWN_CUSTOMER');
  else if (customer['is_archived'] === true && before?.customerId !== asked.customerId) at('/customerId', 'ARCHIVED');
  if (!isNumbering(asked, references, before)) at('/seriesId', 'UNKNOWN_SERIES');
  if (!isUsable(asked.templateId, references, before)) at('/templateId', 'UNKNOWN_TEMPLATE');
  if (asked.type !== 'DEBIT_NOTE' && asked.parentInvoiceId !== undefined) at('/parentInvoiceId', 'PARENT_NOT_ALLOWED');
  else if (asked.parentInvoiceId !== undefined && !isCorrectable(references['parent'] as Row | null, asked, before))
    at('/parentInvoiceId', 'UNKNOWN_PARENT');
  else problems.push(...differences(asked, references['parent'] as Row | null));
  if (asked.type !== 'DEBIT_NOTE' && asked.reason !== undefined) at('/reason', 'PARENT_NOT_ALLOWED');
  if (asked.payment !== undefined && !isPaidAtOnce(asked.type)) at('/payment', 'PAYMENT_NOT_ALLOWED');
  // A pro forma becomes an invoice.
  if (asked.type === 'DEBIT_NOTE' && asked.origin !== undefined) at('/type', 'INVALID_VALUE', { allowed: ofProforma });
  // Of an invoice that it can't name neither its date nor its rates are told.
  const named = asked.type === 'DEBIT_NOTE' ? (references['parent'] as Row | null) : null;
  const corrected = isCorrectable(named, asked, before) ? named : null;
  // A note has the exchange rate of its invoice, whose currency it has to have.
  const exchangeRate =
    asked.exchangeRate ?? (asked.currency === 'EUR' || corrected === null ? undefined : rateOf(corrected));
  if (asked.currency !== 'EUR' && exchangeRate === undefined && corrected === null)
    at('/exchangeRate', 'EXCHANGE_RATE_REQUIRED');
  // A note and a recovered document say what their original said, whatever was let through then.
  if (corrected === null && asked.recovered === undefined) problems.push(...rateProblems(asked, before));
  problems.push(...dayProblems(asked, corrected));

  const lines = linesOf(asked, items, { region, before, at });
  // An unknown item has no price: what would be said of its line, or of a discount on the whole, is left unsaid.
  const isTold = ({ pointer }: Problem): boolean => {
    const line = /^\/items\/(\d+)/.exec(pointer)?.[1];
    if (line !== undefined) return items.has(asked.items[Number(line)]!.id);
    return pointer !== '/globalDiscountAmount' || asked.items.every(({ id }) => items.has(id));
  };

  const taxed = correctedOf(corrected);
  const taxPoint = taxed === undefined ? ownTaxPoint(asked, references, region) : taxPointOf(taxed);
  const { transport } = asked;
  const pricing = () => {
    const result = (transport?.valued === false ? unvalued : price)({
      lines,
      globalDiscount: asked.globalDiscount,
      taxPoint,
      currency: asked.currency,
      exchangeRate: exchangeRate ?? (asked.currency === 'EUR' ? undefined : '1'),
    });
    if (taxed !== undefined) problems.push(...foreignRates(result.lines, taxed).filter(isTold));
    return result;
  };
  const priced = alongside(problems, pricing, isTold);
  assert(customer !== null, 'a draft without a customer was refused above');
  const parent = parentOf(references['parent'] as Row | null);
  return {
    type: asked.type,
    issuer: issuerOf(company),
    // A note is to whom its invoice is, as that was frozen (documents page, sections 4 and 5).
    customer: corrected === null ? partyOf(customer) : (corrected['customer'] as Party),
    cae: asked.cae,
    currency: asked.currency,
    exchangeRate,
    globalDiscount: asked.globalDiscount,
    date: asked.date,
    // A note has that of its invoice where it states none (docs/decisions/0059-notes-have-a-tax-point.md).
    taxPointDate: asked.taxPointDate ?? (taxed === undefined ? undefined : taxPoint),
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

const ownTaxPoint = ({ taxPointDate, date }: AskedDraft, references: Row, region: Region): Day =>
  taxPointDate ?? date ?? dayOf(references['now'] as Date, region);

/** The invoice whose rates a debit note has; the draft of one may not name it yet. */
function correctedOf(parent: Row | null): Corrected | undefined {
  if (parent === null) return undefined;
  const { date, tax_point_date: taxPointDate, groups } = parent as Record<string, unknown>;
  return { date, taxPointDate, groups } as Corrected;
}

function parentOf(row: Row | null): DocumentRef | undefined {
  if (row === null) return undefined;
  const type = row['type'] as DocumentType;
  const recovered = row['recovered'] as Content['recovered'] | null;
  const original = recovered ? { original: quotedOriginal(documentTypes[type].code, recovered) } : {};
  return { id: String(row['id']), number: String(row['number']), date: String(row['date']), type, ...original };
}
