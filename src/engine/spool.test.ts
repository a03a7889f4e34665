import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Refusal } from '../fiscal/refusal.ts';
import { Download } from '../operations/operation.ts';
import { CallerGone, openSpool, type Spool } from './spool.ts';

let folder: string;
let spool: Spool;
beforeEach(async () => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-spool-'));
  spool = await openSpool({ directory: join(folder, 'spool'), perCompany: 2, writing: 2, together: 3 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const left = () => readdirSync(join(folder, 'spool'));
/** Of the one open file in a folder. */
function descriptorIn(directory: string): number {
  const open = readdirSync('/proc/self/fd').filter((number) => {
    try {
      return readlinkSync(join('/proc/self/fd', number)).startsWith(`${directory}/`);
    } catch {
      // The one of reading this folder.
      return false;
    }
  });
  expect(open).toHaveLength(1);
  return Number(open[0]);
}
const here = new AbortController().signal;
const of = (...parts: string[]) =>
  new Download('a.txt', async (sink) => {
    for (const part of parts) await sink(Buffer.from(part));
  });
const refused = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof Refusal ? [error.code, error.retryAfterSeconds] : error;
};
/** A download that is written when it is told to be. */
function held(): { readonly download: Download; write(): void } {
  let write = (): void => undefined;
  const told = new Promise<void>((resolve) => {
    write = resolve;
  });
  return { download: new Download('held', async (sink) => told.then(() => sink(Buffer.from('x')))), write };
}

test('what was written comes out, whole, and has no name on the disk', async () => {
  const seen: string[][] = [];
  const download = new Download('a.txt', async (sink) => {
    await sink(Buffer.from('olá '));
    seen.push(left());
    await sink(Buffer.alloc(3_000_000, 'x'));
  });
  const file = await spool.fill('A', download, here);
  expect([file.name, file.size, seen, left()]).toEqual(['a.txt', 3_000_005, [[]], []]);
  const bytes = await buffer(file.content(here));
  expect(bytes.equals(Buffer.concat([Buffer.from('olá '), Buffer.alloc(3_000_000, 'x')]))).toBe(true);
});

test('what a killed process left behind goes at the next start', async () => {
  const directory = join(folder, 'spool');
  writeFileSync(join(directory, 'left'), 'x');
  mkdirSync(join(directory, 'folder'));
  await openSpool({ directory, perCompany: 1, writing: 1, together: 1 });
  expect(left()).toEqual([]);
});

describe('a place', () => {
  test('is one of few for a company, until its file was sent', async () => {
    const first = await spool.fill('A', of('1'), here);
    const second = await spool.fill('A', of('2'), here);
    expect(await refused(spool.fill('A', of('3'), here))).toEqual(['TOO_MANY_DOWNLOADS', 5]);
    expect(String(await buffer(first.content(here)))).toBe('1');
    const third = await vi.waitFor(() => spool.fill('A', of('3'), here));
    second.content(here).destroy();
    third.content(AbortSignal.abort());
    await vi.waitFor(() => spool.fill('A', of('4'), here));
    await vi.waitFor(() => spool.fill('A', of('5'), here));
  });

  test('is one of few for all', async () => {
    for (const company of ['A', 'B', 'C']) await spool.fill(company, of('x'), here);
    expect(await refused(spool.fill('D', of('x'), here))).toEqual(['DOWNLOADS_BUSY', 5]);
  });

  test('among those being written is taken by companies together', async () => {
    const [a, b] = [held(), held()];
    const files = [spool.fill('A', a.download, here), spool.fill('B', b.download, here)];
    expect(await refused(spool.fill('C', of('x'), here))).toEqual(['DOWNLOADS_BUSY', 5]);
    a.write();
    b.write();
    expect((await Promise.all(files)).map(({ size }) => size)).toEqual([1, 1]);
    expect((await spool.fill('C', of('x'), here)).size).toBe(1);
  });

  test('is free again when the writing fails, when the caller goes, and when the disk is full', async () => {
    const broken = new Download('x', () => Promise.reject(new Error('broken')));
    const full = new Download('x', () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })));
    const gone = new AbortController();
    const leaving = new Download('x', async (sink) => {
      await sink(Buffer.from('x'));
      gone.abort();
      await sink(Buffer.from('x'));
      throw new Error('written for nobody');
    });
    for (let again = 0; again < 5; again += 1) {
      expect(await refused(spool.fill('A', broken, here))).toEqual(new Error('broken'));
      expect(await refused(spool.fill('A', full, here))).toEqual(['UNAVAILABLE', 60]);
      expect(await refused(spool.fill('A', leaving, gone.signal))).toBeInstanceOf(CallerGone);
    }
    expect(left()).toEqual([]);
  });

  test('is free again when its file cannot even be closed', async () => {
    for (let again = 0; again < 5; again += 1) {
      const broken = new Download('x', async () => {
        // Somebody else has closed it: what is left to do with it fails.
        closeSync(descriptorIn(join(folder, 'spool')));
        throw new Error('broken');
      });
      expect(await refused(spool.fill('A', broken, here))).toEqual(new Error('broken'));
    }
  });

  test('is free again when the folder is gone', async () => {
    rmSync(join(folder, 'spool'), { recursive: true });
    for (let again = 0; again < 5; again += 1) {
      expect(await refused(spool.fill('A', of('x'), here))).toMatchObject({ code: 'ENOENT' });
    }
    mkdirSync(join(folder, 'spool'));
    expect((await spool.fill('A', of('x'), here)).size).toBe(1);
    expect(existsSync(join(folder, 'spool'))).toBe(true);
  });
});
