/** What a period's file begins with: the company, the series that have documents in it, their sums and their taxes. */
import type { Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
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

// Dates never go back in a series, so its documents of a period are one stretch of numbers.
const readStretches = statement(
  'saft_stretches',
  `select d.family, d.series_id, s.code, s.kind, d.first, d.last, d.count
   from (select d.family, d.series_id, min(d.sequence) as first, max(d.sequence) as last, count(*) as count
         from certo.documents d where ${inPeriod} group by d.family, d.series_id) d
   join certo.series s on s.company_id = certo.current_company() and s.id = d.series_id
   order by d.family, s.at_type, s.code, s.id`,
);

const debitTypes = Object.entries(documentTypes).flatMap(([type, { side }]) => (side === 'DEBIT' ? [`'${type}'`] : []));
/** Net of a document in EUR; the column beside it is in the document's currency. */
const bookNet = `case when d.currency = 'EUR' then d.net else (d.content->'books'->>'net')::numeric end`;
const counts = `d.status <> 'CANCELED'`;

const readSums = statement(
  'saft_sums',
  `select d.family, count(*) as count,
     coalesce(sum(${bookNet}) filter (where ${counts} and d.type in (${debitTypes})), 0) as debit,
     coalesce(sum(${bookNet}) filter (where ${counts} and d.type not in (${debitTypes})), 0) as credit
   from certo.documents d where ${inPeriod} and d.family in ('SALES', 'PROFORMA') group by d.family`,
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
  const [sums, receipts, transports, taxes] = (await tx.batch([
    [readSums, days],
    [readReceiptSums, days],
    [readTransportSums, days],
    [readTaxes, days],
  ])) as [Row[], Row[], Row[], Row[]];
  return {
    now: company['now'] as Date,
    company: issuerOf(company),
    region: company['region'] as Region,
    stretches,
    documents: found.reduce((sum, row) => sum + Number(row['count']), 0),
    sums: {
      ...Object.fromEntries(sums.map((row) => [row['family'], sumsOf(row)])),
      RECEIPT: sumsOf(receipts[0]!),
      TRANSPORT: sumsOf(transports[0]!),
    },
    taxes: taxes.map((row) => ({ region: row['region'], taxCode: row['tax_code'], rate: row['rate'] }) as SaftTax),
  };
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
    debit: money(row['debit']),
    credit: money(row['credit']),
    quantity: money(row['quantity']),
  };
}

const money = (value: unknown): string => (value === undefined || value === '0' ? '0.00' : String(value));
