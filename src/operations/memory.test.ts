import { expect, test } from 'vitest';
import { bytesOf } from '../../test/pieces.ts';
import { type Utf8, utf8, utf8Of } from '../fiscal/utf8.ts';
import { Memory } from './memory.ts';

const now = new Date('2026-11-22T10:00:00.000Z');
const moment = { id: 'A', region: 'PT', now, digest: '1' };
const qr = { before: 'A:1', between: '*I1:0', behind: '', isSigned: true };
const parts = (id: unknown, ...texts: Utf8[]) => ({ columns: { id }, qr, texts, unfolded: 5, besides: 700 });

test('the moment goes on with the ticks since it was read, for a minute', () => {
  let ticks = 5_000;
  const memory = new Memory(() => ticks).of('A');
  expect(memory.moment('PT')).toBeUndefined();
  memory.keepMoment(moment);
  ticks += 1_500.7;
  expect(memory.moment('PT')).toEqual({ ...moment, now: new Date('2026-11-22T10:00:01.500Z') });
  ticks = 65_000;
  expect(memory.moment('PT')?.['now']).toEqual(new Date('2026-11-22T10:01:00.000Z'));
  ticks += 1;
  expect(memory.moment('PT')).toBeUndefined();
});

test('a reading that comes a little late does not set the moment back; one of a clock that was set does', () => {
  let ticks = 0;
  const memory = new Memory(() => ticks).of('A');
  const at = (ms: number) => new Date(now.getTime() + ms);
  const reading = (ms: number) => {
    memory.keepMoment({ ...moment, now: at(ms) });
    return memory.moment('PT')?.['now'];
  };
  expect(reading(0)).toEqual(at(0));
  ticks = 500;
  expect([reading(450), reading(-400), reading(600), reading(-500)]).toEqual([at(500), at(500), at(600), at(-500)]);
});

test('the moment is of a region, and places are of the moment that they were read with', () => {
  const memory = new Memory(() => 0).of('A');
  const places = [{ place_id: 's' }];
  memory.keepMoment(moment);
  memory.keepPlaces('INVOICE', null, places);
  memory.keepMoment({ ...moment });
  expect([memory.moment('PT-AC'), memory.places('INVOICE', null)]).toEqual([undefined, places]);
  memory.keepMoment({ ...moment, digest: '2' });
  expect(memory.places('INVOICE', null)).toBeUndefined();
});

test('after something was not as it was remembered, places are read for half a minute', () => {
  let ticks = 0;
  const memory = new Memory(() => ticks);
  memory.forget('A');
  const A = memory.of('A');
  A.keepPlaces('INVOICE', null, []);
  ticks = 29_999;
  expect(A.places('INVOICE', null)).toBeUndefined();
  ticks = 30_000;
  expect(A.places('INVOICE', null)).toEqual([]);
});

