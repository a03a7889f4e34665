import { expect, test } from 'vitest';
import { joinCalls } from '../db/joined.ts';
import { encodeAll } from '../db/wire-types.ts';
import { holdMomentCall } from './moment.ts';

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
