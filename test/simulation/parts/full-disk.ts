/**
 * The disk is full to the last byte under load, then there is room again: while it is full every request is answered, and
 * afterwards the service works again by itself, whatever PostgreSQL did meanwhile.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { clusterFolder } from '../../../src/db/cluster.ts';
import { readPidFile } from '../../../src/db/postmaster.ts';
import type { Answer, Refused } from '../../client.ts';
import { mountSmall, type SmallDisk } from '../../small-disk.ts';
import { faultsOf, reckon } from '../books.ts';
import { type Chance, chanceOf } from '../chance.ts';
import { type Ground, openGround, type Running, type SimCompany } from '../ground.ts';
import { Journal } from '../journal.ts';
import { clients, draftBody } from '../load.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';
import { childrenOf } from '../processes.ts';

export const part: Part = {
  name: 'full-disk',
  title: 'no byte left on the disk under load, then room again; the service works again within 15 s',
  unit: 'fills',
  target: 20,
  run,
};

/** The service has to do a write again within so long, once there is room. */
const longest_recovery_ms = 15_000;
/** A machine that plays all tests at once may take longer, and is not measured. */
const patience_ms = 120_000;

const harms = ['none', 'none', 'new log file', 'checkpoint', 'backend', 'server', 'smart stop', 'service'] as const;

/** The others end PostgreSQL or the service: on a full disk it may come up only when there is room. */
const isHarmful = (harm: (typeof harms)[number]): boolean => harm !== 'none' && harm !== 'checkpoint';

async function run(options: RunOptions): Promise<Outcome> {
  const disk = mountSmall('130m');
  if (disk === undefined) {
    const skipped = 'no file system can be mounted here (root on Linux can)';
    return { rounds: 0, counts: {}, violations: [], skipped };
  }
  try {
    return await filled(disk, options);
  } finally {
    disk.free();
    disk.remove();
  }
}

/** What all rounds share. */
interface Bench {
  readonly disk: SmallDisk;
  readonly ground: Ground;
  readonly company: SimCompany;
  service: Running;
  /** The service was killed, so that nobody answers until it is started again. */
  isDown: boolean;
  readonly counts: Counts;
}

async function filled(disk: SmallDisk, { rounds, seed, say, short = false }: RunOptions): Promise<Outcome> {
  const ground = await openGround({ ownDatabase: true, within: disk.folder });
  const service = await ground.serve();
  const counts = { 'reads answered': 0, 'reads refused': 0, 'writes answered': 0, 'writes refused': 0 };
  const bench: Bench = { disk, ground, company: await ground.company(), service, isDown: false, counts };
  const journals: Journal[] = [];
  const violations: string[] = [];
  const longest = { own: 0, started: 0 };
  const unharmed = { answered: 0, refused: 0 };
  let done = 0;
  for (; done < rounds && violations.length === 0; done += 1) {
    const chance = chanceOf(seed + done);
    const where = `seed ${seed + done}`;
    const journal = new Journal(bench.company.apiKey, `disk-${seed + done}`);
    journals.push(journal);
    let over = false;
    const working = keepWorking(bench, journal, chance, () => over);
    const harm = chance.one(harms);
    const before = { ...counts };
    const found = await whileFull(bench, journal, chance, harm, short ? 1_500 : 5_000);
    const reads = since(counts, before);
    if (!isHarmful(harm)) {
      unharmed.answered += reads.answered;
      unharmed.refused += reads.refused;
    }
    if (!isHarmful(harm) && reads.refused > reads.answered)
      found.push(`only ${reads.answered} reads were answered while the disk was full, and ${reads.refused} refused`);
    const took_ms = await untilItWorks(bench, journal, chance);
    // One that was killed has to be started first: how long that takes is the machine's.
    if (harm === 'service') longest.started = Math.max(longest.started, took_ms);
    else longest.own = Math.max(longest.own, took_ms);
    if (longest.own > longest_recovery_ms && !short) found.push(`it took ${Math.round(took_ms)} ms to work again`);
    over = true;
    await working;
    await journal.retry(bench.service.wire);
    await journal.again(bench.service.wire);
    violations.push(...found.map((words) => `${words} (${harm}, ${where})`));
    violations.push(...(await faultsOf(ground, [journal], where)));
    say(
      `${done + 1} of ${rounds}: ${harm}, ${reads.answered} reads answered and ${reads.refused} refused, worked again after ${Math.round(took_ms)} ms`,
    );
  }
  const { wire } = bench.service;
  const { documents, count, faults } = await reckon(ground, journals, wire, `seeds ${seed} to ${seed + done}`);
  return {
    rounds: done,
    counts: {
      acts: count('done'),
      documents,
      'unknown for ever': count('never'),
      ...counts,
      'reads answered where nothing was killed': unharmed.answered,
      'refused there': unharmed.refused,
    },
    longest: {
      'ms until it worked again': Math.round(longest.own),
      'ms where it had to be started': Math.round(longest.started),
    },
    violations: [...violations, ...faults],
  };
}

