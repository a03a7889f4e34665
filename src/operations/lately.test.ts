import { expect, test } from 'vitest';
import { Lately } from './lately.ts';

const kept = (lately: Lately<string>, ...keys: string[]) => keys.filter((key) => lately.get(key) !== undefined);

test('what was used longest ago gives way to what comes', () => {
  const lately = new Lately<string>(2);
  lately.set('a', 'A');
  lately.set('b', 'B');
  lately.get('a');
  lately.set('c', 'C');
  expect(kept(lately, 'a', 'b', 'c')).toEqual(['a', 'c']);
  lately.delete('a');
  lately.delete('a');
  lately.set('d', 'D');
  expect(kept(lately, 'a', 'b', 'c', 'd')).toEqual(['c', 'd']);
});

test('values that are weighed stay within their weight, however often they are replaced', () => {
  const lately = new Lately<string>(10, (text) => text.length);
  for (const text of ['1234', '12', '1234567', '123']) lately.set('a', text);
  lately.set('b', '1234567');
  expect(kept(lately, 'a', 'b')).toEqual(['a', 'b']);
  lately.set('c', '1');
  expect(kept(lately, 'a', 'b', 'c')).toEqual(['b', 'c']);
  lately.set('d', '12345678901');
  expect(kept(lately, 'b', 'c', 'd')).toEqual([]);
  lately.set('e', '1234567890');
  expect(kept(lately, 'e')).toEqual(['e']);
});

test('to peek at a value is no use of it', () => {
  const lately = new Lately<string>(2);
  lately.set('a', 'A');
  lately.set('b', 'B');
  expect([lately.peek('a'), lately.peek('none')]).toEqual(['A', undefined]);
  lately.set('c', 'C');
  expect(kept(lately, 'a', 'b', 'c')).toEqual(['b', 'c']);
});
