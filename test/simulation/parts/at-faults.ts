/** The tax authority fails in every way there is, while documents are issued: each stands there once in the end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connectionFaults } from '../../../src/at/simulator/faults.ts';
import { type AtFault, atFaults } from '../at-fault-table.ts';
import { recorded } from '../at-record.ts';
import { openScene, type Scene } from '../at-scene.ts';
import { faultsOf, verified } from '../books.ts';
import { chanceOf } from '../chance.ts';
import { type Issuing, issue } from '../issuers.ts';
import { Journal } from '../journal.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';
import { forgetPeak, openFilesOf, peakOf } from '../processes.ts';

export const part: Part = {
  name: 'at-faults',
  title: 'each fault of the tax authority while 200 documents are issued: every one stands there once',
  unit: 'faults',
  target: atFaults.length,
  run,
};

/** Documents of a fault, and in the short form. */
const documents = 200;
const documents_short = 5;
/** In the short form so many faults share what comes after them. */
const together_short = 12;

/** Most that memory may grow while a fault lasts, in MiB: less than one reply of 100 MB. */
const most_growth = 96;
/** Of a reply without end the service reads 1 MiB; what the machine's buffers hold beside it has room here, in MiB. */
const most_taken = 16;
/** Connections to the AT and to the database that may be open now and were not before. */
const most_files = 24;
/** Issuing while the AT fails takes no longer than so many times what it takes otherwise. */
const most_slower = 5;

/** A fault that was played, with what was issued meanwhile. */
interface Played {
  readonly fault: AtFault;
  readonly where: string;
  readonly issuing: Issuing;
  readonly series: string | undefined;
}

async function run({ rounds, seed, say, short = false }: RunOptions): Promise<Outcome> {
  const scene = await openScene();
  const count = short ? documents_short : documents;
  const violations: string[] = [];
  const counts = { documents: 0, canceled: 0, 'faults met': 0, 'refused, then told again': 0 };
  // Nothing fails: what the rest is compared with.
  const calm = issuingOf(scene, seed, 'calm');
  await issue(count, calm);
  await scene.drain();
  const usual = median(calm.times);
  const files = openFilesOf(scene.service.pid);
  let done = 0;
  while (done < rounds && violations.length === 0) {
    const several = short ? Math.min(together_short, rounds - done) : 1;
    const round = Array.from({ length: several }, (_, i) => seed + done + i);
    forgetPeak(scene.service.pid);
    const peak = peakOf(scene.service.pid);
    const played: Played[] = [];
    for (const each of round) {
      const one = await strike(scene, each, { count, alone: !short });
      played.push(one.played);
      counts['faults met'] += one.met;
      violations.push(...one.violations);
    }
    counts['refused, then told again'] += await correct(scene, played, violations);
    const mayLose = played.some(({ fault }) => losesAnswers(fault));
    for (const { issuing, where } of played) {
      violations.push(...(await recorded(scene, issuing.made, where, mayLose)));
      violations.push(...(await faultsOf(scene.ground, [issuing.journal], where)));
      if (issuing.made.length < count)
        violations.push(`of ${count} documents ${issuing.made.length} are issued (${where})`);
      counts.documents += issuing.made.length;
      counts.canceled += issuing.made.filter(({ canceled }) => canceled).length;
      const slower = median(issuing.times) / usual;
      if (!short && slower > most_slower) violations.push(`issuing took ${slower.toFixed(1)} times as long (${where})`);
    }
    const last = played.at(-1)!.where;
    violations.push(...scene.leaks().map((words) => `${words} (${last})`));
    const growth = peakOf(scene.service.pid) - peak;
    if (growth > most_growth) violations.push(`memory grew by ${Math.round(growth)} MiB (${last})`);
    violations.push(...(await leftOpen(scene, files)).map((words) => `${words} (${last})`));
    done += several;
    say(`${done} of ${rounds}`);
  }
  violations.push(...(await verified(scene.ground, `seeds ${seed} to ${seed + rounds - 1}`)).faults);
  await scene.ground.close();
  return { rounds: done, counts, violations };
}

function issuingOf({ company, wire }: Scene, seed: number, name: string): Issuing {
  const journal = new Journal(company.apiKey, `at-${name}-${seed}`);
  return { journal, company, wire, chance: chanceOf(seed), made: [], times: [], stopped: false };
}