type Counts = Record<`${'reads' | 'writes'} ${'answered' | 'refused'}`, number>;

/** The reads of one round. */
const since = (counts: Counts, before: Counts) => ({
  answered: counts['reads answered'] - before['reads answered'],
  refused: counts['reads refused'] - before['reads refused'],
});

/** Clients that go on after they were refused, as long as it is not over. */
async function keepWorking(bench: Bench, journal: Journal, chance: Chance, over: () => boolean): Promise<void> {
  const { company } = bench;
  while (!over()) {
    await clients(4, { journal, company, wire: bench.service.wire, chance, over });
    // Whoever is refused asks again in a while: all of it is asked once more at the end of the round.
    await sleep(250);
  }
}

/** Fills the disk at a random moment, does the harm, and holds every answer to the rules; frees the disk at the end. */
async function whileFull(
  bench: Bench,
  journal: Journal,
  chance: Chance,
  harm: (typeof harms)[number],
  longest_ms: number,
): Promise<string[]> {
  const { disk } = bench;
  const found = new Set<string>();
  const before = chance.whole(1, 30);
  await until(() => journal.done().length >= before);
  await roomInLog(bench);
  await sleep(chance.whole(0, 300));
  const isGreedy = chance.whole(0, 1) === 1;
  let isFull = true;
  const filling = (async () => {
    disk.fill();
    // Where others go on writing, what the server gives back is gone at once.
    while (isFull) {
      if (isGreedy) disk.fill();
      await sleep(3);
    }
  })();
  await sleep(chance.whole(0, 500));
  const harming = doHarm(bench, harm).catch((error: Error) => void found.add(error.message));
  const end = performance.now() + chance.whole(500, longest_ms);
  for (let i = 0; performance.now() < end; i += 1) {
    await ask(bench, chance, `${journal.acts[0]!.key}-asked-${i}`, found);
    await sleep(20);
  }
  await harming;
  isFull = false;
  await filling;
  disk.free();
  return [...found];
}

/** At the end of a file of its log PostgreSQL ends on a full disk; that is the harm "new log file", and no other's. */
async function roomInLog({ ground }: Bench): Promise<void> {
  await ground.owner.query(
    `set role none;
     select pg_switch_wal() where (pg_current_wal_insert_lsn() - '0/0') % (16 * 1024 * 1024) > 12 * 1024 * 1024;
     select pg_logical_emit_message(false, 'certo', 'sim', true);
     reset role`,
  );
}

