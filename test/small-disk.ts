/** A small file system in memory that can really be full, where one may be mounted (root on Linux). */
import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, realpathSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly folder: string;
  /** Takes all that is free, to the last byte. */
  fill(): void;
  /** Gives back what was taken. */
  free(): void;
  remove(): void;
}

/** Undefined where nothing may be mounted. */
export function mountSmall(size: string): SmallDisk | undefined {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-small-'));
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0711`, 'certo-small', folder]).status !== 0) {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  chmodSync(folder, 0o711);
  const ballast = join(folder, 'ballast');
  return {
    folder,
    fill: () => fill(ballast),
    free: () => rmSync(ballast, { force: true }),
    remove() {
      // Lazily: processes that are just ending may still be in it.
      spawnSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Whether one may be mounted here. */
export function canMount(): boolean {
  const disk = mountSmall('64k');
  disk?.remove();
  return disk !== undefined;
}

const zeros = Buffer.alloc(1 << 20);

function fill(path: string): void {
  const file = openSync(path, 'a', 0o600);
  try {
    // What is left may be less than is written at once.
    for (let length = zeros.length; length > 0; ) {
      try {
        writeSync(file, zeros, 0, length);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        length >>= 1;
      }
    }
  } finally {
    closeSync(file);
  }
}
