/** What a period's file begins with: the company, the series that have documents in it, their sums and their taxes. */
import type { Call, Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { add, round2, trimmed } from '../../fiscal/decimal.ts';
import { type Day, documentTypes, type Family, type Party, type Region } from '../../fiscal/document.ts';
import { assert } from '../../fiscal/refusal.ts';
import type { SaftSums, SaftTax } from '../../fiscal/saft/source.ts';
import { issuerColumns, issuerOf } from '../company/company.ts';

/** Numbered documents of the entered company with their date in [$1, $2]. */
export const inPeriod = `d.company_id = certo.current_company() and d.number is not null and d.date between $1 and $2`;

const readCompany = statement(
  'saft_company',
  `select certo.now() as now, c.region, ${issuerColumns} from certo.companies c where c.id = certo.current_company()`,
);

const debitTypes = Object.entries(documentTypes).flatMap(([type, { side }]) => (side === 'DEBIT' ? [`'${type}'`] : []));
/** Net of a document in EUR; the column beside it is in the document's currency. */
const bookNet = `case when d.currency = 'EUR' then d.net else (d.content->'books'->>'net')::numeric end`;
const counts = `d.status <> 'CANCELED'`;

// Dates never go back in a series, so its documents of a period are one stretch of numbers.
const readStretches = statement(
  'saft_stretches',
  `select d.*, s.code, s.kind
   from (select d.family, d.series_id, min(d.sequence) as first, max(d.sequence) as last, count(*) as count,
           sum(${bookNet}) filter (where ${counts} and d.type in (${debitTypes})) as debit,
           sum(${bookNet}) filter (where ${counts} and d.type not in (${debitTypes})) as credit
         from certo.documents d where ${inPeriod} group by d.family, d.series_id) d
   join certo.series s on s.company_id = certo.current_company() and s.id = d.series_id
   order by d.family, s.at_type, s.code, s.id`,
);

const readReceiptSums = statement(
  'saft_receipt_sums',
  `select count(distinct d.id) as count,
     coalesce(sum((x->>'net')::numeric) filter (where ${counts} and x->'document'->>'type' = 'CREDIT_NOTE'), 0) as debit,
     coalesce(sum((x->>'net')::numeric) filter (where ${counts} and x->'document'->>'type' <> 'CREDIT_NOTE'), 0) as credit
   from certo.documents d left join lateral jsonb_array_elements(d.content->'settles') x on true
   where ${inPeriod} and d.family = 'RECEIPT'`,
);

const readTransportSums = statement(
  'saft_transport_sums',
  `select count(*) as count, coalesce(sum((x->>'quantity')::numeric) filter (where ${counts}), 0) as quantity
   from certo.documents d, jsonb_array_elements(d.content->'lines') x
   where ${inPeriod} and d.family = 'TRANSPORT'`,
);

// Receipts tell their taxes only in the cash VAT scheme.
const readTaxes = statement(
  'saft_taxes',
  `select distinct x->>'region' as region, x->>'taxCode' as tax_code, x->>'rate' as rate
   from certo.documents d, jsonb_array_elements(d.content->'books'->'groups') x
   where ${inPeriod} and (d.family <> 'RECEIPT' or d.number like 'RC %')
   order by region, tax_code, rate`,
);

/** Documents of one series, by number. */
export interface Stretch {
  readonly seriesId: string;
  readonly code: string;
  readonly kind: 'N' | 'F' | 'R';
  readonly first: number;
  readonly last: number;
  /** Of those, dated in the period. */
  readonly count: number;
}

export interface Period {
  readonly now: Date;
  readonly company: Party;
  readonly region: Region;
  readonly stretches: Readonly<Partial<Record<Family, readonly Stretch[]>>>;
  readonly sums: Readonly<Partial<Record<Family, SaftSums>>>;
  readonly taxes: readonly SaftTax[];
  /** How many there are. */
  readonly documents: number;
}

/** Reads it all in two round trips. */
export async function readPeriod(tx: Tx, from: Day, to: Day): Promise<Period> {
  const days = [from, to];
  const [companies, found] = (await tx.batch([
    [readCompany, []],
    [readStretches, days],
  ])) as [Row[], Row[]];
  const company = companies[0];
  assert(company !== undefined, 'the entered company exists');
  const stretches = stretchesOf(found);
  const apart = (['RECEIPT', 'TRANSPORT'] as const).filter((family) => stretches[family] !== undefined);
  const [taxes = [], ...apartSums] = await tx.batch([
    [readTaxes, days],
    ...apart.map((family): Call => [apartStatements[family], days]),
  ]);
  return {
    now: company['now'] as Date,
    company: issuerOf(company),
    region: company['region'] as Region,
    stretches,
    documents: found.reduce((sum, row) => sum + Number(row['count']), 0),
    sums: {
      ...summed(found),
      ...Object.fromEntries(apart.map((family, i) => [family, sumsOf(apartSums[i]![0]!)])),
    },
    taxes: taxes.map((row) => ({ region: row['region'], taxCode: row['tax_code'], rate: row['rate'] }) as SaftTax),
  };
}

// The sums of these are not in columns.
const apartStatements = { RECEIPT: readReceiptSums, TRANSPORT: readTransportSums };

/** Sums by family over its series. */
function summed(rows: readonly Row[]): Partial<Record<Family, SaftSums>> {
  const sums: Partial<Record<Family, SaftSums>> = {};
  for (const row of rows) {
    const family = row['family'] as Family;
    const own = sumsOf(row);
    const so = sums[family];
    sums[family] =
      so === undefined
        ? own
        : { ...so, count: so.count + own.count, debit: plus(so.debit, own.debit), credit: plus(so.credit, own.credit) };
  }
  return sums;
}

function stretchesOf(rows: readonly Row[]): Partial<Record<Family, Stretch[]>> {
  const stretches: Partial<Record<Family, Stretch[]>> = {};
  for (const row of rows) {
    const family = row['family'] as Family;
    stretches[family] ??= [];
    stretches[family].push({
      seriesId: String(row['series_id']),
      code: String(row['code']),
      kind: row['kind'] as Stretch['kind'],
      first: Number(row['first']),
      last: Number(row['last']),
      count: Number(row['count']),
    });
  }
  return stretches;
}

function sumsOf(row: Row): SaftSums {
  return {
    count: Number(row['count']),
    debit: amount(row['debit'], 2),
    credit: amount(row['credit'], 2),
    quantity: amount(row['quantity'], 0),
  };
}

/** Nothing to sum is null or 0, without decimals. */
function amount(value: unknown, least: number): string {
  return trimmed(String(value ?? '0'), least);
}

const plus = (a: string, b: string): string => round2(add(a, b));