/** One fault: first every call meets it, then some do, then none. */
async function strike(scene: Scene, seed: number, { count, alone }: { count: number; alone: boolean }) {
  const fault = atFaults[seed % atFaults.length]!;
  const where = `${fault.name}, seed ${seed}`;
  const issuing = issuingOf(scene, seed, fault.name);
  const violations: string[] = [];
  const first = Math.ceil(count * 0.6);
  if (fault.means === 'password') {
    const met = await wrongPassword(scene, issuing, count, violations);
    return {
      played: { fault, where, issuing, series: undefined },
      met,
      violations: violations.map((words) => `${words} (${where})`),
    };
  }
  await scene.at.play(fault.rule);
  const series = alone ? `F${seed}` : undefined;
  const registering = series === undefined ? undefined : register(scene, series);
  await issue(first, issuing);
  if (fault.means === 'nothing' || fault.means === 'no') {
    const early = (await scene.at.ledger(scene.company.taxpayerNumber)).documents.filter(({ number }) =>
      issuing.made.some((made) => made.number === number),
    );
    if (early.length > 0) violations.push(`${early.length} documents stand at an AT that has heard nothing`);
  }
  if (!(await noticed(scene, fault, issuing))) violations.push('nobody noticed the fault: it proves nothing');
  const registered = await registering;
  if (registered?.code === 0 && fault.means !== 'yes') violations.push('a series was registered at an AT that fails');
  let met = await scene.at.heal();
  await scene.at.play(someTimes(fault, issuing.chance.whole(3, fault.hangs ? 4 : 20)));
  await issue(count - first, issuing);
  met += await scene.at.heal();
  const taken = Math.max(0, ...(await scene.at.heard()).map(({ sent = 0 }) => sent)) / 2 ** 20;
  if (taken > most_taken) violations.push(`the service took ${Math.round(taken)} MiB of a reply`);
  return {
    played: { fault, where, issuing, series },
    met,
    violations: violations.map((words) => `${words} (${where})`),
  };
}

/** Of the next calls so many meet it. A closed port knows no calls: it opens after a while. */
const someTimes = ({ rule }: AtFault, times: number) =>
  rule.kind === 'refused' ? { ...rule, milliseconds: times * 50 } : { ...rule, count: times };

const register = ({ command, company }: Scene, code: string) =>
  command(['series', 'register', '--company', company.taxpayerNumber, '--type', 'INVOICE', '--code', code]);

/**
 * Waits until a call has met it. Of a closed port the simulator hears nothing: a document tells. What the AT refuses is
 * a document of this fault: the call might have told one that waited since the fault before.
 */
async function noticed({ ground, at }: Scene, { rule, means }: AtFault, { made }: Issuing): Promise<boolean> {
  const isThere = async (condition: string, ...values: unknown[]) =>
    (await ground.owner.query(`select 1 from certo.documents where ${condition} limit 1`, values)).rows.length > 0;
  const isNoticed = async () => {
    if (rule.kind === 'refused') return await isThere(`at_status = 'PENDING' and at_problem is not null`);
    if (means !== 'no') return (await at.met()) > 0;
    const numbers = made.map(({ number }) => number);
    return await isThere(`at_status = 'REJECTED' and number = any ($1)`, numbers);
  };
  for (let until = performance.now() + 30_000; performance.now() < until; await sleep(10)) {
    if (await isNoticed()) return true;
  }
  return false;
}

