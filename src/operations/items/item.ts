/** Catalogue items: fields, rules on the record as a whole, row and reply. */

import type { Static } from 'typebox';
import { Type } from 'typebox';
import type { Call, Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { fromNumber, toNumber } from '../../fiscal/decimal.ts';
import type { Day, Region, VatRate } from '../../fiscal/document.ts';
import { exemptionCodes, exemptionCodesOn, exemptionOn } from '../../fiscal/exemptions.ts';
import type { Problem } from '../../fiscal/refusal.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { findRate, rateFacts, rateOn } from '../../fiscal/vat-rates.ts';
import { closed, dateTime, line, oneOf, percent, precise, text } from '../fields.ts';

export const unitTypes = [
  'BOX',
  'CUBIC_METER',
  'DAY',
  'HOUR',
  'KILOGRAM',
  'LITER',
  'METER',
  'MONTH',
  'NA',
  'PACKAGE',
  'SQUARE_METER',
  'UNIT',
  'WEEK',
] as const;
export const vatRates = ['EXEMPT', 'INTERMEDIATE', 'NORMAL', 'REDUCED'] as const;
export const territories = ['AZORES', 'CONTINENTAL', 'MADEIRA', 'UNKNOWN'] as const;
export const withholdingTypes = ['IRC', 'IRS', 'IS'] as const;

const members = {
  name: line(200, 'Name as printed.', 2),
  description: Type.Optional(text(2000, 'Longer description, printed below the name.')),
  type: oneOf(['PRODUCT', 'SERVICE'], 'Goods or services.'),
  unitPrice: precise(
    'Price of one unit without VAT. A document in another currency than EUR takes the figure as it is: give its lines a unitPrice of their own.',
  ),
  unitType: Type.Optional(oneOf(unitTypes, 'Unit; UNIT when not given.')),
  vatRate: oneOf(vatRates, 'Which rate applies.'),
  taxRate: Type.Optional(
    percent('VAT percentage. Derived from vatRate, vatTerritory and the date unless isAutoVATEnabled is false.'),
  ),
  vatExemptionReason: Type.Optional(
    line(3, `M code; required exactly when vatRate is EXEMPT: ${exemptionCodes}.`, 0, 'M07'),
  ),
  vatTerritory: Type.Optional(
    oneOf(territories, "Where the supply happens; UNKNOWN (the default) is the company's own territory."),
  ),
  isAutoVATEnabled: Type.Optional(Type.Boolean({ description: 'Derive taxRate; true when not given.' })),
  withholdingTaxAvailable: Type.Optional(
    Type.Boolean({ description: 'Withhold tax on lines with this item, unless the line says otherwise.' }),
  ),
  withholdingTaxType: Type.Optional(oneOf(withholdingTypes, 'Kind of withholding.')),
  withholdingTaxPercent: Type.Optional(percent('Percentage withheld of the amount without VAT.')),
  withholdingTaxReason: Type.Optional(line(60, 'Legal norm of the withholding.')),
};
const optional = Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, Type.Optional(schema)])) as {
  [K in keyof typeof members]: ReturnType<typeof Type.Optional<(typeof members)[K]>>;
};

const isArchived = Type.Optional(
  Type.Boolean({ description: 'Left out of lists; false brings an archived item back.' }),
);
export const ItemBody = closed({ ...members, isArchived });
export const ItemPatch = closed({ ...optional, isArchived });
export type ItemValues = Static<typeof ItemPatch>;

export const ItemReply = closed({
  id: Type.String(),
  ...members,
  taxRate: Type.Number({ description: 'The percentage in force today.' }),
  unitType: oneOf(unitTypes, 'Unit.'),
  vatTerritory: oneOf(territories, 'Where the supply happens.'),
  isAutoVATEnabled: Type.Boolean(),
  withholdingTaxAvailable: Type.Boolean(),
  isArchived: Type.Boolean(),
  createdAt: dateTime('Creation of the record.'),
  updatedAt: dateTime('Last change of the record.'),
});

