/** `certo restore`: a backup into an empty database, verified before it can be used. */
import { timingSafeEqual } from 'node:crypto';
import { resolve } from 'node:path';
import { readConfig } from '../config.ts';
import { type BackupRead, readBackup } from '../db/backup/read-backup.ts';
import { migrationsOf, restoreBackup } from '../db/backup/restore-backup.ts';
import { markRestore, unmarkRestore } from '../db/data-directory.ts';
import { migrationFiles } from '../db/migrate.ts';
import { Refusal } from '../fiscal/refusal.ts';
import { backupSeal, type MasterKey } from '../keys/sealing.ts';
import { factsOf, wordsOf } from './backup.ts';
import { exit } from './exit.ts';
import { sizeOfFile } from './given-file.ts';
import { dataDirectory, openServer } from './house.ts';
import { masterKeyFile, needMasterKey } from './master-key.ts';
import { type Common, type Outside, remark, tell, tellJson } from './outside.ts';
import { counted, openProgress, type Progress } from './progress.ts';
import { type Settled, settleRestore } from './settle-restore.ts';
import { describe } from './verify.ts';

export interface RestoreOptions extends Common {
  readonly nothingLost?: boolean;
}

/** As many findings are listed; all are recorded. */
const most_listed = 1_000;

/**
 * Ends with 1 when the restored books have findings: they are loaded all the same, and those companies issue nothing
 * until it is resolved.
 */
export async function restore(outside: Outside, options: RestoreOptions, file: string): Promise<number> {
  const config = readConfig(outside.env);
  const directory = await dataDirectory(outside, config);
  const keyFile = masterKeyFile(config.masterKeyFile, directory);
  const path = resolve(outside.cwd, file);
  // The file and its key first: nothing is made in a folder, and nothing asked of a database, for one that is no good.
  const size = await sizeOfFile(path);
  const bar = (what: string, total: number): Progress =>
    openProgress(outside.stderr, what, total, () => performance.now());
  const master = await needMasterKey(keyFile);
  const reading = bar('bytes', size);
  const read = await readBackup(path, { passed: (bytes) => reading.add(bytes) }).finally(() => reading.end());
  refuseAnother(read, master, keyFile);
  migrationsOf(read.manifest, await migrationFiles());

  const log = (line: string) => remark(outside, line);
  // As a service: none works on the folder, and none can start until this is done.
  const { target, directory: place } = await openServer(outside, config, directory, { as: 'service', log, anew: true });
  const loading = bar('bytes', size);
  let checking: Progress | undefined;
  const settled = await restoreBackup(target, {
    path,
    read,
    passed: (bytes) => loading.add(bytes),
    began: () => markRestore(place, read.digest),
    settle: (client) => {
      loading.end();
      return settleRestore(client, {
        read,
        master,
        nothingLost: options.nothingLost === true,
        began: (documents) => {
          checking = bar('documents', documents);
        },
        passed: (documents) => checking?.add(documents),
      });
    },
  }).finally(() => (checking ?? loading).end());
  await unmarkRestore(place);
  if (options.json === true) tellJson(outside, jsonOf(read, settled));
  else tellSettled(outside, read, settled, options.nothingLost === true);
  return settled.findings.length === 0 ? exit.ok : exit.no;
}

/** Only the books of this master key: their seals and secrets need it, and nobody else can have written them. */
function refuseAnother({ digest, seal }: BackupRead, master: MasterKey, file: string): void {
  if (!timingSafeEqual(seal, backupSeal(master)(digest))) throw new Refusal('BACKUP_OF_ANOTHER', { file });
}

function jsonOf(read: BackupRead, { findings, ...settled }: Settled) {
  const list = findings.slice(0, most_listed).map(({ evidence: _evidence, ...told }) => told);
  return { ok: findings.length === 0, backup: factsOf(read), ...settled, findings: findings.length, list };
}

function tellSettled(outside: Outside, read: BackupRead, settled: Settled, nothingLost: boolean): void {
  const { number, companies, documents, findings, apiKeys, unknownRequests } = settled;
  for (const finding of findings.slice(0, most_listed)) tell(outside, describe(finding));
  const what = `${counted(documents, 'issued document')} of ${counted(companies, 'company', 'companies')}`;
  tell(outside, `Restored: ${wordsOf(read)}. Restore number ${number} of these books.`);
  tell(
    outside,
    findings.length === 0
      ? `Verified: ${what}, nothing wrong.`
      : `${counted(findings.length, 'finding')} in ${what}: these companies issue nothing until they are resolved (certo verify --resolve).`,
  );
  tellSeries(outside, settled, nothingLost);
  const keys = apiKeys.map(({ nif, count }) => `${nif}: ${count}`).join(', ');
  const working = apiKeys.reduce((sum, { count }) => sum + count, 0);
  if (working > 0)
    tell(
      outside,
      `${counted(working, 'live API key')} as of the backup (${keys}): revoke again what was revoked since (certo api-key revoke).`,
    );
  if (unknownRequests > 0)
    tell(
      outside,
      `Under way when the backup was taken: ${counted(unknownRequests, 'request')}. What became of that is not known here.`,
    );
}

function tellSeries(outside: Outside, { closed }: Settled, nothingLost: boolean): void {
  if (nothingLost) {
    tell(outside, 'The series stay open: by your word nothing was issued after the backup.');
    return;
  }
  for (const { nif, documentType, code, lastNumber } of closed)
    tell(outside, `${nif}  ${documentType} ${code}: closed; its last number here is ${lastNumber}`);
  tell(
    outside,
    `${counted(closed.length, 'open series', 'open series')} closed: documents may have been issued after the backup, and a number is never used twice.`,
  );
  tell(outside, 'Next: open new series (certo series register), enter the lost documents from their duplicates');
  tell(outside, '(certo recover), then finalise the closed series in the tax portal with their true last numbers.');
  tell(outside, 'Cancel again what was cancelled after the backup: the tax authority knows it, these books do not.');
}
