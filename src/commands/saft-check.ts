/** `certo saft check`: what is wrong with anybody's SAF-T file, and how to mend it. */
import { createPublicKey } from 'node:crypto';
import { checkSaft, type SaftReport } from '../fiscal/saft/check/check-saft.ts';
import { severityWords } from '../fiscal/saft/check/finding-words.ts';
import { type Finding, findingSentence, plainFacts } from '../fiscal/saft/check/findings.ts';
import { CommandError, exit } from './exit.ts';
import { given, readGiven, saftFile, secret, within } from './given-file.ts';
import { type Common, type Outside, tell, tellJson } from './outside.ts';
import { counted, grouped, openProgress, watched } from './progress.ts';

export interface CheckOptions extends Common {
  /** Public keys: one for every version while the file has one, or version 1, 2 … in order. */
  readonly key?: readonly string[];
  readonly language?: 'en' | 'pt';
}

/** `-` is standard input. Ends with 1 when there are errors; hints alone are no error. */
export async function checkFile(outside: Outside, options: CheckOptions, file: string): Promise<number> {
  const keys = await Promise.all((options.key ?? []).map(readKey));
  // One key stands for whatever version it is of; several are of version 1, 2 … in order.
  const asked = keys.length > 1 ? { publicKeys: (version: number) => keys[version - 1] } : { onlyKey: keys[0] };
  const standard = file === '-';
  const { size, bytes } = standard
    ? { size: 0, bytes: within(outside.stdin, saftFile, 'Standard input') }
    : await given(file, saftFile);
  const progress = standard ? undefined : openProgress(outside.stderr, 'bytes', size, () => performance.now());
  const report = await checkSaft(watched(bytes, progress), asked);
  progress?.end();
  if (options.json === true) tellJson(outside, jsonOf(report, options.language ?? 'en'));
  else tellReport(outside, report, options.language ?? 'en');
  return report.errors === 0 ? exit.ok : exit.no;
}

async function readKey(path: string) {
  const pem = await readGiven(path, secret);
  // A public key would be made of it without a word; but whoever hands it around gives away what signs.
  if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(pem.toString('latin1'))) {
    throw new CommandError(
      exit.usage,
      `${path} holds a private key, which has no place here: give the public one (BEGIN PUBLIC KEY).`,
    );
  }
  try {
    return createPublicKey(pem);
  } catch {
    throw new CommandError(exit.usage, `${path} is no public key: it has to be PEM (BEGIN PUBLIC KEY).`);
  }
}

function tellReport(outside: Outside, report: SaftReport, language: 'en' | 'pt'): void {
  for (const finding of report.findings) tell(outside, line(finding, language));
  for (const [code, count] of Object.entries(report.counts)) {
    const shown = report.findings.filter((finding) => finding.code === code).length;
    if (count > shown) tell(outside, `… ${grouped(count - shown)} × ${code}`);
  }
  const { invoice, movement, work, payment } = report.documents;
  const { verified, unverified } = report.hashes;
  const documents = invoice + movement + work + payment;
  const [open, errors, warnings] = [unverified, report.errors, report.warnings].map(grouped);
  tell(
    outside,
    language === 'pt'
      ? `${counted(documents, 'documento')}; assinaturas: ${counted(verified, 'verificada')}, ${open} por verificar; erros: ${errors}, avisos: ${warnings}.`
      : `${counted(documents, 'document')}; signatures: ${grouped(verified)} verified, ${open} not to be verified; errors: ${errors}, warnings: ${warnings}.`,
  );
}

function line(finding: Finding, language: 'en' | 'pt'): string {
  const where = finding.document === undefined ? '' : ` ${finding.document}:`;
  return `${finding.line}: ${severityWords[finding.severity][language]}:${where} ${findingSentence(finding, language)}`;
}

function jsonOf(report: SaftReport, language: 'en' | 'pt') {
  const findings = report.findings.map((finding) => ({
    ...finding,
    facts: plainFacts(finding.facts),
    message: findingSentence(finding, language),
  }));
  return { ok: report.errors === 0, ...report, findings };
}
