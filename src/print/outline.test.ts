import fc from 'fast-check';
import { expect, test } from 'vitest';
import { outline } from './outline.ts';

/** Fills a path of m, l, h by the even-odd rule, cell by cell, from its vertical edges. */
function filled(path: string, width: number, height: number): boolean[][] {
  const crossings = Array.from({ length: height }, () => new Array<number>(width + 1).fill(0));
  let [x, y, startX, startY] = [0, 0, 0, 0];
  const down = (to: number) => {
    for (let row = Math.min(y, to); row < Math.max(y, to); row++) crossings[row]![x]! += 1;
  };
  const goTo = (toX: number, toY: number) => {
    if (toX !== x) expect(toY).toBe(y);
    down(toY);
    [x, y] = [toX, toY];
  };
  for (const [, first, second, letter] of path.matchAll(/(?:(\d+) (\d+) )?([mlh])\s/g)) {
    if (letter === 'm') [x, y, startX, startY] = [Number(first), Number(second), Number(first), Number(second)];
    if (letter === 'l') goTo(Number(first), Number(second));
    if (letter === 'h') goTo(startX, startY);
  }
  return crossings.map((row) => {
    let sum = 0;
    return row.slice(0, width).map((change) => {
      sum += change;
      return sum % 2 === 1;
    });
  });
}

test('one cell is one square', () => expect(outline([[true]])).toBe('0 0 m 1 0 l 1 1 l 0 1 l h\n'));

test('nothing dark, nothing drawn', () => {
  expect(outline([[false, false]])).toBe('');
  expect(outline([])).toBe('');
});

test('where cells touch at a corner only, the border goes straight on', () => {
  const touching = [
    [true, false],
    [false, true],
  ];
  expect(outline(touching)).toBe('0 0 m 1 0 l 1 2 l 2 2 l 2 1 l 0 1 l h\n');
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
