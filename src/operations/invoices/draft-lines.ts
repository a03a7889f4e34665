/** The lines of a draft: what was asked of each laid over its catalogue item. */
import type { Row } from '../../db/transact.ts';
import { isZero } from '../../fiscal/decimal.ts';
import type { LineInput, Region } from '../../fiscal/document.ts';
import type { Problem } from '../../fiscal/refusal.ts';
import { emptyItem, type ItemRecord, regionOf } from '../items/item.ts';
import type { AskedDraft, AskedLine, Promised } from './draft.ts';

/** Notes what is wrong, and where. */
export type Tell = (pointer: string, code: Problem['code'], facts?: Problem['facts']) => void;

/** The lines as their items are now; what is wrong with them is told. `before`: the draft as it was. */
export function linesOf(
  asked: AskedDraft,
  items: ReadonlyMap<string, Row>,
  { region, before, at }: { readonly region: Region; readonly before: AskedDraft | undefined; readonly at: Tell },
): LineInput[] {
  const used = new Set(before?.items.map((line) => line.id));
  return asked.items.map((line, i) => {
    const item = items.get(line.id) as unknown as ItemRecord | undefined;
    if (item === undefined) {
      at(`/items/${i}/id`, 'UNKNOWN_ITEM');
      return lineInput(line, emptyItem, region);
    }
    if (item.is_archived && !used.has(line.id)) at(`/items/${i}/id`, 'ARCHIVED');
    if (line.withholdingTaxEnabled === true && !withholds(item))
      at(`/items/${i}/withholdingTaxEnabled`, 'WITHHOLDING_NOT_AVAILABLE');
    return lineInput(line, item, region);
  });
}

/** The line as priced: catalogue values with the document's own laid over. */
function lineInput(line: AskedLine, item: ItemRecord, companyRegion: Region): LineInput {
  const vatRate = line.vatRate ?? item.vat_rate;
  const ownRate = vatRate === item.vat_rate;
  const { productType, unit, region, fixedRate, withholding } =
    line.promised ?? catalogued(line, item, ownRate, companyRegion);
  return {
    id: line.lineId,
    originLineId: line.originLineId,
    itemId: line.id,
    name: line.name ?? item.name,
    // What was promised had none where it says none.
    description: line.description ?? (line.promised === undefined ? (item.description ?? undefined) : undefined),
    productType,
    unit,
    quantity: line.quantity,
    unitPrice: line.unitPrice ?? item.unit_price,
    vatRate,
    region,
    fixedRate,
    exemptionCode: line.vatExemptionReason ?? (ownRate ? (item.vat_exemption_reason ?? undefined) : undefined),
    discount: line.discount,
    withholding,
  };
}

/** What only the catalogue says. `ownRate`: the line has the rate of its item. */
function catalogued(line: AskedLine, item: ItemRecord, ownRate: boolean, companyRegion: Region): Promised {
  const withheld = line.withholdingTaxEnabled ?? item.withholding_tax_available;
  return {
    productType: item.type,
    unit: item.unit_type,
    region: regionOf(item.vat_territory, companyRegion),
    fixedRate: ownRate ? (item.fixed_tax_rate ?? undefined) : undefined,
    withholding:
      withheld && withholds(item)
        ? {
            type: item.withholding_tax_type,
            percent: item.withholding_tax_percent,
            reason: item.withholding_tax_reason ?? undefined,
          }
        : undefined,
  };
}

type Withholding = {
  withholding_tax_type: NonNullable<ItemRecord['withholding_tax_type']>;
  withholding_tax_percent: string;
};

/** It says what to withhold; 0 % is nothing. */
function withholds(item: ItemRecord): item is ItemRecord & Withholding {
  const { withholding_tax_type: type, withholding_tax_percent: percent } = item;
  return type !== null && percent !== null && !isZero(percent);
}
