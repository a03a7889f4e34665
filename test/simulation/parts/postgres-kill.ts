/** SIGKILL of PostgreSQL under load: the whole server, its first process alone, or one backend. Commits wait for the disk. */
import { clusterFolder } from '../../../src/db/cluster.ts';
import { readPidFile } from '../../../src/db/postmaster.ts';
import { harmed } from '../database-harm.ts';
import { type Ground, openGround } from '../ground.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';
import { childrenOf } from '../processes.ts';

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

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
