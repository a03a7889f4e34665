import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setClock, type TestDatabase, testDatabase } from '../../../test/database.ts';
import { eventually } from '../../../test/eventually.ts';
import { DatabaseUnavailable } from '../../db/errors.ts';
import { FailureLog } from '../failure-log.ts';
import { compareClocks, startWatch } from './watch.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

function watching() {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { lines, world: { db: database.db, log, milliseconds: Date.now } };
}

test.each([
  [3 * 86_400, 1],
  [-90, 1],
  [50, 0],
  [-50, 0],
  [0, 0],
])('a database whose clock is %i seconds ahead is warned of: %i', async (shift, warnings) => {
  const { lines, world } = watching();
  await setClock(database.ownerPool, shift === 0 ? null : new Date(Date.now() + shift * 1000));
  await compareClocks(world);
  expect(lines).toHaveLength(warnings);
  if (warnings === 0) return;
  expect(lines[0]).toMatchObject({ level: 40, msg: expect.stringContaining("the database's clock") });
  expect(Math.abs(Number(lines[0]!['seconds']) - shift)).toBeLessThan(30);
});

test('the time that the question takes is no difference', async () => {
  const { lines, world } = watching();
  await setClock(database.ownerPool, null);
  let asked = 0;
  // The answer took two minutes.
  await compareClocks({ ...world, milliseconds: () => Date.now() + (asked++ === 0 ? -60_000 : 60_000) });
  expect(lines).toEqual([]);
});

test('it looks at the start, and a database that is away stops nothing', async () => {
  const { lines, world } = watching();
  await setClock(database.ownerPool, new Date(Date.now() + 600_000));
  const failures = new FailureLog(world.log, 60_000);
  const watch = startWatch(world, failures);
  await eventually(() => expect(lines).toHaveLength(1));
  await watch.stop();
  const away = () => Promise.reject(new DatabaseUnavailable('Nothing answers.'));
  const nowhere = { query: away, batch: away, commitWith: away };
  const other = startWatch({ ...world, db: { ...database.db, read: () => nowhere } }, failures);
  await other.stop();
  expect(lines).toHaveLength(1);
});
