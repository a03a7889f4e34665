/** Hostile bytes, bodies and callers, round after round: refused or answered rightly, once each; nothing is written. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { faultsIn } from '../attack-rules.ts';
import { type Attack, addressAttacks, ask, framingAttacks, legalOddities, lineAttacks } from '../attacks.ts';
import { bodyAttacks } from '../body-attacks.ts';
import { verified } from '../books.ts';
import { chanceOf } from '../chance.ts';
import { type Ground, openGround, type Running } from '../ground.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';
import { speak } from '../raw-http.ts';
import { several } from '../several.ts';
import { idle, neverReads, slowAttacks } from '../slow-attacks.ts';

export const part: Part = {
  name: 'hostile-http',
  title: 'framing attacks, hostile bodies, slow callers: one answer each, nothing written, bounded memory',
  unit: 'rounds',
  target: 20,
  run,
};

/** Of the process that meets slow callers; the other one has the usual minute. */
const deadline_s = 2;
/** Six deadlines: on a busy machine the first answers alone take one or two to be made. */
const silent_ms = deadline_s * 6_000;
const patience_ms = 40_000;
const atOnce = 16;
/** A service may need so much more at its peak; what comes over the wire is far more. */
const most_growth_kib = 150 * 1024;
const crowd = { whole: 3_000, short: 300 };
const unread = { whole: 8, short: 2 };
/** The description is half a megabyte: so often no buffer between the two holds it. */
const large_answers = 200;

async function run({ rounds, seed, say, short = false }: RunOptions): Promise<Outcome> {
  const ground = await openGround();
  const patient = await ground.serve();
  const { apiKey } = await ground.company();
  const environment = { CERTO_HTTP_DEADLINE_SECONDS: String(deadline_s) };
  const hurried = await ground.serve({ through: ground.connection, environment });
  const key = `x-api-key: ${apiKey}`;
  const all = [framingAttacks, lineAttacks, addressAttacks, legalOddities, bodyAttacks].flatMap((of) => of(key));
  const attacks = all.filter((_, i) => !short || i % 3 === seed % 3);
  const slow = slowAttacks(key);
  const size = short ? 'short' : 'whole';
  const violations: string[] = [];
  const counts = { attacks: 0, answers: 0, connections: 0 };
  // What is made once is made before anything is measured.
  for (const { wire } of [patient, hurried])
    for (const path of ['/-json', '/company'])
      await wire.send({ method: 'GET', path, headers: { 'x-api-key': apiKey } });
  const rows = await rowsOf(ground);
  const usage = [patient, hurried].map(usageOf);

  for (let round = 0; round < rounds; round += 1) {
    const where = `seed ${seed + round}`;
    const play = async ({ port }: Running, attack: Attack, at: number): Promise<void> => {
      const last = `last-${round}-${at}`;
      const pieces = piecesOf(attack, last, (seed + round) * 1_000 + at);
      const { pace_ms = 0, bodiless = [] } = attack;
      const heard = await speak(port, { pieces, last, patience_ms, pace_ms, bodiless });
      counts.attacks += 1;
      counts.answers += heard.answers.length;
      violations.push(...faultsIn(attack, heard, last).map((words) => `${attack.name}: ${words} (${where})`));
    };
    await Promise.all([
      several(attacks.length, atOnce, (i) => play(patient, attacks[i]!, i)),
      ...slow.map((attack, i) => play(hurried, attack, attacks.length + i)),
    ]);
    const waited = await Promise.all([
      crowded(hurried, crowd[size]),
      ...Array.from({ length: unread[size] }, () => silent(hurried.port)),
    ]);
    violations.push(...waited.flat().map((words) => `${words} (${where})`));
    counts.connections += crowd[size] + unread[size];
    say(`${round + 1} of ${rounds}`);
  }

  // What callers have left is noticed a moment later; what is not, is told below.
  for (let i = 0; i < 100 && [patient, hurried].some((service, k) => opened(usage[k]!, service) > 0); i += 1)
    await sleep(100);
  const grown = [patient, hurried].map((service, i) => usageSince(usage[i]!, service));
  const found = [...differences(rows, await rowsOf(ground)), ...grown.flatMap(({ faults }) => faults)];
  violations.push(...found.map((words) => `${words} (seed ${seed})`));
  violations.push(...(await verified(ground, `seed ${seed}`)).faults);
  await ground.close();
  return { rounds, counts: { ...counts, 'MiB more, added up': Math.max(...grown.map(({ mib }) => mib)) }, violations };
}

