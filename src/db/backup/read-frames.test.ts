/** Files that somebody made to be slow to look at. */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { growth, no_square } from '../../../test/growth.ts';
import { firstLine } from './frames.ts';
import { damaged, readFrames } from './read-frames.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'certo-frames-'));
});
afterAll(() => rm(folder, { recursive: true }));

const empty = Buffer.from('D\0\0\0\0', 'latin1');

test('what empty pieces take grows as they do', async () => {
  const read = (count: number) => {
    const path = join(folder, String(count));
    writeFileSync(path, Buffer.concat([firstLine, ...Array<Buffer>(count).fill(empty)]));
    return async () => {
      let frames = 0;
      const reading = async () => {
        for await (const { kind, bytes } of readFrames(path, () => undefined)) {
          frames += 1;
          if (kind !== 'D' || bytes.length > 0) throw new Error(kind);
        }
      };
      await expect(reading()).rejects.toThrow(damaged('it ends early').message);
      expect(frames).toBe(count);
    };
  };
  expect(await growth(read, 750)).toBeLessThan(no_square);
});
