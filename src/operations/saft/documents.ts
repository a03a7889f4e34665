/** The documents of a period, read in portions along each series, as SAF-T tells them. */
import type { Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { Content, Day, Region } from '../../fiscal/document.ts';
import { assert } from '../../fiscal/refusal.ts';
import type { SaftDocument } from '../../fiscal/saft/source.ts';
import { laterText } from '../../fiscal/time.ts';
import { identity } from './masters.ts';
import type { Stretch } from './period.ts';

/** Documents per round trip: 300 of three lines are 1 MB of JSON. */
const most_documents = 300;
/** How many are asked for before it is known how long they are. */
const first_documents = 16;
// Of JSON, but for the one document that reaches beyond it: of a thousand lines with their texts one is megabytes.
const most_bytes = 2 * 1024 * 1024;

// As many, in order, as fit: those before which there is less than the most. The text is made once, measured and sent.
const readPortion = statement(
  'saft_documents',
  `select d.* from (
     select d.*, sum(octet_length(d.content)) over (order by d.sequence rows between unbounded preceding and 1 preceding) as before from (
       select d.id, d.number, d.sequence, d.atcud, d.date, d.system_entry, d.hash, d.key_version, d.certificate_number, d.issued_by,
         d.status, d.canceled_at, d.canceled_by, d.cancel_reason, d.at_doc_code as at_code, d.content::text as content, ${identity} as identity
       from certo.documents d
       left join certo.customers c on c.company_id = certo.current_company() and c.id = d.customer_id
       where d.company_id = certo.current_company() and d.series_id = $1 and d.sequence > $2 and d.sequence <= $3
         and d.date between $4 and $5
       order by d.sequence limit $6) d) d
   where coalesce(d.before, 0) < ${most_bytes} order by d.sequence`,
);

// The first invoice in the period of each pro forma or transport document of it: F is one whose invoice is in the same file
// (Portaria 302/2016, WorkStatus and MovementStatus). Once there was one it stays invoiced, also when that is cancelled: the
// AT was told so, and a cancelled invoice stands in the file all the same.
const readInvoiced = statement(
  'saft_invoiced',
  `select distinct on (d.id) d.id, s.issued_at, s.issued_by
   from certo.documents d
   join certo.documents s on s.company_id = certo.current_company() and s.family = 'SALES' and s.number is not null
     and s.origin_id = d.id and s.date between $1 and $2
   where d.company_id = certo.current_company() and d.number is not null and d.date between $1 and $2
     and d.family in ('PROFORMA', 'TRANSPORT')
   order by d.id, s.issued_at, s.sequence`,
);

/** When an invoice of the period was first made of a document, and by whom. */
export type Invoiced = ReadonlyMap<string, { readonly at: Date; readonly by: string }>;

/** By id of the pro forma or transport document. Days are those of the documents, it and its invoice; both included. */
export async function readInvoicedOnes(tx: Tx, from: Day, to: Day): Promise<Invoiced> {
  const rows = await tx.query(readInvoiced, [from, to]);
  return new Map(
    rows.map((row) => [String(row['id']), { at: row['issued_at'] as Date, by: String(row['issued_by']) }]),
  );
}

export interface DocumentsAsked {
  readonly stretches: readonly Stretch[];
  readonly from: Day;
  readonly to: Day;
  readonly region: Region;
  readonly invoiced: Invoiced;
}

/** The next portion is on its way while the present one is written, unless that is long: then one is held at a time. */
export async function* documentsOf(tx: Tx, asked: DocumentsAsked): AsyncGenerator<SaftDocument[]> {
  let most = first_documents;
  for (const stretch of asked.stretches) {
    const read = (after: number) => {
      const rows = tx.query(readPortion, [stretch.seriesId, after, stretch.last, asked.from, asked.to, most]);
      // Seen when it is awaited; when the writer gave up before, nobody does.
      rows.catch(() => undefined);
      return rows;
    };
    let coming: Promise<Row[]> | undefined;
    for (let after = stretch.first - 1; after < stretch.last; ) {
      const rows: Row[] = await (coming ?? read(after));
      assert(rows.length > 0, 'the last document of a stretch is in the period');
      after = Number(rows.at(-1)!['sequence']);
      const isCut = rows.length < most && after < stretch.last;
      // The server measures all that it is asked for: of long documents not many more than fit.
      most = Math.min(most_documents, (isCut ? rows.length : most) * 2);
      coming = isCut || after === stretch.last ? undefined : read(after);
      yield rows.map((row) => documentOf(row, stretch, asked));
    }
  }
}

function documentOf(row: Row, stretch: Stretch, { region, invoiced }: DocumentsAsked): SaftDocument {
  const content = JSON.parse(row['content'] as string) as Content;
  const issuedBy = String(row['issued_by']);
  return {
    content,
    identity: numberOf(row['identity']),
    issued: {
      number: String(row['number']),
      sequence: Number(row['sequence']),
      seriesCode: stretch.code,
      atcud: String(row['atcud']),
      date: String(row['date']),
      systemEntry: String(row['system_entry']),
      hash: String(row['hash']),
      keyVersion: Number(row['key_version']),
      certificateNumber: Number(row['certificate_number']),
    },
    ...statusOf(row, region, invoiced),
    issuedBy,
    kind: stretch.kind,
    atDocCode: textOf(row['at_code']),
  };
}

type Status = Pick<SaftDocument, 'status' | 'statusAt' | 'statusBy' | 'reason'>;

function statusOf(row: Row, region: Region, invoiced: Invoiced): Status {
  if (row['status'] === 'CANCELED') {
    const statusAt = laterText(row['canceled_at'] as Date, region, String(row['system_entry']));
    return { status: 'A', statusAt, statusBy: String(row['canceled_by']), reason: textOf(row['cancel_reason']) };
  }
  const invoice = invoiced.get(String(row['id']));
  if (invoice !== undefined) {
    const statusAt = laterText(invoice.at, region, String(row['system_entry']));
    return { status: 'F', statusAt, statusBy: invoice.by };
  }
  return { status: 'N', statusAt: String(row['system_entry']), statusBy: String(row['issued_by']) };
}

const numberOf = (value: unknown): number | undefined => (value === null ? undefined : Number(value));
const textOf = (value: unknown): string | undefined => (value === null ? undefined : String(value));
