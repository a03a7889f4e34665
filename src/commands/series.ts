/** `certo series`: registering series at the AT, listing them, and choosing the default. */
import { type DocumentType, documentTypes } from '../fiscal/document.ts';
import { mayBeCashVat, type SeriesKind } from '../fiscal/regime.ts';
import { firstDay } from '../operations/numbering.ts';
import { type DefaultOutcome, makeDefault } from '../operations/series/default-series.ts';
import { registerSeries } from '../operations/series/registration.ts';
import { connectSeries } from './connect-series.ts';
import { CommandError, endingOf, exit } from './exit.ts';
import { enterHouse, findCompany, needId, type OfCompany, openGuestDb } from './guest.ts';
import { type Outside, remark, tell, tellJson } from './outside.ts';
import { table } from './table.ts';

export interface RegisterOptions extends OfCompany {
  readonly code: string;
  readonly type?: readonly DocumentType[];
  readonly allTypes?: boolean;
  readonly kind?: keyof typeof kinds;
  readonly cashVat?: boolean;
}

/** The words of `--kind`, and tipoSerie of the AT's series service. */
export const kinds = { normal: 'N', training: 'F', recovery: 'R' } as const satisfies Record<string, SeriesKind>;
const kindWords: Readonly<Record<SeriesKind, string>> = { N: 'normal', F: 'training', R: 'recovery' };

/**
 * Each type by itself: one that fails keeps no other from it, and the worst decides the exit code. Those that are
 * there are told as such.
 */
export async function register(outside: Outside, options: RegisterOptions): Promise<number> {
  const cashVat = options.cashVat === true;
  const kind = kinds[options.kind ?? 'normal'];
  const every = (Object.keys(documentTypes) as DocumentType[]).filter((type) => !cashVat || mayBeCashVat(type));
  const wanted = options.allTypes === true ? every : (options.type ?? []);
  if (wanted.length === 0 || (options.allTypes === true && options.type !== undefined)) {
    throw new CommandError(exit.usage, 'Say which types: --type TYPE (repeat it for more), or --all-types.');
  }
  const house = await enterHouse(outside);
  const company = await findCompany(house.owner, options.company);
  const world = await connectSeries(outside, house);
  await world.up();
  const results = [];
  const failures = new Map<string, DocumentType[]>();
  let worst: number = exit.ok;
  for (const documentType of wanted) {
    try {
      results.push(await registerSeries(world, company.id, { documentType, code: options.code, kind, cashVat }));
    } catch (error) {
      // What was registered stays; the others are told, and the command can be repeated.
      const { code, lines } = endingOf(error);
      if (code === exit.fault) throw error;
      worst = Math.max(worst, code);
      for (const line of lines) failures.set(line, [...(failures.get(line) ?? []), documentType]);
    }
  }
  // What stops them all for one reason is said once.
  for (const [line, types] of failures) remark(outside, `${types.join(', ')}: ${line}`);
  if (options.json === true) tellJson(outside, results);
  else {
    const rows = results.map((r) => [
      r.documentType,
      r.code,
      r.validationCode,
      r.existed ? 'was registered' : 'registered',
      r.id,
    ]);
    tell(outside, table(['Type', 'Code', 'Validation', 'State', 'Id'], rows, 'Nothing was registered.'));
  }
  return worst;
}

/** In place of the one that is the default, which stays active. Ends with 1 when it can't be one. */
export async function setDefault(outside: Outside, options: OfCompany, seriesId: string): Promise<number> {
  const id = needId(seriesId, 'a series');
  const house = await enterHouse(outside);
  const company = await findCompany(house.owner, options.company);
  const made = await makeDefault(await openGuestDb(outside, house), company.id, id);
  if (made.kind !== 'done') throw new CommandError(exit.no, whyNot(made));
  const { code, documentType, cashVat } = made;
  if (options.json === true) tellJson(outside, { id, code, documentType, cashVat, isDefault: true });
  else
    tell(outside, `The series ${code} is the default of ${documentType}${cashVat ? ' in the cash VAT scheme' : ''}.`);
  return exit.ok;
}

function whyNot(no: Exclude<DefaultOutcome, { kind: 'done' }>): string {
  switch (no.kind) {
    case 'no-series':
      return 'The company has no such series: see certo series list.';
    case 'not-active':
      return `The series ${no.code} is ${no.status}, not active.`;
    case 'other-kind':
      return no.seriesKind === 'F'
        ? `The series ${no.code} is for training: documents are practice only where they name it.`
        : `The series ${no.code} is for recovery: only certo recover numbers in it.`;
  }
}

/** In every state. */
export async function list(outside: Outside, options: OfCompany): Promise<number> {
  const { owner } = await enterHouse(outside);
  const { id } = await findCompany(owner, options.company);
  const { rows } = await owner.query(
    `select s.id, document_type, code, status, validation_code, is_default, kind, cash_vat, last_number, last_date, ${firstDay}
     from certo.series s where company_id = $1 order by document_type, kind, cash_vat, is_default desc, code`,
    [id],
  );
  const series = rows.map((row) => ({
    id: row.id as string,
    documentType: row.document_type as DocumentType,
    code: row.code as string,
    status: row.status as string,
    validationCode: row.validation_code as string | null,
    isDefault: row.is_default as boolean,
    kind: kindWords[row.kind as SeriesKind],
    cashVat: row.cash_vat as boolean,
    startDate: row.first_day as string,
    lastNumber: Number(row.last_number),
    lastDate: row.last_date as string | null,
  }));
  if (options.json === true) tellJson(outside, series);
  else {
    const cells = series.map((s) => [
      s.documentType,
      s.code,
      s.cashVat ? `${s.kind}, cash VAT` : s.kind,
      s.isDefault ? `${s.status} (default)` : s.status,
      s.validationCode ?? '-',
      s.startDate,
      s.lastNumber,
      s.lastDate ?? '-',
      s.id,
    ]);
    const headings = ['Type', 'Code', 'Kind', 'State', 'Validation', 'Start', 'Last', 'Date', 'Id'];
    tell(outside, table(headings, cells, 'The company has no series: certo series register --help'));
  }
  return exit.ok;
}
