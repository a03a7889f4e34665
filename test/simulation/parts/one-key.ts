/** One payment, one key, thousands of requests at two processes: it is paid once. */
import { faultsOf, verified } from '../books.ts';
import { chanceOf } from '../chance.ts';
import { openGround } from '../ground.ts';
import { Journal, type Told } from '../journal.ts';
import { draftBody } from '../load.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';
import { several } from '../several.ts';

export const part: Part = {
  name: 'one-key',
  title: 'requests with one key, 1,000 in flight, two processes: one execution',
  unit: 'requests',
  target: 10_000,
  run,
};

const in_flight = 1_000;

async function run({ rounds, seed, say }: RunOptions): Promise<Outcome> {
  const ground = await openGround();
  const first = await ground.serve();
  const company = await ground.company();
  const second = await ground.serve({ through: ground.connection });
  const chance = chanceOf(seed);
  const journal = new Journal(company.apiKey, `one-key-${seed}`);
  const draft = await journal.send(first.wire, journal.act('/invoices', draftBody(company, chance, 'INVOICE')));
  const issue = journal.act(`/invoices/${draft?.id}/issue`, { expectedUpdatedAt: draft?.updatedAt });
  const invoice = await journal.send(first.wire, issue);
  // A payment of a part could well happen twice: nothing but the key prevents it.
  const key = `one-key-${seed}`;
  const body = JSON.stringify({ amount: 0.01 });
  const counts = { executed: 0, replayed: 0, 'in progress': 0 };
  const answers = new Set<string>();
  const violations: string[] = [];
  const where = `seed ${seed}`;
  // Connections first: the requests are to arrive together, not as they are connected.
  for (const { wire } of [first, second]) {
    const knock = () => wire.send({ method: 'GET', path: '/health/live' });
    await Promise.all(Array.from({ length: Math.min(rounds, in_flight) / 2 }, knock));
  }
  await several(rounds, in_flight, async (i) => {
    const { wire } = chance.whole(0, 1) === 0 ? first : second;
    const headers = { 'x-api-key': company.apiKey, 'content-type': 'application/json', 'idempotency-key': key };
    const answer = await wire.send({ method: 'POST', path: `/invoices/${invoice?.id}/pay`, body, headers });
    if (answer.status === 200) {
      answers.add(answer.text);
      counts[answer.headers['idempotent-replayed'] === 'true' ? 'replayed' : 'executed'] += 1;
    } else if (answer.status === 409 && answer.headers['retry-after'] !== undefined) counts['in progress'] += 1;
    else violations.push(`an answer is ${answer.status} ${answer.text.slice(0, 300)} (${where})`);
    if (i % 500 === 499) say(`${i + 1} of ${rounds}`);
  });
  const { rows } = await ground.owner.query(
    `select count(*)::int as receipts from certo.documents where type = 'RECEIPT' and number is not null`,
  );
  if (rows[0]?.receipts !== 1) violations.push(`${rows[0]?.receipts} receipts were issued for one key (${where})`);
  if (counts.executed !== 1) violations.push(`${counts.executed} answers say that they are the first (${where})`);
  if (answers.size !== 1) violations.push(`${answers.size} different answers for one key (${where})`);
  const told = [...answers].map((text) => JSON.parse(text) as Told);
  if (told.some(({ id }) => id !== invoice?.id)) violations.push(`an answer is about another invoice (${where})`);
  violations.push(...(await faultsOf(ground, [journal], where)), ...(await verified(ground, where)).faults);
  await ground.close();
  return { rounds, counts, violations };
}
