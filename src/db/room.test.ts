import { describe, expect, test } from 'vitest';
import { eventually } from '../../test/eventually.ts';
import { canMount, mountSmall } from '../../test/small-disk.ts';
import { isDiskTrouble, isPassing } from './errors.ts';
import { leastRoom, watchRoom } from './room.ts';

const mebibyte = 2 ** 20;

test.each([
  [64, 16],
  [130, 16],
  [640, 32],
  [960, 48],
  [1_000_000, 48],
])('of a disk of %i MiB, %i stay free', (size, least) => {
  expect(leastRoom(size * mebibyte) / mebibyte).toBe(least);
});

describe.runIf(canMount())('the room on a disk', () => {
  test('is told when it gets short and when it is no more, and nothing is written meanwhile', async () => {
    const disk = mountSmall('32m')!;
    const lines: string[] = [];
    const room = watchRoom(disk.folder, (line) => lines.push(line));
    try {
      expect(room.guard()).toBeUndefined();
      disk.fill();
      await eventually(() => expect(room.guard()).toMatchObject({ name: 'StatementError', code: '53100' }));
      expect([isDiskTrouble(room.guard()), isPassing(room.guard())]).toEqual([true, true]);
      disk.free();
      await eventually(() => expect(room.guard()).toBeUndefined());
      expect(lines).toEqual([
        expect.stringMatching(
          /less than 17 MB are free on the disk of .*: only reads are answered until there is room/,
        ),
        expect.stringMatching(/there is room again on the disk of .*: changes are taken again/),
      ]);
    } finally {
      room.close();
      disk.remove();
    }
  });
});
