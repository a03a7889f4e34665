/**
 * Whether a server that lets nobody in is on its way or stuck. A recovery may take as long as it needs; a server that
 * recovers nothing, as PostgreSQL may be after its disk was full, would say "not yet accepting connections" for ever.
 */
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** What a server that lets nobody in says or does. `hung`: it takes the connection and answers nothing. */
export type Shut = 'starting' | 'stopping' | 'hung';

/**
 * A crashed server's processes have 5 s to end before PostgreSQL kills them (postmaster.c, SIGKILL_CHILDREN_AFTER_SECS), and
 * only then it begins to recover.
 */
const without_recovery_ms = 7_000;
/**
 * For the first time; twice as long after each server that was ended. A stop has one checkpoint to write, and what it doesn't
 * write is recovered: it may fail again and again on a full disk.
 */
const without_progress_ms = { starting: 8_000, hung: 60_000, stopping: 7_000 };
const look_interval_ms = 1_000;

/** Watches one server after the other. */
export class Progress {
  #pid = 0;
  #state: Shut | undefined;
  #lookedAt = 0;
  #recoveredAt = 0;
  #movedAt = 0;
  #spent = '';
  #ended = 0;

  /** It let somebody in, or could not be asked: what was seen before counts no more. */
  forget(): void {
    this.#pid = 0;
  }

  /** True when the server with this process number has to be ended. Looks at its processes once a second. */
  async isStuck(pid: number, state: Shut): Promise<boolean> {
    const now = performance.now();
    if (pid !== this.#pid || state !== this.#state) {
      this.#pid = pid;
      this.#state = state;
      this.#spent = '';
      this.#recoveredAt = now;
      this.#movedAt = now;
    } else if (now - this.#lookedAt < look_interval_ms) return false;
    this.#lookedAt = now;
    const family = await familyOf(pid);
    if (family === undefined) return false;
    if (family.some(({ title }) => isRecovering.test(title))) this.#recoveredAt = now;
    const spent = spentBy(family, pid, state);
    if (spent !== this.#spent) this.#movedAt = now;
    this.#spent = spent;
    const isStuck =
      (state === 'starting' && now - this.#recoveredAt > without_recovery_ms) ||
      now - this.#movedAt > without_progress_ms[state] * 2 ** this.#ended;
    if (isStuck) {
      this.#ended += 1;
      this.forget();
    }
    return isStuck;
  }
}

const isRecovering = /^postgres: (.*: )?startup\b/;
const isWriting = /^postgres: (.*: )?checkpointer\b/;

/**
 * Processor time of those that have to get on. The first process works for everybody who knocks, so it tells nothing of a
 * recovery; where it answers nobody, it alone counts. In one that stops nothing counts.
 */
function spentBy(family: readonly ServerProcess[], first: number, state: Shut): string {
  const counted = {
    starting: ({ title }: ServerProcess) => isRecovering.test(title) || isWriting.test(title),
    hung: ({ pid }: ServerProcess) => pid === first,
    stopping: () => false,
  }[state];
  return family
    .filter(counted)
    .map(({ pid, spent }) => `${pid} ${spent}`)
    .join(', ');
}

export interface ServerProcess {
  readonly pid: number;
  /** As `ps` shows it. */
  readonly title: string;
  /** Processor time, in whatever unit the system has; another text whenever it got on. */
  readonly spent: string;
}

/** A process and those that it has started; undefined where it is gone, or the system doesn't tell. */
export async function familyOf(first: number): Promise<readonly ServerProcess[] | undefined> {
  const children = await readFile(`/proc/${first}/task/${first}/children`, 'utf8').catch(() => undefined);
  if (children === undefined) return listed(first);
  const numbers = children.split(' ').filter((word) => word !== '');
  const family = await Promise.all([String(first), ...numbers].map(readProcess));
  return family[0] && family.filter((one) => one !== undefined);
}

async function readProcess(pid: string): Promise<ServerProcess | undefined> {
  try {
    // The name in parentheses may hold anything; behind it are the state, and as 12th and 13th the times.
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
    const title = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
    // One that waits for the disk gets on.
    const atDisk = fields[0] === 'D' ? ` at the disk ${performance.now()}` : '';
    return { pid: Number(pid), title, spent: `${fields[11]} ${fields[12]}${atDisk}` };
  } catch {
    // It has ended.
    return undefined;
  }
}

/** Where there is no such file: macOS, and kernels without it. */
function listed(first: number): readonly ServerProcess[] | undefined {
  const { stdout } = spawnSync('/bin/ps', ['-axo', 'pid=,ppid=,time=,command='], { encoding: 'utf8' });
  const family = (stdout ?? '').split('\n').flatMap((line) => {
    const [, pid, parent, spent, title] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (title === undefined || (Number(pid) !== first && Number(parent) !== first)) return [];
    return [{ pid: Number(pid), spent: spent!, title }];
  });
  return family.some(({ pid }) => pid === first) ? family : undefined;
}
