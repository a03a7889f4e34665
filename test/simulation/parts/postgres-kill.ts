/** SIGKILL of PostgreSQL under load: the whole server, its first process alone, or one backend. Commits wait for the disk. */
import { readdirSync, readFileSync } from 'node:fs';
import { clusterFolder } from '../../../src/db/cluster.ts';
import { readPidFile } from '../../../src/db/postmaster.ts';
import { harmed } from '../database-harm.ts';
import { type Ground, openGround } from '../ground.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';

export const part: Part = {
  name: 'postgres-kill',
  title: 'SIGKILL of PostgreSQL, whole or in part, under load; the service goes on or comes back',
  unit: 'kills',
  target: 60,
  run,
};

async function run(options: RunOptions): Promise<Outcome> {
  const ground = await openGround({ ownDatabase: true });
  return harmed(
    'postgres',
    {
      ground,
      serve: () => ground.serve(),
      async strike(chance, { acts }) {
        await acts(chance.whole(1, 60));
        await killServer(ground, chance.one(['whole', 'whole', 'first', 'backend']));
      },
      heal: () => Promise.resolve(),
    },
    options,
  );
}

async function killServer({ directory }: Ground, what: 'whole' | 'first' | 'backend'): Promise<void> {
  const first = (await readPidFile(clusterFolder(directory)))?.pid;
  if (first === undefined) throw new Error('there is no PostgreSQL to kill');
  if (what === 'first') return signal(first);
  const backends = childrenOf(first);
  // The last one began last: a connection, not one of the server's own writers.
  if (what === 'backend') return signal(backends.at(-1) ?? first);
  for (const pid of [first, ...backends]) signal(pid);
}

/** By /proc; elsewhere nothing is known of them, and they end by themselves when they find the first one gone. */
function childrenOf(parent: number): number[] {
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

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
