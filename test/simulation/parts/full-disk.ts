/**
 * The disk is full under load, then it is not. On a small file system of its own where one may be mounted (root on
 * Linux); elsewhere the server's files may not grow any more (RLIMIT_FSIZE).
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterFolder } from '../../../src/db/cluster.ts';
import { readPidFile } from '../../../src/db/postmaster.ts';
import { type Harm, harmed } from '../database-harm.ts';
import { openGround } from '../ground.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';
import { childrenOf } from '../processes.ts';

export const part: Part = {
  name: 'full-disk',
  title: 'no room on the disk under load, then room again',
  unit: 'times',
  target: 20,
  run,
};

async function run(options: RunOptions): Promise<Outcome> {
  const mounted = mountSmall();
  if (mounted === undefined && !canFill()) throw new Error('neither mount nor prlimit can be used here');
  if (mounted === undefined) return harmed('disk', await limitedFiles(), options);
  try {
    return await harmed('disk', await smallDisk(mounted), options);
  } finally {
    unmount(mounted);
  }
}

/** A file system in memory, or undefined where that is not allowed. */
function mountSmall(): string | undefined {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-small-'));
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m,mode=0711', 'certo-sim', folder]).status === 0) return folder;
  rmSync(folder, { recursive: true });
  return undefined;
}

async function smallDisk(within: string): Promise<Harm> {
  chmodSync(within, 0o711);
  const ground = await openGround({ ownDatabase: true, within });
  const ballast = join(within, 'ballast');
  return {
    ground,
    serve: () => ground.serve(),
    mustHurt: true,
    isTold: true,
    async strike(chance, { acts }) {
      await acts(chance.whole(1, 30));
      // All but a little: the server meets the end in the middle of its work. What grows first is up to it.
      const { bavail, bsize } = statfsSync(within);
      const left = chance.whole(0, 64) * 4096;
      try {
        writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - left)));
      } catch (error) {
        // The server was faster: then it is full all the same.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
      // The log has its files ready: a new one is asked for, as hours of work would.
      await switchLog(ground);
      await acts(Number.MAX_SAFE_INTEGER);
    },
    heal: () => Promise.resolve(rmSync(ballast, { force: true })),
  };
}

/** Several at once: what was kept in reserve is used up. */
async function switchLog({ owner }: Awaited<ReturnType<typeof openGround>>): Promise<void> {
  for (let i = 0; i < 3; i += 1) {
    await owner
      .query(`reset role; select pg_logical_emit_message(false, 'certo', 'sim'); select pg_switch_wal()`)
      .catch(() => undefined);
  }
}

/** Where nothing may be mounted: a file of the server's that grows beyond a size can't be written (Linux, util-linux). */
async function limitedFiles(): Promise<Harm> {
  const ground = await openGround({ ownDatabase: true });
  const limit = async (fsize: string): Promise<void> => {
    const first = (await readPidFile(clusterFolder(ground.directory)))?.pid;
    if (first === undefined) return;
    // Root without that capability may limit nobody else's processes: as their own user it may.
    const { uid, gid } = statSync(clusterFolder(ground.directory));
    const as = process.getuid?.() === 0 ? { uid, gid } : {};
    // The first one first: whoever it starts from then on has it too.
    for (const pid of [first, ...childrenOf(first)])
      spawnSync('prlimit', ['--pid', String(pid), `--fsize=${fsize}:`], { ...as, cwd: '/' });
  };
  return {
    ground,
    serve: () => ground.serve(),
    mustHurt: true,
    async strike(chance, { acts }) {
      await acts(chance.whole(1, 30));
      // Nothing is written beyond so many bytes of any file: its log, whose files have 16 MiB, is soon there.
      await limit(String(chance.whole(64, 512) * 1024));
      await acts(Number.MAX_SAFE_INTEGER);
    },
    heal: () => limit('unlimited'),
  };
}

/** Whether this machine has one of the two. */
export function canFill(): boolean {
  const mounted = mountSmall();
  if (mounted !== undefined) unmount(mounted);
  return mounted !== undefined || spawnSync('prlimit', ['--version']).status === 0;
}

function unmount(folder: string): void {
  // Lazily: processes that are just ending may still be in it.
  spawnSync('umount', ['-l', folder]);
  rmSync(folder, { recursive: true, force: true });
}
