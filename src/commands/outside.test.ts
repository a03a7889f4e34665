import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { FrameWriter } from '../db/backup/frames.ts';
import { checkBackup } from './backup.ts';
import { inSigns, type Outside, remark, tell, tellJson } from './outside.ts';

/** What a command has written, and on which output. */
function written(command: (outside: Outside) => void): { readonly out: string; readonly err: string } {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  command({ stdout, stderr } as unknown as Outside);
  const textOf = (output: PassThrough) => String(output.read() ?? '');
  return { out: textOf(stdout), err: textOf(stderr) };
}

test('what is an order to a terminal is told by its number; lines, tabs and letters stay', () => {
  expect(inSigns('a\tb\nção 漢 \u0301')).toBe('a\tb\nção 漢 \u0301');
  expect(inSigns('\u001b]52;c;eA==\u0007 \u009b2J \r \u007f \u202eabc\u2069')).toBe(
    '<U+001B>]52;c;eA==<U+0007> <U+009B>2J <U+000D> <U+007F> <U+202E>abc<U+2069>',
  );
});

test('lines, remarks and JSON have none; of JSON the value stays', () => {
  const value = { name: 'a\u001b[31m\u009b1m\u202e\u007f' };
  expect(written((outside) => tell(outside, value.name)).out).toBe('a<U+001B>[31m<U+009B>1m<U+202E><U+007F>\n');
  expect(written((outside) => remark(outside, value.name)).err).toBe(
    'certo: a<U+001B>[31m<U+009B>1m<U+202E><U+007F>\n',
  );
  const { out } = written((outside) => tellJson(outside, value));
  expect(out).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(out)).toEqual(value);
});

test('a backup file that somebody made says nothing to the terminal of who checks it', async () => {
  const path = join(tmpdir(), `certo-orders-${process.pid}.backup`);
  const file = await open(path, 'wx');
  try {
    const writer = new FrameWriter(file);
    await writer.begin();
    const manifest = { certo: '1 \u001b]0;x\u0007', postgres: '18', takenAt: '2026-01-01T00:00:00.000Z' };
    const rest = { installation: null, migrations: [], tables: [], sequences: [] };
    await writer.write('M', Buffer.from(JSON.stringify({ ...manifest, ...rest })));
    await writer.end(() => Buffer.alloc(32));
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    expect(await checkBackup({ cwd: '/', stdout, stderr } as unknown as Outside, {}, path)).toBe(0);
    expect(String(stdout.read())).toMatch(/written by Certo 1 <U\+001B>]0;x<U\+0007>\.\n$/);
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
});
