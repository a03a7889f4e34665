/** Each draft is issued by twenty keys at once at two processes: one of them does, and numbers follow without a gap. */
import { faultsOf, verified } from '../books.ts';
import { chanceOf } from '../chance.ts';
import { openGround } from '../ground.ts';
import { Journal } from '../journal.ts';
import { draftBody } from '../load.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';
import { several } from '../several.ts';

export const part: Part = {
  name: 'racing-keys',
  title: 'drafts, each issued by 20 keys at once at two processes: numbers 1 to n',
  unit: 'drafts',
  target: 1_000,
  run,
};

const keys = 20;
/** Drafts under way at once. */
const together = 10;

async function run({ rounds, seed, say }: RunOptions): Promise<Outcome> {
  const ground = await openGround();
  const first = await ground.serve();
  const company = await ground.company();
  const second = await ground.serve({ through: ground.connection });
  const chance = chanceOf(seed);
  const journal = new Journal(company.apiKey, `racing-${seed}`);
  const violations: string[] = [];
  const where = `seed ${seed}`;
  const numbers: number[] = [];
  let refused = 0;
  await several(rounds, together, async (i) => {
    const draft = await journal.send(first.wire, journal.act('/invoices', draftBody(company, chance, 'INVOICE')));
    const acts = Array.from({ length: keys }, () =>
      journal.act(`/invoices/${draft?.id}/issue`, { expectedUpdatedAt: draft?.updatedAt }),
    );
    await Promise.all(acts.map((act) => journal.send(chance.whole(0, 1) === 0 ? first.wire : second.wire, act)));
    const done = acts.filter(({ state }) => state === 'done');
    if (done.length !== 1) violations.push(`draft ${i} was issued by ${done.length} keys of ${keys} (${where})`);
    for (const { told } of done) numbers.push(Number((JSON.parse(told!.toString()).number as string).split('/')[1]));
    for (const { state, code } of acts) {
      if (state === 'refused' && code === 'INVALID_STATE') refused += 1;
      else if (state !== 'done') violations.push(`draft ${i}: a key is ${state} with ${code} (${where})`);
    }
    if (i % 20 === 19) say(`${i + 1} of ${rounds}`);
  });
  const sorted = numbers.toSorted((a, b) => a - b);
  if (sorted.some((number, at) => number !== at + 1) || sorted.length !== rounds)
    violations.push(`the numbers are not 1 to ${rounds} (${where})`);
  violations.push(...(await faultsOf(ground, [journal], where)), ...(await verified(ground, where)).faults);
  await ground.close();
  return { rounds, counts: { requests: rounds * keys, issued: numbers.length, refused }, violations };
}