test('what one company has is unknown to another, whatever it asks for', () => {
  const memory = new Memory(() => 0);
  const [A, B] = [memory.of('A'), memory.of('B')];
  expect([memory.of('A'), memory.of('B')].map((one, i) => one === [A, B][i])).toEqual([true, true]);
  A.keepMoment(moment);
  A.keepPlaces('INVOICE', null, [{ place_id: 's' }]);
  A.keepMasters('customer', [{ id: 'c' }]);
  A.keepUsed(['c']);
  A.keepDraft('d', parts('d', utf8('açúcar'), utf8(''), utf8('€')));
  expect([B.moment('PT'), B.places('INVOICE', null), B.master('customer', 'c'), B.draft('d')]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(B.areUsed(['c'])).toBe(false);
  B.forgetDraft('d');
  const kept = A.draft('d')!;
  expect([kept.columns, kept.qr, kept.unfolded]).toEqual([{ id: 'd' }, qr, 5]);
  expect(kept.texts.map((text) => bytesOf([text]).toString())).toEqual(['açúcar', '', '€']);
});

test('a customer is no item, and a series that is named no default', () => {
  const memory = new Memory(() => 0).of('A');
  memory.keepMasters('customer', [{ id: 'c' }]);
  memory.keepPlaces('INVOICE', 's', [{ place_id: 's' }]);
  expect([memory.master('customer', 'c'), memory.master('item', 'c')]).toEqual([{ id: 'c' }, undefined]);
  expect([memory.places('INVOICE', 's'), memory.places('INVOICE', null)]).toEqual([[{ place_id: 's' }], undefined]);
});

test('all are used only where each of them is; a draft that is forgotten is unknown, and no other one', () => {
  const memory = new Memory(() => 0).of('A');
  memory.keepUsed(['c', 'i']);
  memory.keepUsed(['c', 'j']);
  expect([['c'], ['c', 'i', 'j'], ['c', 'k'], ['k', 'c']].map((ids) => memory.areUsed(ids))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  for (const id of ['d', 'e']) memory.keepDraft(id, parts(id, utf8('')));
  memory.forgetDraft('d');
  expect([memory.draft('d'), memory.draft('e')?.columns['id']]).toEqual([undefined, 'e']);
});

test('what was read is forgotten at once; the heads stay until all is', () => {
  const memory = new Memory(() => 0);
  const A = memory.of('A');
  const row = { id: 's', last_number: 4, last_hash: 'h', last_seal: null };
  const head = A.head(row);
  A.keepMoment(moment);
  A.keepMasters('item', [{ id: 'i' }]);
  A.keepPlaces('INVOICE', null, []);
  A.keepUsed(['i']);
  A.keepDraft('d', parts('d', utf8('')));
  A.forgetRead();
  expect([A.moment('PT'), A.master('item', 'i'), A.areUsed(['i']), A.draft('d')]).toEqual([
    undefined,
    undefined,
    false,
    undefined,
  ]);
  expect(A.places('INVOICE', null)).toBeUndefined();
  expect(A.head(row)).toBe(head);
  expect(A.head({ ...row, last_number: 5 })).not.toBe(head);
  memory.forget('A');
  expect(memory.of('A')).not.toBe(A);
});

test('the latest reading is that of whatever series', () => {
  const memory = new Memory(() => 0).of('A');
  const head = (id: string) => memory.head({ id, last_number: 0, last_hash: '', last_seal: null });
  const [x, y] = [head('x'), head('y')];
  expect(memory.latest()).toBeUndefined();
  x.now = now;
  expect(memory.latest()).toEqual(now);
  y.now = new Date(now.getTime() - 1);
  expect(memory.latest()).toEqual(now);
  y.now = new Date(now.getTime() + 1);
  expect(memory.latest()).toEqual(y.now);
});

test('only the latest are kept, by what they weigh, and no draft that is very large', () => {
  const memory = new Memory(() => 0);
  const A = memory.of('A');
  const text = utf8('x'.repeat(16_384));
  // 64 MiB, and 700 bytes that each says it has beside its texts.
  const fit = Math.floor((64 * 2 ** 20) / (16_384 + 700));
  for (let i = 0; i <= fit; i++) A.keepDraft(`d${i}`, parts(i, text));
  const [first, second, last] = ['d0', 'd1', `d${fit}`].map((id) => A.draft(id)?.columns['id']);
  expect([first, second, last]).toEqual([undefined, 1, fit]);
  A.keepDraft('d', parts('d', utf8Of`${text}x`));
  expect(A.draft('d')).toBeUndefined();
  memory.keepKey('k');
  expect([memory.hasKey('k'), memory.hasKey('l')]).toEqual([true, false]);
});

test('a credential counts as lately valid for 15 minutes after the database last said so, unless it was refused since', () => {
  let ticks = 0;
  const memory = new Memory(() => ticks);
  const principal = { kind: 'key', companyId: 'A', region: 'PT', actor: 'key-1', scope: 'key:1' } as const;
  expect(memory.wasLatelyValid('a')).toBe(false);
  memory.keepPrincipal('a', principal);
  ticks = 10 * 60_000;
  memory.keepPrincipal('a', principal);
  memory.keepPrincipal('b', principal);
  ticks += 15 * 60_000;
  expect(memory.wasLatelyValid('a')).toBe(true);
  memory.forgetPrincipal('a');
  expect([memory.wasLatelyValid('a'), memory.principal('a')]).toEqual([false, undefined]);
  ticks += 1;
  // Who it was is still of use: it is asked of the database again with whatever is written.
  expect([memory.wasLatelyValid('b'), memory.principal('b')]).toEqual([false, principal]);
});
