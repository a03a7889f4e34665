import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Processes that a process has started, oldest first, by /proc; elsewhere none is known. */
export function childrenOf(parent: number): number[] {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return [];
  }
  return names
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]) === parent;
      } catch {
        return false;
      }
    })
    .map(Number)
    .sort((a, b) => a - b);
}

/** Open files and sockets of a process, by /proc; 0 where there is none. */
export function openFilesOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** Most memory that a process had resident since its peak was last forgotten, in MiB; 0 where there is no /proc. */
export function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Lets its peak begin at what is resident now, where the kernel allows that; else it stays the peak of its life. */
export function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Not Linux, or not ours to write: growth is then measured over the highest so far.
  }
}
