/** Imported documents as they are kept: found by their number, compared, written. */
import type { EfaturaDocument } from '../../at/efatura/record.ts';
import type { Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { Day, Decimal, DocumentType } from '../../fiscal/document.ts';
import { finalConsumerNif } from '../../fiscal/nif.ts';
import { duplicateKey, storedKeys } from '../../fiscal/recovery.ts';

/** A row of the imported documents. Amounts in euros, with 2 decimals. */
export interface Kept {
  readonly id: string;
  readonly number: string;
  readonly atcud: string | null;
  readonly type: DocumentType;
  readonly status: 'ISSUED' | 'CANCELED';
  readonly situation: string | null;
  readonly date: Day;
  readonly customerNif: string | null;
  readonly customerName: string;
  readonly net: Decimal;
  readonly tax: Decimal;
  readonly gross: Decimal;
  /** The run that last wrote it. */
  readonly importId: string;
}

export interface Found {
  /** Issued here, or entered here as a copy of a lost one. */
  readonly own: boolean;
  /** By its ATCUD of this series of ours, whose books do not have it. */
  readonly series: string | undefined;
  readonly kept: Kept | undefined;
}

// By the ATCUD, which is the series' alone; a number without one could be of another program's series of that name.
const findKept = statement(
  'imported_find',
  `select g.place, d.id is not null or r.stands as own, case when d.id is null and s.registered then s.code end as series,
     i.id, i.number, i.atcud, i.type, i.status, i.situation, i.date, i.customer_nif, i.customer_name, i.net, i.tax, i.gross, i.import_id
   from jsonb_to_recordset($1::jsonb) as g (place int, key text, code text, prefix text, sequence bigint, copies text[])
   left join certo.imported_documents i on i.company_id = certo.current_company() and i.number_key = g.key
   left join lateral (
     select s.id, s.code, s.validation_code = g.code as registered from certo.series s
     where s.company_id = certo.current_company()
       and (s.validation_code = g.code or s.at_type || ' ' || s.code_key = g.prefix)
     order by s.validation_code = g.code desc nulls last limit 1) s on true
   left join certo.documents d
     on d.company_id = certo.current_company() and d.series_id = s.id and d.sequence = g.sequence and d.number is not null
   cross join lateral (
     select exists (select from certo.documents c where c.company_id = certo.current_company()
       and c.recovered_key = any (g.copies) and c.status <> 'CANCELED') as stands) r
   order by g.place`,
);

const rowsGiven = `jsonb_to_recordset($1::jsonb) as g (id uuid, number text, key text, atcud text, type text, status text, situation text,
  date date, "customerNif" text, "customerName" text, net numeric, tax numeric, gross numeric, "importId" uuid, sequence bigint)`;
const insertKept = statement(
  'imported_insert',
  `insert into certo.imported_documents (company_id, id, number, number_key, atcud, type, status, situation, date, customer_nif, customer_name,
     net, tax, gross, import_id, sequence)
   select certo.current_company(), g.id, g.number, g.key, g.atcud, g.type, g.status, g.situation, g.date, g."customerNif", g."customerName",
     g.net, g.tax, g.gross, g."importId", g.sequence from ${rowsGiven}`,
);
const updateKept = statement(
  'imported_update',
  `update certo.imported_documents i
   set atcud = g.atcud, type = g.type, status = g.status, situation = g.situation, date = g.date, customer_nif = g."customerNif",
     customer_name = g."customerName", net = g.net, tax = g.tax, gross = g.gross, import_id = g."importId",
     updated_at = greatest(certo.now(), i.updated_at + interval '1 millisecond')
   from ${rowsGiven}
   where i.company_id = certo.current_company() and i.id = g.id`,
);

/** What is known of each, in the same order. */
export async function readKept(tx: Tx, documents: readonly EfaturaDocument[]): Promise<Found[]> {
  const asked = documents.map(({ number, atcud }, place) => ({
    place,
    key: keyOf(number),
    code: atcud?.slice(0, atcud.lastIndexOf('-')),
    prefix: number.includes('/') ? keyOf(number.slice(0, number.lastIndexOf('/'))) : undefined,
    copies: storedKeys(duplicateKey(number)),
    sequence: atcud === undefined ? sequenceOf(number) : Number(atcud.slice(atcud.lastIndexOf('-') + 1)),
  }));
  const rows = await tx.query(findKept, [JSON.stringify(asked)]);
  return rows.map((row) => ({
    own: row['own'] === true,
    series: row['series'] === null ? undefined : String(row['series']),
    kept: row['id'] === null ? undefined : keptIn(row),
  }));
}

/** By which a number is found, in whatever letter case: made here, since a function in the join would keep its index away. */
export function keyOf(number: string): string {
  return number.toUpperCase();
}

/** The digits behind the last slash; undefined when there are none, or more than a number holds exactly. */
function sequenceOf(number: string): number | undefined {
  const digits = /\/(\d{1,15})$/.exec(number)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function keptIn(row: Row): Kept {
  const text = (name: string) => (row[name] === null ? null : String(row[name]));
  return {
    id: String(row['id']),
    number: String(row['number']),
    atcud: text('atcud'),
    type: row['type'] as DocumentType,
    status: row['status'] as Kept['status'],
    situation: text('situation'),
    date: String(row['date']),
    customerNif: text('customer_nif'),
    customerName: String(row['customer_name']),
    net: String(row['net']),
    tax: String(row['tax']),
    gross: String(row['gross']),
    importId: String(row['import_id']),
  };
}

/** The line as a new row. Who is not named and has no NIF, or that of the final consumer, is the final consumer. */
export function keptOf(document: EfaturaDocument, id: string, importId: string): Kept {
  const { number, type, date, net, tax, gross, acquirerNif } = document;
  const consumer = acquirerNif === undefined || acquirerNif === finalConsumerNif;
  return {
    id,
    number,
    atcud: document.atcud ?? null,
    type,
    status: document.canceled ? 'CANCELED' : 'ISSUED',
    situation: document.situation ?? null,
    date,
    customerNif: acquirerNif ?? null,
    customerName: document.acquirerName ?? (consumer ? 'Consumidor final' : acquirerNif),
    net,
    tax,
    gross,
    importId,
  };
}

/**
 * What is kept once the file's line is taken in. A cancellation stays: an older export does not take it back. Where the
 * file has no column for something, what is known of it stays.
 */
export function updatedBy(kept: Kept, document: EfaturaDocument, importId: string): Kept {
  const next = keptOf(document, kept.id, importId);
  if (kept.status === 'CANCELED' && next.status === 'ISSUED') return kept;
  return {
    ...next,
    number: kept.number,
    atcud: next.atcud ?? kept.atcud,
    situation: next.situation ?? kept.situation,
    customerName:
      document.acquirerName === undefined && next.customerNif === kept.customerNif
        ? kept.customerName
        : next.customerName,
  };
}

const compared = [
  'atcud',
  'type',
  'status',
  'situation',
  'date',
  'customerNif',
  'customerName',
  'net',
  'tax',
  'gross',
] as const satisfies readonly (keyof Kept)[];

/** Whether nothing that is shown differs: id, number as written and import are not compared. */
export function sameAs(one: Kept, other: Kept): boolean {
  return compared.every((name) => one[name] === other[name]);
}

/** Inserts the new ones and updates the others, in one round trip. */
export async function writeKept(
  tx: Tx,
  rows: readonly { readonly row: Kept; readonly isNew: boolean }[],
): Promise<void> {
  const texts = [true, false].map((isNew) =>
    JSON.stringify(
      rows
        .filter((one) => one.isNew === isNew)
        .map(({ row }) => ({ ...row, key: keyOf(row.number), sequence: sequenceOf(row.number) })),
    ),
  );
  await tx.batch([
    [insertKept, [texts[0]]],
    [updateKept, [texts[1]]],
  ]);
}
