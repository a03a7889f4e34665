/**
 * One company floods the service, in each expensive way there is, while another one does one small act after the other.
 * What it waits is compared with what it waits without a flood.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { uuidv7 } from 'uuidv7';
import { mintToken, tokenHash, tokenHint } from '../../../src/identity/tokens.ts';
import { type Answer, openWire, type Wire } from '../../client.ts';
import { verified } from '../books.ts';
import { draftOf, type Flood, type Flooding, floods, issuedLong, play, sender } from '../floods.ts';
import { type Ground, openGround, type SimCompany } from '../ground.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';

export const part: Part = {
  name: 'fairness',
  title: `one company floods in ${floods.length} ways, another one waits hardly longer for its small acts`,
  unit: 'floods',
  target: floods.length,
  run,
};

/**
 * No act of the other company takes longer; where the machine does other work, not so many times as long as half of its acts
 * without a flood, which take 5 ms on one that does none.
 */
const longest = { ms: 5_000, times: 250 };
/** Its issues: 99 of 100 take no longer than so many times what they take without a flood, where that is above a second. */
const most_times = 10;
const always_allowed_ms = 1_000;

/** A short run plays every fourth. */
export const share = 4;

const seconds = { whole: { still: 3, flood: 12 }, short: { still: 0.5, flood: 1.2 } };
const keys = 24;
const longInvoices = 4;
/** An act that takes so long is not waited for. */
const patience_ms = 20_000;

/** What acts took, in milliseconds, by their name. */
type Times = Map<string, number[]>;

/** A draft, as far as its issue asks for it. */
interface Revision {
  readonly id: string;
  readonly updatedAt: string;
}

async function run({ rounds, seed, say, short = false }: RunOptions): Promise<Outcome> {
  const ground = await openGround();
  const { port } = await ground.serve();
  const [flooder, other] = [await ground.company('A'), await ground.company('B')];
  const lasts = short ? seconds.short : seconds.whole;
  const wire = openWire(port, 1);
  const flooding = {
    port,
    company: flooder,
    keys: await moreKeys(ground, flooder),
    longInvoices: await longOnes(port, flooder),
  };
  // What a short run leaves out another seed has.
  const played = floods.filter((_, i) => !short || i % share === seed % share);
  const violations: string[] = [];
  const counts = { 'acts beside a flood': 0, 'requests of floods': 0, 'longest wait in ms': 0 };
  const table: string[] = [headOfTable];
  // What is made at first is made before anything is measured.
  await acts(wire, other, performance.now() + 1_000);

  for (let round = 0; round < rounds; round += 1) {
    const flood = played[(seed + round) % played.length]!;
    const still = await acts(wire, other, performance.now() + lasts.still * 1_000);
    const { flooded, requests } = await beside(flood, flooding, wire, other, lasts.flood * 1_000);
    const times = [...flooded.times.values()].flat();
    const where = `beside "${flood.name}" (seed ${seed + round})`;
    violations.push(...faultsOf(still, flooded).map((words) => `${words} ${where}`));
    table.push(rowOfTable(flood.name, still.times, flooded.times, requests));
    counts['acts beside a flood'] += times.length;
    counts['requests of floods'] += requests;
    counts['longest wait in ms'] = Math.max(counts['longest wait in ms'], Math.round(Math.max(...times)));
    say(`${round + 1} of ${rounds}`);
  }
  violations.push(...(await verified(ground, `seed ${seed}`)).faults);
  wire.close();
  await ground.close();
  return { rounds, counts, violations, table };
}

async function beside(
  flood: Flood,
  flooding: Omit<Flooding, 'over'>,
  wire: Wire,
  other: SimCompany,
  lasts_ms: number,
): Promise<{ flooded: Acts; requests: number }> {
  let isOver = false;
  const flooded = play(flood, { ...flooding, over: () => isOver });
  // It has to be under way.
  await sleep(lasts_ms / 10);
  const own = await acts(wire, other, performance.now() + lasts_ms);
  isOver = true;
  return { flooded: own, requests: await flooded };
}