async function doHarm(bench: Bench, harm: (typeof harms)[number]): Promise<void> {
  const { ground } = bench;
  const asRoot = (statement: string): Promise<unknown> =>
    ground.owner.query(`set role none; ${statement}; reset role`).catch(() => undefined);
  const first = (await readPidFile(clusterFolder(ground.directory)))?.pid;
  switch (harm) {
    case 'none':
      return;
    case 'new log file':
      // As hours of work would ask for; several, since some are kept in reserve.
      for (let i = 0; i < 3; i += 1)
        await asRoot(`select pg_logical_emit_message(false, 'certo', 'sim'); select pg_switch_wal()`);
      return;
    case 'checkpoint':
      await asRoot('checkpoint');
      return;
    case 'backend':
      // The last one began last: a connection, not one of the server's own writers.
      if (first !== undefined) signal(childrenOf(first).at(-1) ?? first, 'SIGKILL');
      return;
    case 'server':
      if (first !== undefined) for (const pid of [first, ...childrenOf(first)]) signal(pid, 'SIGKILL');
      return;
    case 'smart stop':
      if (first !== undefined) signal(first, 'SIGTERM');
      return;
    case 'service':
      bench.isDown = true;
      await bench.service.kill();
      // As a supervisor would: it starts, or ends and says why.
      await start(bench);
      return;
  }
}

function signal(pid: number, name: 'SIGKILL' | 'SIGTERM'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** False when it said that there is no room. */
async function start(bench: Bench): Promise<boolean> {
  try {
    bench.service = await bench.ground.serve();
    bench.isDown = false;
    return true;
  } catch (error) {
    const { message } = error as Error;
    if (!/disk .*is full|no room|No space left|no space left/i.test(message)) throw error;
    return false;
  }
}

/** A read and a write while the disk is full: each is done or refused with a time to come back, and nothing else. */
async function ask(bench: Bench, chance: Chance, key: string, found: Set<string>): Promise<void> {
  if (bench.isDown) return;
  const { service, company, counts } = bench;
  const headers = { 'x-api-key': company.apiKey };
  const write = {
    method: 'POST',
    path: '/invoices',
    headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(draftBody(company, chance, 'INVOICE')),
  };
  for (const [name, sent] of [
    ['reads', { method: 'GET', path: '/company', headers }],
    ['writes', write],
  ] as const) {
    const answer = await service.wire.send(sent).catch((error: Error) => error);
    if (bench.isDown || bench.service !== service) return;
    if (answer instanceof Error) {
      const said = service.lives() ? '' : `; the service has ended: ${service.said().slice(-500)}`;
      found.add(`${name} were not answered while the disk was full: ${answer.message}${said}`);
      return;
    }
    const isDone = answer.status < 300;
    counts[`${name} ${isDone ? 'answered' : 'refused'}`] += 1;
    if (!isDone && !isRight(answer, name))
      found.add(`${name} got ${answer.status} ${answer.json?.code}, Retry-After ${answer.headers['retry-after']}`);
  }
}

function isRight({ status, json, headers }: Answer<Refused>, name: 'reads' | 'writes'): boolean {
  const seconds = headers['retry-after'];
  if (status === 503) return /^\d+$/.test(seconds ?? '') && Number(seconds) >= 1 && Number(seconds) <= 15;
  // PostgreSQL panicked in the middle of its commit.
  return name === 'writes' && status === 500 && json.code === 'OUTCOME_UNKNOWN' && seconds === undefined;
}

/** Milliseconds from there is room until a write is done. Throws when it never is. */
async function untilItWorks(bench: Bench, journal: Journal, chance: Chance): Promise<number> {
  const since = performance.now();
  while (performance.now() - since < patience_ms) {
    // Only one that was killed is started by somebody else.
    if (bench.isDown) await start(bench);
    if (!bench.isDown && !bench.service.lives()) break;
    const act = journal.act('/invoices', draftBody(bench.company, chance, 'INVOICE'));
    if (!bench.isDown) await journal.send(bench.service.wire, act);
    if (act.state === 'done') return performance.now() - since;
    await sleep(20);
  }
  throw new Error(`the service does not come back: ${bench.service.said()}`);
}

async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + patience_ms;
  while (!condition()) {
    if (performance.now() > end) throw new Error('the clients got nothing done');
    await sleep(2);
  }
}
