/** The SAF-T of a period as a download. */
import { statement } from '../../db/transact.ts';
import { tooEarly } from '../../fiscal/dates.ts';
import type { Day, Region } from '../../fiscal/document.ts';
import { type Problem, refuseAll } from '../../fiscal/refusal.ts';
import { addDays, parseDay } from '../../fiscal/time.ts';
import { closed, day, dayOfBooks } from '../fields.ts';
import { Download, defineDownload } from '../operation.ts';
import { exportSaft } from './export-saft.ts';
import { commentOf } from './program.ts';

/** A year that begins anywhere, in a leap year too. */
const longest_days = 366;

const readIssuer = statement(
  'saft_issuer',
  'select c.taxpayer_number from certo.companies c where c.id = certo.current_company()',
);

export const getSaft = defineDownload({
  name: 'getSaft',
  route: 'GET /saft',
  tag: 'SAF-T',
  summary: 'Download the SAF-T of a period',
  description:
    'SAF-T (PT) 1.04_01 of every numbered document dated in the period: invoices, notes, receipts, transport documents and pro formas, cancelled ones too, out of one snapshot of the books.',
  media: 'application/xml',
  query: closed({
    fromDate: dayOfBooks('First document date.'),
    toDate: day('Last document date, at most a year later.'),
  }),
  access: { key: true },
  refuses: [],
  async load(tx, asked) {
    const [row] = await tx.query(readIssuer);
    return { ...periodOf(asked.query, asked.principal.region), nif: String(row!['taxpayer_number'] ?? '') };
  },
  show({ from, to, nif }, { principal }, world) {
    const asked = {
      companyId: principal.companyId,
      from,
      to,
      program: world.program,
      comment: commentOf(world.atMode),
    };
    return new Download(`saft-${nif}-${from}-${to}.xml`, (sink) => exportSaft(world.longReads, asked, sink));
  },
});

/** Throws INVALID_REQUEST: DATE_TOO_EARLY, PERIOD_BACKWARDS, PERIOD_TOO_LONG. */
function periodOf(asked: { readonly fromDate: string; readonly toDate: string }, region: Region) {
  const from = parseDay(asked.fromDate, region)!;
  const to = parseDay(asked.toDate, region)!;
  refuseAll([...tooEarly('?fromDate', from), ...lengthProblems(from, to)]);
  return { from, to };
}

function lengthProblems(from: Day, to: Day): Problem[] {
  const pointer = '?toDate';
  if (to < from) return [{ code: 'PERIOD_BACKWARDS', pointer }];
  // After the last year of the calendar no day is written any more.
  const latest = from < '9999' ? addDays(from, longest_days - 1) : '9999-12-31';
  return to > latest ? [{ code: 'PERIOD_TOO_LONG', pointer, facts: { latest } }] : [];
}