/** The sub-user's password was changed in the portal: one call finds out, and no more until the operator sets it here. */
async function wrongPassword(scene: Scene, issuing: Issuing, count: number, violations: string[]): Promise<number> {
  const { at, username, company } = scene;
  // What was refused before, as the password that the company began with may have been, is not this one's.
  const before = (await at.heard()).at(-1)?.at ?? '';
  await at.password(username, 'changed in the portal');
  await issue(count, issuing);
  // Whoever was quick had all of it issued before the AT was asked.
  for (let until = performance.now() + 30_000; performance.now() < until; await sleep(10)) {
    const { rows } = await scene.ground.owner.query(
      `select 1 from certo.companies where id = $1 and at_state = 'WRONG'`,
      [company.id],
    );
    if (rows.length > 0) break;
  }
  const ofCompany = { method: 'GET', path: '/company', headers: { 'x-api-key': company.apiKey } };
  const asked = await scene.wire.send<{ readiness: { reasons: { code: string }[] } }>(ofCompany);
  if (!asked.json.readiness.reasons.some(({ code }) => code === 'AT_CREDENTIALS_REQUIRED'))
    violations.push('a wrong password does not show in the readiness');
  // Two sweeps of the clock.
  await sleep(2_100);
  const heard = (await at.heard()).filter((call) => call.at > before && call.username === username);
  const refused = heard.filter(({ code }) => code === '99').length;
  if (refused !== 1) violations.push(`the AT heard a wrong password ${refused} times`);
  if ((await scene.credentials()) !== 0) violations.push('the right password is not accepted');
  if (issuing.made.length < count) await issue(count - issuing.made.length, issuing);
  return refused;
}

/** What the operator does afterwards; how many documents the AT had refused. */
async function correct(scene: Scene, played: readonly Played[], violations: string[]): Promise<number> {
  const { company, command } = scene;
  await scene.drain();
  const refused = await rejected(scene, played, violations);
  if (refused.length > 0) {
    const named = ['--number', ...refused];
    const { code, out } = await command(['reports', 'again', '--company', company.taxpayerNumber, ...named]);
    const { again } = JSON.parse(out) as { again: number };
    if (code !== 0 || again !== refused.length)
      violations.push(`of ${refused.length} refused documents ${again} are told again`);
    await scene.drain();
  }
  for (const { series, where } of played) {
    if (series === undefined) continue;
    const { code, out } = await register(scene, series);
    const [registered] = code === 0 ? (JSON.parse(out) as { validationCode: string }[]) : [];
    const held = (await scene.at.ledger(company.taxpayerNumber)).series.filter((entry) => entry.series === series);
    if (held.length !== 1 || held[0]?.state !== 'A' || held[0].validationCode !== registered?.validationCode)
      violations.push(`series ${series} stands ${held.length} times at the AT (${where})`);
  }
  return refused.length;
}

/** Whether the AT may have what it was never known to have. A fault of connections cuts those that stand, too. */
function losesAnswers({ means, rule }: AtFault): boolean {
  return means === 'lost' || means === 'repeated' || rule.kind in connectionFaults;
}

/** Numbers of what the AT refused. Each says why; and where the AT refuses documents, there are some. */
async function rejected({ ground }: Scene, played: readonly Played[], violations: string[]): Promise<string[]> {
  const { rows } = await ground.owner.query<{ number: string; whole: boolean }>(
    `select number, at_code is not null and at_message <> '' as whole from certo.documents
     where at_status = 'REJECTED' and number = any ($1)`,
    [played.flatMap(({ issuing }) => issuing.made.map(({ number }) => number))],
  );
  for (const { number, whole } of rows) if (!whole) violations.push(`${number} is refused without a reason`);
  for (const { fault, issuing, where } of played) {
    const own = rows.filter(({ number }) => issuing.made.some((made) => made.number === number)).length;
    if (fault.means === 'no' && own === 0) violations.push(`nothing is refused by an AT that refuses (${where})`);
    // A transport document that has lost its code, to this fault or to one beside it, can't be cancelled.
    if (fault.means === 'nothing' && own > 0 && !played.some((one) => losesAnswers(one.fault)))
      violations.push(`${own} documents are refused by nobody (${where})`);
  }
  return rows.map(({ number }) => number);
}

/** Nothing is left of a fault: no lease, and no connection beyond those that are kept. */
async function leftOpen({ ground, service }: Scene, files: number): Promise<string[]> {
  const { rows } = await ground.owner.query<{ number: string }>(
    `select number from certo.documents where at_lease is not null or at_status = 'PENDING'`,
  );
  const found = rows.length === 0 ? [] : [`${rows.length} documents are stuck, such as ${rows[0]?.number}`];
  let open = openFilesOf(service.pid);
  for (let until = performance.now() + 10_000; open > files + most_files && performance.now() < until; ) {
    await sleep(50);
    open = openFilesOf(service.pid);
  }
  if (open > files + most_files) found.push(`${open} files and sockets are open, ${files} were`);
  return found;
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}
