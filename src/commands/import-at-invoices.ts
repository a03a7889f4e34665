/** `certo import at-invoices`: what the AT lists of a company's documents, from e-Fatura's export, into its list. */
import { uuidv7 } from 'uuidv7';
import { problemSentence } from '../at/efatura/problems.ts';
import { openDb } from '../db/open.ts';
import type { Language } from '../fiscal/refusal.ts';
import { type ImportReport, importAtInvoices } from '../operations/imported/import-at-invoices.ts';
import { exit } from './exit.ts';
import { efaturaExport, given, within } from './given-file.ts';
import { enterHouse, findCompany, type OfCompany } from './guest.ts';
import { type Outside, tell, tellJson } from './outside.ts';
import { counted, grouped, openProgress, watched } from './progress.ts';

export interface ImportOptions extends OfCompany {
  readonly dryRun?: boolean;
  readonly language?: Language;
}

/** `-` is standard input. All of the file or nothing of it; ends with 1 when a line has a problem. */
export async function importFile(outside: Outside, options: ImportOptions, file: string): Promise<number> {
  const standard = file === '-';
  const { size, bytes } = standard
    ? { size: 0, bytes: within(outside.stdin, efaturaExport, 'Standard input') }
    : await given(file, efaturaExport);
  const house = await enterHouse(outside);
  const company = await findCompany(house.owner, options.company);
  // One transaction whatever the size of the file, and whoever pipes one in may be slow.
  const db = await openDb({ ...house.target, max: 1, statementTimeout: 0, applicationName: 'certo import' });
  outside.atEnd(() => db.close());
  const progress = standard ? undefined : openProgress(outside.stderr, 'bytes', size, () => performance.now());
  const asked = { companyId: company.id, actor: 'import', newId: uuidv7, dryRun: options.dryRun };
  const report = await importAtInvoices(db, asked, watched(bytes, progress)).finally(() => progress?.end());
  if (options.json === true) tellJson(outside, jsonOf(report, options));
  else tellReport(outside, report, options);
  return report.problemCount === 0 ? exit.ok : exit.no;
}

function tellReport(outside: Outside, report: ImportReport, { language = 'en', dryRun }: ImportOptions): void {
  const { problems, problemCount, added, changed, known, own, changes } = report;
  for (const problem of problems) tell(outside, `${problem.line}: ${problemSentence(problem, language)}`);
  if (problemCount > problems.length) tell(outside, `… ${grouped(problemCount - problems.length)} more`);
  if (problemCount > 0) {
    tell(outside, `${counted(problemCount, 'problem')}: nothing was imported. Correct the file and import it again.`);
    return;
  }
  for (const { line, number } of changes) tell(outside, `${line}: ${number} changed at the AT.`);
  const what = `${grouped(added)} new, ${grouped(changed)} changed, ${grouped(known)} known, ${grouped(own)} issued here.`;
  tell(outside, dryRun === true ? `Would be imported: ${what}` : `Imported: ${what}`);
}

function jsonOf(report: ImportReport, { language = 'en', dryRun = false }: ImportOptions) {
  const problems = report.problems.map((problem) => ({ ...problem, message: problemSentence(problem, language) }));
  return { ok: report.problemCount === 0, dryRun, ...report, problems };
}
