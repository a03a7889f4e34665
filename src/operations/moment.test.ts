import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../test/service.ts';
import { StatementError } from '../db/errors.ts';
import { joinCalls } from '../db/joined.ts';
import { Line } from '../db/transact.ts';
import { encodeAll } from '../db/wire-types.ts';
import { entryOfCompany } from '../identity/principal.ts';
import { holdMomentCall, readMoment } from './moment.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ companies: ['A'] });
});
afterAll(() => service.stop());

const id = '01a20f7f-ddc5-74c1-9d0a-415c6a8a70f0';
const at = (ms: number): Date => new Date(Date.UTC(2026, 2, 2) + ms);

test('what was decided on one moment is held to it by the earliest and the latest of its times', () => {
  const hold = (digest: string, ms: number) => [holdMomentCall({ id, digest }, at(ms))];
  const { calls } = joinCalls([
    hold('1', 20),
    hold('1', 10),
    hold('2', 15),
    hold('1', 15),
    hold('1', 30),
    hold('2', 15),
  ]);
  expect(calls.map(([{ name }, values]) => [name, ...encodeAll(values)])).toEqual([
    ['unchanged_moment', id, '1', at(10).toISOString(), at(30).toISOString()],
    ['unchanged_moment', id, '2', at(15).toISOString(), at(15).toISOString()],
  ]);
});

/**
 * Of what was decided so many milliseconds from the moment that is read now, or from the last signature: 'held', or the
 * SQLSTATE by which it is not.
 */
async function held(offsets_ms: readonly number[], since: 'now' | 'last_signed' = 'now'): Promise<unknown> {
  const entry = entryOfCompany(service.companies.A.id, 'test');
  const moment = (await service.db.read(entry).query(readMoment))[0]!;
  const from = (moment[since] as Date).getTime();
  const { calls } = joinCalls(offsets_ms.map((ms) => [holdMomentCall(moment, new Date(from + ms))]));
  return service.db.write(entry, calls, new Line()).then(
    () => 'held',
    (error: unknown) => (error instanceof StatementError ? error.code : error),
  );
}

test('what was decided holds for five seconds, and not where the clock was a second ahead of what it is', async () => {
  for (const offsets of [[0], [-2_500], [700], [-2_500, 0, 700]])
    expect([offsets, await held(offsets)]).toEqual([offsets, 'held']);
  for (const offsets of [[-5_001], [4_000], [-5_001, 0], [0, 4_000]])
    expect([offsets, await held(offsets)]).toEqual([offsets, 'CE003']);
});

test('nothing is decided more than a second before what was signed last, in whatever series', async () => {
  const { A } = service.companies;
  await A.issue(await A.draft({ type: 'SIMPLIFIED_INVOICE' }));
  expect([await held([-1_000], 'last_signed'), await held([-1_001], 'last_signed')]).toEqual(['held', 'CE003']);
});
