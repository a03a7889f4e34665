/** The clock set back and forward, and both clock changes of a year in Lisbon and in the Azores. */
import { faultsOf, verified } from '../books.ts';
import { chanceOf } from '../chance.ts';
import { type Ground, openGround, type Running, type SimCompany } from '../ground.ts';
import { type Act, Journal } from '../journal.ts';
import { draftBody } from '../load.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';

export const part: Part = {
  name: 'clock',
  title: 'the clock set back and forward; spring and autumn in Lisbon and the Azores',
  unit: 'years',
  target: 20,
  run,
};

interface Year {
  readonly ground: Ground;
  readonly service: Running;
  readonly companies: readonly { readonly company: SimCompany; readonly journal: Journal }[];
  readonly violations: string[];
  readonly where: string;
  issued: number;
  refused: number;
}

async function run({ rounds, seed, say }: RunOptions): Promise<Outcome> {
  const ground = await openGround();
  // Every year is after the one before it, and all are ahead: what was signed can't be older than what comes.
  const first = new Date().getUTCFullYear() + 1;
  const service = await ground.serve();
  await ground.company('A');
  const { code, err } = await ground.run(['demo']);
  if (code !== 0) throw new Error(`certo demo ended with ${code}: ${err}`);
  const violations: string[] = [];
  const counts = { issued: 0, 'refused by the clock': 0 };
  for (let round = 0; round < rounds; round += 1) {
    const companies = await Promise.all(
      (['A', 'Z'] as const).map(async (letter) => {
        const company = await ground.company(letter);
        return { company, journal: new Journal(company.apiKey, `clock-${letter}-${seed + round}`) };
      }),
    );
    const where = `seed ${seed + round}, year ${first + round}`;
    const year: Year = { ground, service, companies, violations, where, issued: 0, refused: 0 };
    await spring(year, first + round);
    await backAndForward(year, first + round, chanceOf(seed + round));
    await autumn(year, first + round);
    violations.push(
      ...(await faultsOf(
        ground,
        companies.map(({ journal }) => journal),
        where,
      )),
    );
    counts.issued += year.issued;
    counts['refused by the clock'] += year.refused;
    say(`${round + 1} of ${rounds}`);
  }
  violations.push(...(await verified(ground, `seeds ${seed} to ${seed + rounds - 1}`)).faults);
  await ground.close();
  return { rounds, counts, violations };
}

/** The clocks change at 01:00 UTC on the last Sunday of the month (Directive 2000/84/EC). */
function change(year: number, month: 'March' | 'October'): number {
  const last = new Date(Date.UTC(year, month === 'March' ? 2 : 9, 31, 1));
  return last.getTime() - last.getUTCDay() * 86_400_000;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** An hour of civil time is missing: local time jumps, and goes on. */
async function spring(year: Year, of: number): Promise<void> {
  const at = change(of, 'March');
  for (const offset of [-2 * hour, -2 * second, 0, 30 * minute, 2 * hour]) await allIssue(year, at + offset);
}

/** An hour of civil time comes twice: the signed time stands still in it, and documents go on. */
async function autumn(year: Year, of: number): Promise<void> {
  const at = change(of, 'October');
  for (const offset of [-50 * minute, -2 * second, 0, 10 * minute, 59 * minute, 61 * minute, 3 * hour])
    await allIssue(year, at + offset);
  const { rows } = await year.ground.owner.query<{ times: number }>(
    `select count(distinct system_entry)::int as times from certo.documents
     where number is not null and issued_at >= $1 and issued_at < $2`,
    [new Date(at), new Date(at + 58 * minute)],
  );
  // Both companies, whose clocks differ by an hour: one time each.
  if (rows[0]?.times !== 2) year.violations.push(`${rows[0]?.times} signed times in the repeated hour (${year.where})`);
}

/** Back a little is waited for; back for longer nothing is signed until the time has come again. */
async function backAndForward(year: Year, of: number, chance: ReturnType<typeof chanceOf>): Promise<void> {
  let at = Date.UTC(of, 5, 15, 12) + chance.whole(0, 40 * 24 * 60) * minute;
  await allIssue(year, at);
  await allIssue(year, at - 2 * second);
  at += 10 * second;
  await allIssue(year, at);
  const waiting = await drafted(year);
  await setClock(year.ground, at - chance.whole(30, 7 * 24 * 3600) * second);
  for (const { journal, act } of waiting) {
    await journal.send(year.service.wire, act);
    if (act.state !== 'open' || act.code !== 'CLOCK_REGRESSION')
      year.violations.push(`issuing with a clock set back is ${act.state} with ${act.code} (${year.where})`);
    year.refused += 1;
  }
  // The same key, when the clock is right again, and after days.
  await setClock(year.ground, at + minute);
  for (const { journal, act } of waiting) await mustBeDone(year, journal, act);
  await allIssue(year, at + chance.whole(1, 40) * 24 * hour);
}

async function setClock(ground: Ground, at: number): Promise<void> {
  await ground.shiftClock(at - Date.now());
}

async function allIssue(year: Year, at: number): Promise<void> {
  await setClock(year.ground, at);
  for (const { journal, act } of await drafted(year)) await mustBeDone(year, journal, act);
}

async function drafted(year: Year): Promise<{ journal: Journal; act: Act }[]> {
  const made: { journal: Journal; act: Act }[] = [];
  for (const { company, journal } of year.companies) {
    const body = draftBody(company, chanceOf(journal.acts.length), 'INVOICE');
    const draft = await journal.send(year.service.wire, journal.act('/invoices', body));
    const act = journal.act(`/invoices/${draft?.id}/issue`, { expectedUpdatedAt: draft?.updatedAt });
    made.push({ journal, act });
  }
  return made;
}

async function mustBeDone(year: Year, journal: Journal, act: Act): Promise<void> {
  await journal.send(year.service.wire, act);
  if (act.state === 'done') year.issued += 1;
  else year.violations.push(`${act.path} is ${act.state} with ${act.code} (${year.where})`);
}
