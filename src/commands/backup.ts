/** `certo backup`: one file of everything in the database, while the service works; `certo backup check`: is a file whole. */
import { rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type BackupRead, readBackup } from '../db/backup/read-backup.ts';
import { partsIn, writeBackup } from '../db/backup/write-backup.ts';
import { openOwner } from '../db/open.ts';
import { backupSeal } from '../keys/sealing.ts';
import { exit } from './exit.ts';
import { checkPlace, sizeOf } from './given-file.ts';
import { enterHouse } from './guest.ts';
import { masterKeyFile, openMasterKey } from './master-key.ts';
import { type Common, type Outside, remark, tell, tellJson } from './outside.ts';
import { counted, grouped, openProgress, type Progress } from './progress.ts';
import { instantWords } from './restores.ts';
import { version } from './version.ts';

export interface BackupOptions extends Common {
  readonly out?: string;
}

/** To a file that must not be there yet. Throws BACKUP_EXISTS where it came meanwhile. Works with the tables of an earlier version too. */
export async function backup(outside: Outside, { out, json }: BackupOptions): Promise<number> {
  const path = resolve(outside.cwd, out ?? `certo-${fileInstant(new Date())}.backup`);
  await checkPlace(path);
  // Before an upgrade there has to be a way back: what an earlier version left is copied as it is.
  const house = await enterHouse(outside, true);
  const master = await openMasterKey(masterKeyFile(house.config.masterKeyFile, house.directory), house.owner);
  const owner = await openOwner({ ...house.target, max: 1, applicationName: 'certo backup' });
  outside.atEnd(() => owner.end());
  let progress: Progress | undefined;
  const written = await writeBackup(owner, {
    path,
    certo: version(),
    seal: backupSeal(master),
    began: (rows) => {
      progress = openProgress(outside.stderr, 'rows', rows, () => performance.now());
    },
    passed: (rows) => progress?.add(rows),
    // First of all when the process is told to end.
    drafted: (draft) => outside.atEnd(() => rm(draft, { force: true })),
  }).finally(() => progress?.end());
  const { bytes } = written;
  const parts = await partsIn(dirname(path));
  if (parts.length > 0)
    remark(
      outside,
      `Beside it there is what backups left that were broken off: ${parts.join(', ')}. Remove it, unless one is being written now.`,
    );
  if (json === true) tellJson(outside, { file: path, bytes, ...factsOf(written) });
  else {
    tell(outside, `Backed up ${wordsOf(written)}: ${grouped(bytes)} bytes in ${path}.`);
    tell(outside, 'The master key is not in it: keep a copy of it, in another place.');
  }
  return exit.ok;
}

/** Needs neither database nor master key, so it can't tell whose backup it is. Throws BACKUP_DAMAGED. */
export async function checkBackup(outside: Outside, { json }: Common, file: string): Promise<number> {
  const path = resolve(outside.cwd, file);
  const size = await sizeOf(path);
  const progress = openProgress(outside.stderr, 'bytes', size, () => performance.now());
  const read = await readBackup(path, { passed: (bytes) => progress.add(bytes) }).finally(() => progress.end());
  if (json === true) tellJson(outside, { ok: true, file: path, bytes: size, ...factsOf(read) });
  else tell(outside, `Whole: ${wordsOf(read)}, written by Certo ${read.manifest.certo}.`);
  return exit.ok;
}

type Described = Pick<BackupRead, 'manifest' | 'digest'>;

/** What a backup is, for JSON. */
export function factsOf({ manifest, digest }: Described) {
  const { certo, postgres, takenAt, installation, migrations, tables } = manifest;
  const rows = Object.fromEntries(tables.map((table) => [table.name, table.rows]));
  return { digest, certo, postgres, takenAt, installation, migration: migrations.at(-1)?.name ?? null, rows };
}

/** "The books of 2026-11-21 23:57:15 UTC, 3 companies and 120 documents" */
export function wordsOf({ manifest }: Pick<Described, 'manifest'>): string {
  const rows = (name: string) => manifest.tables.find((table) => table.name === name)?.rows ?? 0;
  const what = `${counted(rows('companies'), 'company', 'companies')} and ${counted(rows('documents'), 'document')} with drafts`;
  return `the books of ${instantWords(manifest.takenAt)}, ${what}`;
}

/** An instant as a part of a file's name, "20261121T235715Z". */
function fileInstant(instant: Date): string {
  return `${instant.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}
