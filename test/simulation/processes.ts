import { readdirSync, readFileSync } from 'node:fs';

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
