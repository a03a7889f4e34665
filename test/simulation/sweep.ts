/** Tries every crash point of one act: the connection is cut, or the service killed, there; then the same key again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { faultsOf, lease_ms, verified } from './books.ts';
import { chanceOf } from './chance.ts';
import { type Ground, openGround, type Running, type SimCompany } from './ground.ts';
import { type Act, Journal, type Told } from './journal.ts';
import { draftBody } from './load.ts';
import type { Outcome, RunOptions } from './part.ts';
import { type WireCutter, wireCutter } from './wire-cutter.ts';

export const actNames = ['issue', 'pay', 'cancel', 'creditNote'] as const;
export type ActName = (typeof actNames)[number];

export interface Sweep {
  readonly act: ActName;
  /** cut: the database's connection breaks. kill: the service dies while the message is held back. */
  readonly how: 'cut' | 'kill';
  /** The connection has done the act before: its statements are prepared, and fewer messages pass. */
  readonly warm: boolean;
  readonly seed: number;
  /** Tries every point (1), or a share of them chosen by the seed: about one in so many. */
  readonly oneIn: number;
  readonly say: (words: string) => void;
}

export interface Swept {
  readonly points: number;
  /** How often nobody could know whether it happened, so that the key is spent for good. */
  readonly never: number;
  readonly faults: string[];
}

/** A service behind a cutter, with one connection to the database, so that every cut meets the act. */
export interface Bench {
  readonly ground: Ground;
  readonly cutter: WireCutter;
  readonly company: SimCompany;
  service: Running;
  /** How far the clock was moved so far, in milliseconds. */
  shift: number;
}

async function openBench(): Promise<Bench> {
  const ground = await openGround();
  const cutter = await wireCutter(ground.connection);
  const service = await serveThrough(ground, cutter);
  return { ground, cutter, service, company: await ground.company(), shift: 0 };
}

async function closeBench({ ground, cutter }: Bench): Promise<void> {
  await ground.close();
  await cutter.close();
}

const serveThrough = (ground: Ground, cutter: WireCutter): Promise<Running> =>
  ground.serve({ through: cutter.connection, connections: 1 });

/**
 * So many sweeps, the acts in turn. Where the connection is cut, every second turn of the acts goes over a used one; a
 * killed service has none. `share`: the short form tries one point in so many.
 */
export async function sweeps(
  { rounds, seed, say, short = false }: RunOptions,
  { how, share }: { readonly how: Sweep['how']; readonly share: number },
): Promise<Outcome> {
  const bench = await openBench();
  const violations: string[] = [];
  const counts = { points: 0, 'unknown for ever': 0 };
  for (let round = 0; round < rounds; round += 1) {
    const act = actNames[round % actNames.length]!;
    const warm = how === 'cut' && Math.floor(round / actNames.length) % 2 === 1;
    const swept = await sweep(bench, { act, how, warm, seed: seed + round, oneIn: short ? share : 1, say });
    counts.points += swept.points;
    counts['unknown for ever'] += swept.never;
    violations.push(...swept.faults);
  }
  violations.push(...(await verified(bench.ground, `seed ${seed}`)).faults);
  await closeBench(bench);
  return { rounds, counts, violations };
}