interface Acts {
  readonly times: Times;
  /** An act that was refused, or not answered: the last one. */
  readonly unserved?: string;
}

/** Drafts, issues, reads, one act after the other until then, each at least once. */
async function acts(wire: Wire, company: SimCompany, until: number): Promise<Acts> {
  const times: Times = new Map();
  const headers = { 'x-api-key': company.apiKey, 'content-type': 'application/json' };
  const act = async (name: string, method: string, path: string, body?: string): Promise<Answer<Revision>> => {
    const begun = performance.now();
    const sent = { method, path, headers, body };
    const answer = await Promise.race([wire.send<Revision>(sent), sleep(patience_ms, undefined)]);
    times.set(name, [...(times.get(name) ?? []), performance.now() - begun]);
    if (answer === undefined) throw new Error(`a ${name} was not answered in ${patience_ms} ms`);
    if (answer.status >= 300) throw new Error(`a ${name} was answered ${answer.status} ${answer.text}`);
    return answer;
  };
  try {
    do {
      const { json } = await act('draft', 'POST', '/invoices', draftOf(company, 1));
      const { id, updatedAt: expectedUpdatedAt } = json;
      await act('issue', 'POST', `/invoices/${id}/issue`, JSON.stringify({ expectedUpdatedAt }));
      await act('read', 'GET', `/invoices/${id}`);
      await act('list', 'GET', '/invoices?limit=5');
    } while (performance.now() < until);
    return { times };
  } catch (error) {
    return { times, unserved: (error as Error).message };
  }
}

function faultsOf(still: Acts, flooded: Acts): string[] {
  const faults = [still, flooded].flatMap(({ unserved }) => unserved ?? []);
  const longest_ms = Math.max(longest.ms, longest.times * at(all(still.times), 50));
  for (const [name, times] of flooded.times) {
    const took_ms = Math.max(...times);
    if (took_ms > longest_ms) faults.push(`a ${name} took ${Math.round(took_ms)} ms`);
  }
  const [without, within] = [still, flooded].map(({ times }) => at(times.get('issue') ?? [], 99));
  if (within! > always_allowed_ms && within! > most_times * without!)
    faults.push(`99 of 100 issues took up to ${Math.round(within!)} ms, ${Math.round(without!)} without a flood,`);
  return faults;
}

const all = (times: Times): number[] => [...times.values()].flat();

/** The value below which so many of a hundred are. */
function at(times: readonly number[], percent: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
}

const width = 24;
const headOfTable = `${'ms, without / beside'.padEnd(width)}${['issue p50', 'issue p99', 'issue longest', 'any p99', 'any longest', 'requests'].map((title) => title.padStart(16)).join('')}`;

function rowOfTable(name: string, still: Times, flooded: Times, requests: number): string {
  const of = (figure: (times: Times) => number): string =>
    `${figure(still).toFixed(1)} / ${figure(flooded).toFixed(1)}`.padStart(16);
  const issues = (percent: number) => of((times) => at(times.get('issue') ?? [], percent));
  const any = (percent: number) => of((times) => at(all(times), percent));
  return `${name.padEnd(width)}${issues(50)}${issues(99)}${issues(100)}${any(99)}${any(100)}${String(requests).padStart(16)}`;
}

async function moreKeys({ owner }: Ground, { id }: SimCompany): Promise<string[]> {
  const tokens = Array.from({ length: keys }, () => mintToken('svc_sk_', randomBytes(32)));
  for (const token of tokens) {
    const own = uuidv7();
    await owner.query(
      'insert into certo.api_keys (company_id, id, lineage, name, prefix, hash) values ($1, $2, $2, $3, $4, $5)',
      [id, own, 'flood', tokenHint(token), tokenHash(token)],
    );
  }
  return tokens;
}

async function longOnes(port: number, company: SimCompany): Promise<string[]> {
  const { send, close } = sender(port, 1);
  const flooding = { port, company, keys: [], longInvoices: [], over: () => false };
  const ids: string[] = [];
  for (let i = 0; i < longInvoices; i += 1) ids.push(await issuedLong(flooding, send));
  close();
  return ids;
}
