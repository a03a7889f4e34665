import { expect, test } from 'vitest';
import { Refusal } from '../../fiscal/refusal.ts';
import { Untaken } from './untaken.ts';

test('who holds nothing may always begin a change, however little room there is', () => {
  const untaken = new Untaken({ ofOne: 100, together: 100, little: 10 });
  untaken.checkChange('a');
  untaken.check('a', 100);
  expect(() => untaken.check('a', 101)).toThrow(Refusal);
});