/** An item as the database keeps it, decimals as text. */
export interface ItemRecord {
  name: string;
  description: string | null;
  type: 'PRODUCT' | 'SERVICE';
  unit_price: string;
  unit_type: string;
  vat_rate: VatRate;
  fixed_tax_rate: string | null;
  vat_exemption_reason: string | null;
  vat_territory: (typeof territories)[number];
  is_auto_vat_enabled: boolean;
  withholding_tax_available: boolean;
  withholding_tax_type: (typeof withholdingTypes)[number] | null;
  withholding_tax_percent: string | null;
  withholding_tax_reason: string | null;
  is_archived: boolean;
}
/** Those that a body can change. */
export const recordColumns = [
  'name',
  'description',
  'type',
  'unit_price',
  'unit_type',
  'vat_rate',
  'fixed_tax_rate',
  'vat_exemption_reason',
  'vat_territory',
  'is_auto_vat_enabled',
  'withholding_tax_available',
  'withholding_tax_type',
  'withholding_tax_percent',
  'withholding_tax_reason',
  'is_archived',
] as const satisfies readonly (keyof ItemRecord)[];

export const itemListColumns = `id, used, created_at, updated_at, certo.now() as now, ${recordColumns.join(', ')}`;
/** $1 the id; `now` is the database's time, for the rate that is in force. */
export const readItem = statement(
  'item_read',
  `select ${itemListColumns} from certo.items where company_id = certo.current_company() and id = $1`,
);
const lockItem = statement('item_lock', `${readItem.text} for update`);

/** What a new item is where its body says nothing. */
export const emptyItem: ItemRecord = {
  name: '',
  description: null,
  type: 'PRODUCT',
  unit_price: '0',
  unit_type: 'UNIT',
  vat_rate: 'NORMAL',
  fixed_tax_rate: null,
  vat_exemption_reason: null,
  vat_territory: 'UNKNOWN',
  is_auto_vat_enabled: true,
  withholding_tax_available: false,
  withholding_tax_type: null,
  withholding_tax_percent: null,
  withholding_tax_reason: null,
  is_archived: false,
};

/** The columns that an item is made of, as stored. */
export function recordOf(row: Row): ItemRecord {
  return Object.fromEntries(recordColumns.map((name) => [name, row[name]])) as unknown as ItemRecord;
}

/** In the order of the columns. */
export const itemValues = (record: ItemRecord): unknown[] => recordColumns.map((name) => record[name]);

/** The record after a body is laid over it. Leaving EXEMPT drops the code; automatic VAT drops the fixed rate. */
export function overlay(record: ItemRecord, body: ItemValues): ItemRecord {
  const auto = body.isAutoVATEnabled ?? record.is_auto_vat_enabled;
  const vatRate = body.vatRate ?? record.vat_rate;
  const keptReason = vatRate === 'EXEMPT' ? record.vat_exemption_reason : null;
  return {
    name: body.name ?? record.name,
    description: cleared(body.description, record.description),
    type: body.type ?? record.type,
    unit_price: body.unitPrice === undefined ? record.unit_price : fromNumber(body.unitPrice),
    unit_type: body.unitType ?? record.unit_type,
    vat_rate: vatRate,
    fixed_tax_rate: auto ? null : body.taxRate === undefined ? record.fixed_tax_rate : fromNumber(body.taxRate),
    vat_exemption_reason: cleared(body.vatExemptionReason, keptReason),
    vat_territory: body.vatTerritory ?? record.vat_territory,
    is_auto_vat_enabled: auto,
    withholding_tax_available: body.withholdingTaxAvailable ?? record.withholding_tax_available,
    withholding_tax_type: body.withholdingTaxType ?? record.withholding_tax_type,
    withholding_tax_percent:
      body.withholdingTaxPercent === undefined
        ? record.withholding_tax_percent
        : fromNumber(body.withholdingTaxPercent),
    withholding_tax_reason: cleared(body.withholdingTaxReason, record.withholding_tax_reason),
    is_archived: body.isArchived ?? record.is_archived,
  };
}

function cleared(value: string | undefined, before: string | null): string | null {
  if (value === undefined) return before;
  return value.trim() === '' ? null : value;
}

