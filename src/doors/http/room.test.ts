import { expect, test } from 'vitest';
import { Room } from './room.ts';

test('who takes much leaves room for those who take little, and they have an end too', () => {
  const room = new Room({ ofOne: 100, together: 300, little: 10 });
  for (const whose of ['a', 'b', 'c']) {
    expect([room.has(whose, 100), room.has(whose, 101)]).toEqual([true, false]);
    room.count(whose, 100);
  }
  // All is taken: others have a little each.
  expect([room.has('d', 11), room.has('d', 10), room.has('a', 1)]).toEqual([false, true, false]);
  for (let i = 0; i < 10; i += 1) room.count(`of ${i}`, 10);
  expect(room.has('d', 1)).toBe(false);
  room.count('of 0', -10);
  expect([room.has('d', 10), room.held('of 0')]).toEqual([true, 0]);
  room.count('a', -100);
  room.count('b', -100);
  expect(room.has('d', 11)).toBe(true);
});

test('who holds more than a little has no room beyond what all have together, however little it asks for', () => {
  const room = new Room({ ofOne: 100, together: 100, little: 10 });
  room.count('a', 95);
  room.count('b', 5);
  expect([room.has('a', 1), room.has('b', 1)]).toEqual([false, true]);
});
