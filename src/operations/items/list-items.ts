import { Type } from 'typebox';
import { anyOf, type Condition, equals, sql } from '../../db/page.ts';
import type { Tx } from '../../db/transact.ts';
import { fromNumber, toNumber } from '../../fiscal/decimal.ts';
import { dayOf } from '../../fiscal/time.ts';
import { rateOn } from '../../fiscal/vat-rates.ts';
import type { Principal } from '../../identity/principal.ts';
import { line, listQuery, oneOf, percent, precise } from '../fields.ts';
import { readMasters } from '../listed-masters.ts';
import { readNow } from '../now.ts';
import { defineRead } from '../operation.ts';
import { type Containing, inAny, inColumn, itemWords } from '../search.ts';
import {
  ItemReply,
  itemListColumns,
  regionOf,
  showItem,
  territories,
  unitTypes,
  vatRates,
  withholdingTypes,
} from './item.ts';

export const listItems = defineRead({
  name: 'listItems',
  route: 'GET /items',
  tag: 'Items',
  summary: 'List items',
  description: 'Archived items are left out unless isArchived is given.',
  query: listQuery(['createdAt', 'updatedAt', 'name'], {
    search: Type.Optional(line(200, 'Contained in the name or the description.')),
    name: Type.Optional(line(200, 'Contains.')),
    type: Type.Optional(oneOf(['PRODUCT', 'SERVICE'], 'Equal.')),
    unitPrice: Type.Optional(precise('Equal.')),
    unitType: Type.Optional(oneOf(unitTypes, 'Equal.')),
    taxRate: Type.Optional(percent('Percentage in force today; equal.')),
    vatRate: Type.Optional(oneOf(vatRates, 'Equal.')),
    vatExemptionReason: Type.Optional(line(3, 'Equal.')),
    withholdingTaxPercent: Type.Optional(percent('Equal.')),
    withholdingTaxType: Type.Optional(oneOf(withholdingTypes, 'Equal.')),
    withholdingTaxAvailable: Type.Optional(Type.Boolean({ description: 'Equal.' })),
    withholdingTaxReason: Type.Optional(line(60, 'Contains.')),
    isArchived: Type.Optional(Type.Boolean({ description: 'Only archived, or only not archived.' })),
    vatTerritory: Type.Optional(oneOf(territories, 'Equal.')),
    isAutoVATEnabled: Type.Optional(Type.Boolean({ description: 'Equal.' })),
  }),
  reply: [200, Type.Array(ItemReply)],
  access: { key: true, oauth: ['invoicing.read', 'invoicing.read_all'] },
  refuses: [],
  tool: 'list_items',
  async load(tx, asked) {
    const { query } = asked;
    const conditions: Condition[] = [equals('is_archived', query.isArchived ?? false)];
    const equal: readonly (readonly [string, unknown])[] = [
      ['type', query.type],
      ['unit_price', query.unitPrice === undefined ? undefined : fromNumber(query.unitPrice)],
      ['unit_type', query.unitType],
      ['vat_rate', query.vatRate],
      ['vat_exemption_reason', query.vatExemptionReason],
      [
        'withholding_tax_percent',
        query.withholdingTaxPercent === undefined ? undefined : fromNumber(query.withholdingTaxPercent),
      ],
      ['withholding_tax_type', query.withholdingTaxType],
      ['withholding_tax_available', query.withholdingTaxAvailable],
      ['vat_territory', query.vatTerritory],
      ['is_auto_vat_enabled', query.isAutoVATEnabled],
    ];
    for (const [column, value] of equal) if (value !== undefined) conditions.push(equals(column, value));
    if (query.taxRate !== undefined) conditions.push(await rateInForce(tx, query.taxRate, asked));
    const listed = { columns: itemListColumns, name: 'name', conditions, filters: filtersOf(query), page: query };
    return readMasters(tx, { from: 'certo.items', ...listed });
  },
  show: (rows, { principal }) =>
    rows.map((row) => showItem(row, dayOf(row['now'] as Date, principal.region), principal.region)),
});

/** The function certo.words_of_item says what is searched. */
function filtersOf({ search, name, withholdingTaxReason: reason }: Record<string, unknown>): Containing[] {
  const filters: Containing[] = [];
  if (typeof search === 'string') filters.push(inAny(['name', 'description'], search, itemWords));
  if (typeof name === 'string') filters.push(inColumn('name', name, itemWords));
  if (typeof reason === 'string') filters.push(inColumn('withholding_tax_reason', reason));
  return filters;
}

/** The rate in force is law, not a column: which (territory, vatRate) have this percentage today, or a fixed one. */
async function rateInForce(tx: Tx, percentage: number, asked: { readonly principal: Principal }): Promise<Condition> {
  const now = await readNow(tx);
  const { region } = asked.principal;
  const today = dayOf(now, region);
  const pairs = territories.flatMap((territory) =>
    vatRates
      .filter((vatRate) => toNumber(rateOn(regionOf(territory, region), vatRate, today)) === percentage)
      .map((vatRate) => sql`(is_auto_vat_enabled and vat_territory = ${territory} and vat_rate = ${vatRate})`),
  );
  return anyOf([equals('fixed_tax_rate', fromNumber(percentage)), ...pairs]);
}