/** Rules on the record as a whole, on a day, for a company of a region. */
export function itemProblems(record: ItemRecord, body: ItemValues, today: Day, companyRegion: Region): Problem[] {
  const problems: Problem[] = [];
  const region = regionOf(record.vat_territory, companyRegion);
  const at = (pointer: string, code: Problem['code'], facts?: Problem['facts']): void => {
    problems.push({ code, pointer, facts });
  };
  if (record.vat_rate === 'EXEMPT') {
    const code = record.vat_exemption_reason;
    if (code === null) at('/vatExemptionReason', 'EXEMPTION_REQUIRED');
    else if (exemptionOn(code, today) === undefined)
      at('/vatExemptionReason', 'EXEMPTION_UNKNOWN', { code, date: today, allowed: exemptionCodesOn(today) });
  } else if (record.vat_exemption_reason !== null) {
    at('/vatExemptionReason', 'EXEMPTION_NOT_ALLOWED');
  }
  if (!record.is_auto_vat_enabled && record.fixed_tax_rate === null) at('/taxRate', 'REQUIRED');
  const fixed = record.fixed_tax_rate === null ? undefined : Number(record.fixed_tax_rate);
  const rate = record.is_auto_vat_enabled ? body.taxRate : fixed;
  if (rate !== undefined && Number(findRate(region, record.vat_rate, today)) !== rate) {
    at('/taxRate', 'VAT_RATE_NOT_IN_FORCE', rateFacts(region, record.vat_rate, today));
  }
  if (
    record.withholding_tax_available ||
    body.withholdingTaxType !== undefined ||
    body.withholdingTaxPercent !== undefined
  ) {
    if (record.withholding_tax_type === null) at('/withholdingTaxType', 'WITHHOLDING_INCOMPLETE');
    if (record.withholding_tax_percent === null) at('/withholdingTaxPercent', 'WITHHOLDING_INCOMPLETE');
  }
  return problems;
}

/** The territory of a supply; UNKNOWN is the issuer's own (VAT page, section 1). */
export function regionOf(territory: ItemRecord['vat_territory'], companyRegion: Region): Region {
  if (territory === 'CONTINENTAL') return 'PT';
  if (territory === 'MADEIRA') return 'PT-MA';
  if (territory === 'AZORES') return 'PT-AC';
  return companyRegion;
}

/** `taxRate` in percent: its own fixed rate, else the one in force `today` in its territory. */
export function showItem(row: Row, today: Day, companyRegion: Region): Record<string, unknown> {
  const record = recordOf(row);
  const rate = record.fixed_tax_rate ?? rateOn(regionOf(record.vat_territory, companyRegion), record.vat_rate, today);
  const optionalText = (name: string, value: string | null) => (value === null ? {} : { [name]: value });
  return {
    id: row['id'],
    name: record.name,
    ...optionalText('description', record.description),
    type: record.type,
    unitPrice: toNumber(record.unit_price),
    unitType: record.unit_type,
    taxRate: toNumber(rate),
    vatRate: record.vat_rate,
    ...optionalText('vatExemptionReason', record.vat_exemption_reason),
    vatTerritory: record.vat_territory,
    isAutoVATEnabled: record.is_auto_vat_enabled,
    withholdingTaxAvailable: record.withholding_tax_available,
    ...optionalText('withholdingTaxType', record.withholding_tax_type),
    ...(record.withholding_tax_percent === null
      ? {}
      : { withholdingTaxPercent: toNumber(record.withholding_tax_percent) }),
    ...optionalText('withholdingTaxReason', record.withholding_tax_reason),
    isArchived: record.is_archived,
    createdAt: (row['created_at'] as Date).toISOString(),
    updatedAt: (row['updated_at'] as Date).toISOString(),
  };
}

/** Loads an item to change it, locked until the commit, after what else has to be locked before it. */
export async function itemToChange(tx: Tx, id: string, before: readonly Call[] = []): Promise<Row> {
  const row = (await tx.batch([...before, [lockItem, [id]]])).at(-1)?.[0];
  if (row === undefined) throw new Refusal('ITEM_NOT_FOUND');
  return row;
}
