import { expect, test } from 'vitest';
import { Memory } from './memory.ts';

const now = new Date('2026-11-22T10:00:00.000Z');
const moment = { id: 'A', now, digest: '1' };

test('the moment goes on with the ticks since it was read, for a minute', () => {
  let ticks = 5_000;
  const memory = new Memory(() => ticks).of('A');
  expect(memory.moment()).toBeUndefined();
  memory.keepMoment(moment);
  ticks += 1_500.7;
  expect(memory.moment()).toEqual({ ...moment, now: new Date('2026-11-22T10:00:01.500Z') });
  ticks = 65_000;
  expect(memory.moment()?.['now']).toEqual(new Date('2026-11-22T10:01:00.000Z'));
  ticks += 1;
  expect(memory.moment()).toBeUndefined();
});

test('what one company has is unknown to another, whatever it asks for', () => {
  const memory = new Memory(() => 0);
  const [A, B] = [memory.of('A'), memory.of('B')];
  A.keepMoment(moment);
  A.keepPlaces('INVOICE', null, [{ place_id: 's' }]);
  A.keepMasters('customer', [{ id: 'c' }]);
  A.keepUsed(['c']);
  A.keepDraft('d', { id: 'd' }, { content: { lines: [] } });
  expect([B.moment(), B.places('INVOICE', null), B.master('customer', 'c'), B.draft('d')]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(B.areUsed(['c'])).toBe(false);
  B.forgetDraft('d');
  expect(A.draft('d')).toEqual({ id: 'd', content: { lines: [] } });
});

test('a customer is no item, and a series that is named no default', () => {
  const memory = new Memory(() => 0).of('A');
  memory.keepMasters('customer', [{ id: 'c' }]);
  memory.keepPlaces('INVOICE', 's', [{ place_id: 's' }]);
  expect([memory.master('customer', 'c'), memory.master('item', 'c')]).toEqual([{ id: 'c' }, undefined]);
  expect([memory.places('INVOICE', 's'), memory.places('INVOICE', null)]).toEqual([[{ place_id: 's' }], undefined]);
});

test('what was read is forgotten at once; the heads stay until all is', () => {
  const memory = new Memory(() => 0);
  const A = memory.of('A');
  const row = { id: 's', last_number: 4, last_hash: 'h', last_seal: null };
  const head = A.head(row);
  A.keepMoment(moment);
  A.keepMasters('item', [{ id: 'i' }]);
  A.keepUsed(['i']);
  A.keepDraft('d', { id: 'd' }, {});
  A.forgetRead();
  expect([A.moment(), A.master('item', 'i'), A.areUsed(['i']), A.draft('d')]).toEqual([
    undefined,
    undefined,
    false,
    undefined,
  ]);
  expect(A.head(row)).toBe(head);
  expect(A.head({ ...row, last_number: 5 })).not.toBe(head);
  memory.forget('A');
  expect(memory.of('A')).not.toBe(A);
});

test('only the latest are kept, and no draft that is very large', () => {
  const memory = new Memory(() => 0);
  const A = memory.of('A');
  for (let i = 0; i < 2_001; i++) A.keepDraft(`d${i}`, { id: i }, {});
  expect([A.draft('d0'), A.draft('d1'), A.draft('d2000')]).toEqual([undefined, { id: 1 }, { id: 2_000 }]);
  A.keepDraft('d', { id: 'd' }, { notes: 'x'.repeat(16_384) });
  expect(A.draft('d')).toBeUndefined();
  expect([memory.isNewKey('k'), memory.isNewKey('k')]).toEqual([true, false]);
});
