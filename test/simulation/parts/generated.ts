/** Requests made from our own OpenAPI document, in batches, each in a company of its own: no answer outside it. */
import { verified } from '../books.ts';
import { openFounder } from '../generated/companies.ts';
import { readDescription } from '../generated/description.ts';
import { Play } from '../generated/play.ts';
import { openGround } from '../ground.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';
import { several } from '../several.ts';

export const part: Part = {
  name: 'generated',
  title: 'requests generated from the OpenAPI document: valid, nearly valid, hostile; no 5xx, no answer outside it',
  unit: 'requests',
  target: 100_000,
  run,
};

/** Requests of one company, one after the other: with its seed a batch can be played again alone. */
const batch = 500;
const atOnce = 16;
/** From so many on every operation must have succeeded. */
const enough = 5_000;

async function run({ rounds, seed, say }: RunOptions): Promise<Outcome> {
  const ground = await openGround();
  const { wire } = await ground.serve({
    environment: { CERTO_API_KEY_RATE: '1000000000', CERTO_AT_DEADLINE_SECONDS: '10' },
  });
  await ground.company();
  const founder = await openFounder(ground);
  const play = new Play(wire, await readDescription(wire), founder);
  await play.settleForeign();
  await several(Math.ceil(rounds / batch), atOnce, async (i) => {
    await play.batch(seed + i, Math.min(batch, rounds - i * batch));
    say(`${play.sent} of ${rounds}`);
  });
  const never = rounds < enough ? [] : play.operations.filter(({ name }) => !play.done.has(name));
  const violations = [...play.violations, ...never.map(({ name }) => `${name} never succeeded (seed ${seed})`)];
  const books = await verified(ground, `seed ${seed}`);
  await founder.close();
  await ground.close();
  if (rounds >= enough) console.log(play.table());
  const counts = {
    ...Object.fromEntries([...play.classes].sort()),
    'operations done': play.done.size,
    documents: books.documents,
  };
  return { rounds, counts, violations: [...violations, ...books.faults] };
}