async function sweep(bench: Bench, { act, how, warm, seed, oneIn, say }: Sweep): Promise<Swept> {
  const { ground, cutter } = bench;
  const chance = chanceOf(seed);
  const name = `${how} of ${act}${warm ? ', warm' : ''}, seed ${seed}`;
  const journal = new Journal(bench.company.apiKey, `${how}-${act}-${warm ? 'warm' : 'cold'}-${seed}`);
  const faults: string[] = [];
  let points = 0;
  for (
    let point = oneIn === 1 ? 0 : chance.whole(0, oneIn);
    ;
    point += oneIn === 1 ? 1 : chance.whole(1, 2 * oneIn - 1)
  ) {
    const subject = await prepare(bench, journal, act);
    if (warm) await must(bench, journal, await prepare(bench, journal, act));
    else if (how === 'cut') await renewConnections(bench);
    cutter.arm({ point, how: how === 'cut' ? 'cut' : 'hold', requestsOnly: how === 'kill' });
    const sending = journal.send(bench.service.wire, subject);
    if (how === 'kill' && (await Promise.race([cutter.held().then(() => true), sending.then(() => false)]))) {
      await bench.service.kill();
      cutter.release();
      bench.service = await serveThrough(ground, cutter);
    }
    await sending;
    const where = cutter.disarm();
    if (where === undefined) {
      if (subject.state !== 'done') faults.push(`${subject.path} without a fault was ${subject.code} (${name})`);
      break;
    }
    points += 1;
    await settle(bench, journal, subject);
    if (subject.state === 'refused')
      faults.push(
        `${subject.path} was refused with ${subject.code} when asked again, cut ${where} (${name}, point ${point})`,
      );
    say(`${name}: ${points} points, ${where}`);
  }
  const never = await afterLease(bench, journal, faults, name);
  faults.push(...(await faultsOf(ground, [journal], name)));
  return { points, never, faults };
}

/** The act on a subject of its own, ready to be sent. */
async function prepare(bench: Bench, journal: Journal, act: ActName): Promise<Act> {
  const draft = await must(
    bench,
    journal,
    journal.act('/invoices', draftBody(bench.company, chanceOf(journal.acts.length), 'INVOICE')),
  );
  const issue = journal.act(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt });
  if (act === 'issue') return issue;
  const { id } = await must(bench, journal, issue);
  if (act === 'pay') return journal.act(`/invoices/${id}/pay`, {});
  if (act === 'cancel') return journal.act(`/invoices/${id}/cancel`, { reason: 'Erro no pedido' });
  return journal.act('/invoices/credit-notes', { parentInvoiceId: id });
}

async function must({ service }: Bench, journal: Journal, act: Act): Promise<Told> {
  await again(journal, service, act);
  if (act.state !== 'done')
    throw new Error(`${act.path} is ${act.state} (${act.code}): ${service.said().slice(-2000)}`);
  return JSON.parse(act.told!.toString()) as Told;
}

/** While nothing but a lost connection is in the way. */
async function again(journal: Journal, service: Running, act: Act): Promise<void> {
  for (let attempt = 0; attempt < 50 && act.state === 'open' && act.code !== 'IDEMPOTENCY_CONFLICT'; attempt += 1) {
    if (attempt > 0) await sleep(20);
    await journal.send(service.wire, act);
  }
}

/** The same key again: it runs, answers what it answered, or says that it is in the air. */
async function settle({ service }: Bench, journal: Journal, act: Act): Promise<void> {
  act.code = undefined;
  await again(journal, service, act);
  // Once more: what is done answers the same bytes again.
  if (act.state === 'done') await journal.send(service.wire, act);
}

/** What was left in the air can't have happened: a new key does it. Returns how many there were. */
async function afterLease(bench: Bench, journal: Journal, faults: string[], name: string): Promise<number> {
  bench.shift += lease_ms;
  await bench.ground.shiftClock(bench.shift);
  await journal.retry(bench.service.wire);
  const never = journal.acts.filter(({ state }) => state === 'never');
  for (const { path, code } of journal.open()) faults.push(`${path} is open after its lease: ${code} (${name})`);
  for (const { path, body } of never) {
    const anew = journal.act(path, body);
    await again(journal, bench.service, anew);
    if (anew.state !== 'done')
      faults.push(`${path} was told never to have run, and a new key gets ${anew.state} ${anew.code} (${name})`);
  }
  return never.length;
}

/** Connections of their own for the next request: nothing is prepared on them. */
async function renewConnections({ cutter, service, company }: Bench): Promise<void> {
  cutter.cutAll();
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const headers = { 'x-api-key': company.apiKey };
    const answer = await service.wire.send({ method: 'GET', path: '/company', headers });
    if (answer.status === 200) return;
    await sleep(10);
  }
  throw new Error('the service does not come back to its database');
}
