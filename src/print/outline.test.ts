import fc from 'fast-check';
import { expect, test } from 'vitest';
import { outline } from './outline.ts';

/** Fills a path of M, h, v, z by the even-odd rule, cell by cell, from its vertical edges. */
function filled(path: string, width: number, height: number): boolean[][] {
  const crossings = Array.from({ length: height }, () => new Array<number>(width + 1).fill(0));
  let [x, y, startX, startY] = [0, 0, 0, 0];
  const down = (to: number) => {
    for (let row = Math.min(y, to); row < Math.max(y, to); row++) crossings[row]![x]! += 1;
    y = to;
  };
  for (const [, letter, first, second] of path.matchAll(/([Mhvz])(-?\d+)?(?: (\d+))?/g)) {
    if (letter === 'M') [x, y, startX, startY] = [Number(first), Number(second), Number(first), Number(second)];
    if (letter === 'h') x += Number(first);
    if (letter === 'v') down(y + Number(first));
    if (letter === 'z') {
      if (x !== startX) expect(y).toBe(startY);
      down(startY);
    }
  }
  return crossings.map((row) => {
    let sum = 0;
    return row.slice(0, width).map((change) => {
      sum += change;
      return sum % 2 === 1;
    });
  });
}

test('one cell is one square', () => expect(outline([[true]])).toBe('M0 0h1v1h-1z'));

test('nothing dark, nothing drawn', () => {
  expect(outline([[false, false]])).toBe('');
  expect(outline([])).toBe('');
});

test('where cells touch at a corner only, the border goes straight on', () => {
  const touching = [
    [true, false],
    [false, true],
  ];
  expect(outline(touching)).toBe('M0 0h1v2h1v-1h-2z');
});

test('cells that touch at a corner, rings and holes: filled, the outline is the bitmap', () => {
  const row = (width: number) => fc.array(fc.boolean(), { minLength: width, maxLength: width });
  const bitmap = fc
    .integer({ min: 1, max: 12 })
    .chain((width) => fc.array(row(width), { minLength: 1, maxLength: 12 }));
  fc.assert(
    fc.property(bitmap, (cells) => {
      expect(filled(outline(cells), cells[0]!.length, cells.length)).toEqual(cells);
    }),
    { numRuns: 500 },
  );
});
