/** After a history: every document, every list and every series as the model says. */
import type { Ground } from '../ground.ts';
import { codes, type DocumentType, validationCode } from './catalogue.ts';
import { type DocumentJson, shownIn } from './hear.ts';
import { type Player, Violation } from './player.ts';
import { aggregatesOf, type Doc, docOf, openOf, shownOf, statusOf, type World } from './world.ts';
import { differences } from './worlds.ts';

const statuses = ['DRAFT', 'ISSUED', 'PAID', 'CANCELED'];
const aggregates = ['DRAFT', 'PENDING', 'OVERDUE', 'UNPAID', 'PAID'];

interface SeriesJson {
  readonly documentType: string;
  readonly lastNumber: number;
  readonly lastDate?: string | null;
  readonly validationCode: string;
}

/** Throws a Violation with everything that differs. Nothing may be open any more. */
export async function compare(player: Player, ground: Ground): Promise<void> {
  const read = async <T>(path: string): Promise<{ status: number; json: T }> => {
    const headers = { 'x-api-key': player.stage.company.apiKey };
    for (;;) {
      const answer = await player.stage.fleet.send<T>(1, { method: 'GET', path, headers });
      if (answer !== undefined) return answer;
    }
  };
  const { docs } = player;
  const [all, series, documents, byStatus, byAggregate, books] = await Promise.all([
    read<DocumentJson[]>('/invoices?limit=100'),
    read<SeriesJson[]>('/series'),
    Promise.all(docs.map((doc) => read<DocumentJson>(`/invoices/${player.idOf(doc)}`))),
    Promise.all(statuses.map((status) => read<DocumentJson[]>(`/invoices?limit=100&status=${status}`))),
    Promise.all(aggregates.map((one) => read<DocumentJson[]>(`/invoices?limit=100&aggregatedStatus=${one}`))),
    ground.owner.query<{ id: string; outstanding: string; atcud: string | null }>(
      'select id, outstanding, atcud from certo.documents where company_id = $1',
      [player.stage.company.id],
    ),
  ]);

  const idsWhere = (world: World, holds: (doc: Doc) => boolean): string =>
    docs
      .flatMap((id) => docOf(world, id) ?? [])
      .filter(holds)
      .map(({ id }) => id)
      .sort((a, b) => a - b)
      .join();
  const idsIn = ({ json }: { json: readonly DocumentJson[] }): string =>
    json
      .map(({ id }) => player.docOf(id) ?? Number.NaN)
      .sort((a, b) => a - b)
      .join();
  const listed = (name: string, told: { json: readonly DocumentJson[] }, expected: string): string[] =>
    idsIn(told) === expected ? [] : [`the list of ${name} has the documents ${idsIn(told)} instead of ${expected}`];

  const faults = player.worlds.faults((world) => [
    ...documents.flatMap(({ status, json }, i) => {
      const doc = docOf(world, docs[i]!);
      if (doc === undefined) return status === 404 ? [] : [`the deleted document ${docs[i]} is read with ${status}`];
      if (status !== 200) return [`the document ${doc.id} is read with ${status}`];
      return differences(shownOf(world, doc), shownIn(json, player)).map((words) => `document ${doc.id}: ${words}`);
    }),
    ...Object.values(world.docs)
      .filter(({ id }) => !docs.includes(id))
      .map(({ id }) => `nobody was told of document ${id}`),
    ...listed(
      'all',
      all,
      idsWhere(world, () => true),
    ),
    ...all.json.flatMap((entry) => entryFaults(world, entry, player)),
    ...statuses.flatMap((name, i) =>
      listed(
        name,
        byStatus[i]!,
        idsWhere(world, (doc) => statusOf(world, doc) === name),
      ),
    ),
    ...aggregates.flatMap((name, i) =>
      listed(
        `aggregated ${name}`,
        byAggregate[i]!,
        idsWhere(world, (doc) => aggregatesOf(world, doc).includes(name)),
      ),
    ),
    ...seriesFaults(world, series.json),
    ...books.rows.flatMap((row) => rowFaults(world, player.docOf(row.id), row)),
  ]);
  if (faults.length > 0) throw new Violation(`afterwards ${faults.join('\n  ')}`);
}

/** An entry of a list says less than the document itself. */
function entryFaults(world: World, entry: DocumentJson, player: Player): string[] {
  const doc = docOf(world, player.docOf(entry.id) ?? Number.NaN);
  if (doc === undefined) return [`the list has the document ${entry.id}, which is not there`];
  const { totalToPay, withholdingTaxAmount, creditNotesTotal, revision, ...expected } = shownOf(world, doc);
  return differences(expected, shownIn(entry, player)).map((words) => `document ${doc.id} in the list: ${words}`);
}

/** Numbers 1 to n without a gap: the model counts them, and each document has shown its own. */
function seriesFaults(world: World, series: readonly SeriesJson[]): string[] {
  return (Object.keys(codes) as DocumentType[]).flatMap((type) => {
    const told = series.find(({ documentType }) => documentType === type);
    const { last = 0, date } = world.heads[type] ?? {};
    const isRight =
      told?.lastNumber === last && told.lastDate?.slice(0, 10) === date && told.validationCode === validationCode(type);
    return isRight ? [] : [`the series of ${type} is ${JSON.stringify(told)} instead of ${last} at ${date}`];
  });
}

/** What no reply shows: the balance in the books, and the ATCUD of every number. */
function rowFaults(world: World, id: number | undefined, row: { outstanding: string; atcud: string | null }): string[] {
  const doc = docOf(world, id ?? Number.NaN);
  if (doc === undefined) return [`the books have a document that is not there (${id})`];
  const { toPay } = openOf(world, doc);
  const atcud = doc.number === undefined ? null : `${validationCode(doc.type)}-${doc.number.split('/')[1]}`;
  return [
    ...(Math.round(Number(row.outstanding) * 100) === toPay
      ? []
      : [`document ${doc.id} has ${row.outstanding} outstanding instead of ${toPay} cents`]),
    ...(row.atcud === atcud ? [] : [`document ${doc.id} has the ATCUD ${row.atcud} instead of ${atcud}`]),
  ];
}
