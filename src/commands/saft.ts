/** `certo saft export`: the SAF-T file of a company's period, to a file or to standard output. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { syncFolder } from '../db/data-directory.ts';
import { openDb } from '../db/open.ts';
import { partOf } from '../db/part-file.ts';
import { earliest_day } from '../fiscal/dates.ts';
import { isOwnNif } from '../fiscal/nif.ts';
import type { SaftEncoding } from '../fiscal/saft/encode.ts';
import type { SaftProgram } from '../fiscal/saft/source.ts';
import { isDay } from '../fiscal/time.ts';
import { exportSaft, type SaftWritten } from '../operations/saft/export-saft.ts';
import { commentOf, producerForm, programOf } from '../operations/saft/program.ts';
import { CommandError, exit } from './exit.ts';
import { checkPlace } from './given-file.ts';
import { enterHouse, findCompany, type OfCompany } from './guest.ts';
import type { House } from './house.ts';
import { boundMode } from './installation.ts';
import { type Outside, remark, tell, tellJson } from './outside.ts';
import { counted, grouped, openProgress, type Progress } from './progress.ts';
import { version } from './version.ts';

export interface ExportOptions extends OfCompany {
  readonly from: string;
  readonly to: string;
  /** Without it: standard output. */
  readonly out?: string;
  readonly encoding?: SaftEncoding;
  readonly producer?: string;
  readonly producerNif?: string;
}

/**
 * The days `from` to `to`, both included, in one snapshot; a file is there when it is whole, and must not have been
 * before.
 */
export async function exportFile(outside: Outside, options: ExportOptions): Promise<number> {
  checkOptions(options);
  const house = await enterHouse(outside);
  const company = await findCompany(house.owner, options.company);
  const mode = (await boundMode(house.owner)) ?? house.config.atMode;
  const program = programAsked(house, options, mode === 'production');
  if (options.out !== undefined) await checkPlace(options.out);
  // A large period takes longer than a request may, and a terminal can be slow to take it.
  const db = await openDb({ ...house.target, max: 1, statementTimeout: 0, applicationName: 'certo saft' });
  outside.atEnd(() => db.close());
  let progress: Progress | undefined;
  const asked = {
    companyId: company.id,
    from: options.from,
    to: options.to,
    program,
    encoding: options.encoding,
    comment: commentOf(mode),
    began: (documents: number) => {
      progress = openProgress(outside.stderr, 'documents', documents, () => performance.now());
    },
    passed: (documents: number) => progress?.add(documents),
  };
  const written = await (options.out === undefined
    ? exportSaft(db, asked, (bytes) => put(outside.stdout, bytes))
    : intoFile(outside, options.out, (file) => exportSaft(db, asked, (bytes) => put(file, bytes)))
  ).finally(() => progress?.end());
  tellWritten(outside, options, written);
  return exit.ok;
}

function checkOptions({ from, to, out, json }: ExportOptions): void {
  for (const [name, day] of [
    ['--from', from],
    ['--to', to],
  ] as const) {
    if (!isDay(day)) throw new CommandError(exit.usage, `${name} ${day} is no day: write YYYY-MM-DD.`);
  }
  if (from < earliest_day) {
    throw new CommandError(
      exit.usage,
      `--from ${from} is before ${earliest_day}, the first day that SAF-T has room for.`,
    );
  }
  if (to < from) throw new CommandError(exit.usage, '--to is before --from.');
  if (json === true && out === undefined) {
    throw new CommandError(exit.usage, 'With --json, say where the file goes: --out FILE.');
  }
}

/** Who wrote the program: in production the holder of the AT's certificate, elsewhere nobody in particular. */
function programAsked({ config }: House, options: ExportOptions, production: boolean): SaftProgram {
  const { producer = config.producer.name, producerNif = config.producer.nif } = options;
  if (producerNif === undefined && production) {
    throw new CommandError(
      exit.usage,
      "Say whose program it is: CERTO_PRODUCER_NIF or --producer-nif, the NIF the AT's certificate is on.",
    );
  }
  if (producerNif !== undefined && !isOwnNif(producerNif)) {
    throw new CommandError(exit.usage, `--producer-nif ${producerNif} is no NIF.`);
  }
  if (!producerForm.test(producer)) {
    throw new CommandError(exit.usage, '--producer has 1 to 200 characters and no slash.');
  }
  return programOf({ producer, producerNif, version: version(), certificateNumber: config.certificateNumber });
}

/**
 * Under a name that nobody else has until it is whole and on the disk: a file that was cut off never looks like one to hand
 * in.
 */
async function intoFile<T>(outside: Outside, path: string, write: (file: Writable) => Promise<T>): Promise<T> {
  const part = partOf(path, 8);
  const file = createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true });
  await once(file, 'open');
  const remove = () => rm(part, { force: true });
  outside.atEnd(remove);
  // A full disk is told by the next write; nobody listening would end the process.
  file.on('error', () => undefined);
  try {
    const result = await write(file);
    file.end();
    await finished(file);
    // Somebody may have written it meanwhile.
    await checkPlace(path);
    await rename(part, path);
    await syncFolder(dirname(path));
    return result;
  } catch (error) {
    file.destroy();
    await remove();
    throw error;
  }
}

async function put(output: Writable, bytes: Uint8Array): Promise<void> {
  if (output.destroyed) throw goneOf(output);
  if (output.write(bytes)) return;
  const closed = new AbortController();
  const close = () => closed.abort();
  output.once('close', close);
  try {
    await once(output, 'drain', { signal: closed.signal });
  } catch {
    throw goneOf(output);
  } finally {
    output.off('close', close);
  }
}

function goneOf(output: Writable): Error {
  const { errored } = output;
  if (errored !== null && (errored as NodeJS.ErrnoException).code !== 'EPIPE') return errored;
  return new CommandError(exit.environment, 'Whoever read the output went away.');
}

function tellWritten(outside: Outside, { out, json, from, to }: ExportOptions, { counts, bytes }: SaftWritten): void {
  if (json === true) {
    tellJson(outside, { file: out, from, to, bytes, documents: counts });
    return;
  }
  const what = countedDocuments(counts);
  // Where the file itself is the answer, a word about it stands beside.
  if (out === undefined) remark(outside, `${what}: ${grouped(bytes)} bytes.`);
  else tell(outside, `${what}: ${grouped(bytes)} bytes in ${out}.`);
}

/** "2 invoices and notes, 1 transport document, 0 pro formas, 1 receipt", from the documents of each family. */
export function countedDocuments({
  SALES = 0,
  TRANSPORT = 0,
  PROFORMA = 0,
  RECEIPT = 0,
}: SaftWritten['counts']): string {
  return [
    counted(SALES, 'invoice or note', 'invoices and notes'),
    counted(TRANSPORT, 'transport document'),
    counted(PROFORMA, 'pro forma'),
    counted(RECEIPT, 'receipt'),
  ].join(', ');
}