/** The attack and one more request behind it, cut anywhere: in one piece, in few or in many. */
function piecesOf(attack: Attack, last: string, seed: number): Buffer[] {
  const bytes = typeof attack.bytes === 'string' ? Buffer.from(attack.bytes, 'latin1') : attack.bytes;
  if (attack.pace_ms !== undefined && attack.pace_ms > 0) {
    // Where there is a body it is the body that is slow.
    const head = bytes.indexOf('\r\n\r\n') + 4;
    const from = head > 4 && head < bytes.length ? head : 0;
    return [
      bytes.subarray(0, from),
      ...Array.from(bytes.subarray(from), (_, i) => bytes.subarray(from + i, from + i + 1)),
    ];
  }
  // What is meant to break off has nothing behind it.
  const behind = attack.pace_ms === 0 ? '' : ask('GET /health/live', [`X-Request-Id: ${last}`]);
  const whole = Buffer.concat([bytes, Buffer.from(behind)]);
  const chance = chanceOf(seed);
  const cuts = Array.from({ length: chance.one([0, 0, 1, 3, 30]) }, () => chance.whole(0, whole.length));
  cuts.sort((a, b) => a - b);
  return [0, ...cuts].map((from, i) => whole.subarray(from, cuts[i] ?? whole.length));
}

async function silent(port: number): Promise<string[]> {
  const { closed } = await neverReads(port, large_answers, silent_ms, patience_ms);
  return closed ? [] : ['a caller that reads nothing is waited for'];
}

/** Connections that say nothing: others are served beside them, and then they are closed. */
async function crowded({ port, wire }: Running, connections: number): Promise<string[]> {
  let health = 0;
  const beside = async (): Promise<void> => {
    health = (await wire.send({ method: 'GET', path: '/health/ready' })).status;
  };
  const closed = await idle(port, connections, beside, patience_ms);
  return [
    ...(health === 200 ? [] : [`beside ${connections} connections /health/ready says ${health}`]),
    ...(closed === connections ? [] : [`${connections - closed} silent connections are waited for`]),
  ];
}

/** How many rows each table has. */
async function rowsOf({ owner }: Ground): Promise<Map<string, number>> {
  const tables = `select relname as name from pg_class where relnamespace = 'certo'::regnamespace and relkind = 'r'`;
  const counts = new Map<string, number>();
  for (const { name } of (await owner.query<{ name: string }>(tables)).rows)
    counts.set(name, (await owner.query(`select count(*)::int as rows from certo.${name}`)).rows[0].rows);
  return counts;
}

function differences(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): string[] {
  const changed = [...after].filter(([name, rows]) => before.get(name) !== rows);
  return changed.map(([name, rows]) => `${name} has ${rows} rows instead of ${before.get(name)}`);
}

interface Usage {
  readonly peak_kib: number;
  readonly files: number;
}

function usageOf({ pid }: Running): Usage {
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { peak_kib: Number(peak), files: readdirSync(`/proc/${pid}/fd`).length };
}

/** Files more than there were, beyond those that a pool opens when it is needed. */
function opened(before: Usage, service: Running): number {
  return service.lives() ? Math.max(0, usageOf(service).files - before.files - 50) : 0;
}

function usageSince(before: Usage, service: Running): { faults: string[]; mib: number } {
  if (!service.lives()) return { faults: [`the service has died: ${service.said().slice(-2_000)}`], mib: 0 };
  const after = usageOf(service);
  const grown = after.peak_kib - before.peak_kib;
  const faults = [
    ...(grown > most_growth_kib ? [`memory grew by ${grown} KiB`] : []),
    ...(opened(before, service) > 0 ? [`${opened(before, service)} connections are still open`] : []),
    ...(service.said().includes('request failed') ? [`a request has failed: ${service.said().slice(-2_000)}`] : []),
  ];
  return { faults, mib: Math.round(grown / 1024) };
}
