/**
 * A backup while four clients work, then the service is killed and the backup restored in another folder: everything that
 * was acknowledged before the backup began stands there with the same bytes, and the books are whole.
 */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reckon } from '../books.ts';
import { chanceOf } from '../chance.ts';
import { type Ground, openGround, type Running } from '../ground.ts';
import { Journal } from '../journal.ts';
import { clients } from '../load.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';

export const part: Part = {
  name: 'backup',
  title: 'a backup under load of four clients; the service killed, the books restored elsewhere and compared',
  unit: 'restores',
  target: 20,
  run,
};

const tables = {
  documents: `select id, number, atcud, hash, signed_text, qr, content::text, asked::text, issued_state::text, encode(seal, 'hex') as seal
    from certo.documents where number is not null order by id`,
  events: `select document_id, sequence, kind, changes::text, encode(seal, 'hex') as seal from certo.document_events order by 1, 2`,
  claims: `select key, status, encode(body, 'hex') as body from certo.claims where completed_at is not null order by key`,
};

async function run({ rounds, seed, say }: RunOptions): Promise<Outcome> {
  const ground = await openGround();
  const journals: Journal[] = [];
  const violations: string[] = [];
  let service: Running = await ground.serve();
  const company = await ground.company();
  let compared = 0;
  let done = 0;
  for (; done < rounds && violations.length === 0; done += 1) {
    const chance = chanceOf(seed + done);
    const journal = new Journal(company.apiKey, `backup-${seed + done}`);
    journals.push(journal);
    let over = false;
    const working = clients(4, { journal, company, wire: service.wire, chance, over: () => over });
    const enough = chance.whole(1, 40);
    const until = performance.now() + 10_000;
    while (journal.done().length < enough && performance.now() < until) await sleep(2);
    // From here on an act may be in the backup or not; what was acknowledged before must be.
    const before = journal.done().map(({ key }) => key);
    const file = join(ground.directory, '..', `${seed + done}.backup`);
    const backup = await ground.run(['backup', '--out', file, '--json']);
    await sleep(chance.whole(0, 15));
    over = true;
    await service.kill();
    await working;
    if (backup.code === 0) {
      const { faults, rows } = await compare(ground, file, before);
      violations.push(...faults.map((words) => `${words} (seed ${seed + done})`));
      compared += rows;
    } else violations.push(`certo backup ended with ${backup.code}: ${backup.err} (seed ${seed + done})`);
    rmSync(file, { force: true });
    service = await ground.serve();
    await journal.retry(service.wire);
    say(`${done + 1} of ${rounds}`);
  }
  const { documents, count, faults } = await reckon(ground, journals, service.wire, `seeds ${seed} to ${seed + done}`);
  violations.push(...faults);
  return { rounds: done, counts: { acts: count('done'), documents, 'rows compared': compared }, violations };
}

/** Restores the file into a ground of its own and holds it against the books that it was taken of. */
async function compare(from: Ground, file: string, before: readonly string[]) {
  const faults: string[] = [];
  const to = await openGround();
  try {
    cpSync(join(from.directory, 'master.key'), join(to.directory, 'master.key'));
    const restored = await to.run(['restore', file, '--json']);
    if (restored.code !== 0)
      return { faults: [`certo restore ended with ${restored.code}: ${restored.out}${restored.err}`], rows: 0 };
    let rows = 0;
    for (const [table, sql] of Object.entries(tables)) {
      const all = new Set((await from.owner.query(sql)).rows.map((row) => JSON.stringify(row)));
      const there = (await to.owner.query(sql)).rows.map((row) => JSON.stringify(row));
      rows += there.length;
      const strange = there.filter((row) => !all.has(row));
      if (strange.length > 0) faults.push(`${strange.length} of ${table} came back otherwise: ${strange[0]}`);
    }
    const { rows: kept } = await to.owner.query<{ key: string }>(
      'select key from certo.claims where completed_at is not null and key = any ($1)',
      [before],
    );
    const missing = before.filter((key) => !kept.some((claim) => claim.key === key));
    if (missing.length > 0)
      faults.push(`${missing.length} act(s) acknowledged before the backup are not in it: ${missing[0]}`);
    const { rows: open } = await to.owner.query(`select code from certo.series where status in ('PENDING', 'ACTIVE')`);
    if (open.length > 0) faults.push(`${open.length} series are open after a restore`);
    return { faults, rows };
  } finally {
    await to.close();
  }
}
