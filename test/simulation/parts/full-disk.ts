/**
 * The disk is full under load, then it is not. On a small file system of its own where one may be mounted (root on
 * Linux); elsewhere the server's files may not grow any more (RLIMIT_FSIZE), which the service is started under.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Harm, harmed } from '../database-harm.ts';
import { openGround, type Running } from '../ground.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';

export const part: Part = {
  name: 'full-disk',
  title: 'no room on the disk under load, then room again',
  unit: 'times',
  target: 20,
  run,
};

async function run(options: RunOptions): Promise<Outcome> {
  const mounted = mountSmall();
  if (mounted === undefined) return harmed('disk', await limitedFiles(), options);
  try {
    return await harmed('disk', await smallDisk(mounted), options);
  } finally {
    spawnSync('umount', ['-l', mounted]);
    rmSync(mounted, { recursive: true, force: true });
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

async function limitedFiles(): Promise<Harm> {
  const ground = await openGround({ ownDatabase: true });
  let limited: Running | undefined;
  // Blocks of 512 bytes: 8 MiB, half of what a file of the server's log needs.
  const under = ['sh', '-c', 'ulimit -f 16384; exec "$@"', 'sh'];
  await (await ground.serve()).end();
  return {
    ground,
    async serve() {
      limited = await ground.serve({ under });
      return limited;
    },
    async strike(chance, { acts }) {
      await acts(chance.whole(1, 30));
      await switchLog(ground);
      await acts(Number.MAX_SAFE_INTEGER);
    },
    // The limit stays with its processes: the service ends, a free one recovers the database, and the next is limited again.
    async heal() {
      await limited?.kill();
      const free = await ground.serve();
      await free.end();
    },
  };
}
