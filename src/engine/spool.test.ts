import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
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
  spool = await openSpool({ directory: directory(), perCompany: 2, writing: 2, together: 3 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const directory = () => join(folder, 'spool');
const left = () => readdirSync(directory());
/** Of the spool's open files, those that have no name any more too. */
function descriptors(): number[] {
  const open = readdirSync('/proc/self/fd').filter((number) => {
    try {
      return readlinkSync(join('/proc/self/fd', number)).startsWith(`${directory()}/`);
    } catch {
      // The one of reading this folder.
      return false;
    }
  });
  return open.map(Number);
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
function held(begin: () => void = () => undefined): { readonly download: Download; write(): void } {
  let write = (): void => undefined;
  const told = new Promise<void>((resolve) => {
    write = resolve;
  });
  const download = new Download('held', async (sink) => {
    begin();
    await told;
    await sink(Buffer.from('x'));
  });
  return { download, write };
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

test('what is written is for nobody else on the machine to read', async () => {
  const modes = [statSync(directory()).mode & 0o777];
  const download = new Download('a.txt', async () => {
    modes.push(...descriptors().map((descriptor) => fstatSync(descriptor).mode & 0o777));
  });
  (await spool.fill('A', download, here)).content(here).destroy();
  expect(modes).toEqual([0o700, 0o600]);
});

test('what a killed process left behind goes at the next start, and nothing that is not of a spool', async () => {
  const [file, inner] = [randomUUID(), randomUUID()];
  writeFileSync(join(directory(), file), 'x');
  writeFileSync(join(directory(), 'theirs'), 'x');
  mkdirSync(join(directory(), inner));
  await openSpool({ directory: directory(), perCompany: 1, writing: 1, together: 1 });
  expect(left().toSorted()).toEqual([inner, 'theirs'].toSorted());
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
    const fourth = await vi.waitFor(() => spool.fill('A', of('4'), here));
    await vi.waitFor(() => spool.fill('A', of('5'), here));
    const leaving = new AbortController();
    fourth.content(leaving.signal);
    leaving.abort();
    await vi.waitFor(() => spool.fill('A', of('6'), here));
  });

  test('is one of few for all', async () => {
    for (const company of ['A', 'B', 'C']) await spool.fill(company, of('x'), here);
    expect(await refused(spool.fill('D', of('x'), here))).toEqual(['DOWNLOADS_BUSY', 5]);
  });

  test('among those being written is taken by companies, one of each, in the order in which they came', async () => {
    const begun: string[] = [];
    const under = new Map(['a1', 'a2', 'b1', 'c1', 'c2'].map((name) => [name, held(() => begun.push(name))]));
    const wide = await openSpool({ directory: join(folder, 'wide'), perCompany: 2, writing: 2, together: 5 });
    const files = [...under].map(([name, { download }]) => wide.fill(name[0]!, download, here));
    expect(await refused(wide.fill('D', of('x'), here))).toEqual(['DOWNLOADS_BUSY', 5]);
    await vi.waitFor(() => expect(begun.toSorted()).toEqual(['a1', 'b1']));
    for (const [ended, next] of [
      ['a1', 'a2'],
      ['b1', 'c1'],
      ['c1', 'c2'],
    ] as const) {
      under.get(ended)!.write();
      await vi.waitFor(() => expect(begun.at(-1)).toBe(next));
    }
    for (const last of ['a2', 'c2']) under.get(last)!.write();
    expect((await Promise.all(files)).map(({ size }) => size)).toEqual([1, 1, 1, 1, 1]);
  });

  test('is kept from no company by another that always asks for more', async () => {
    const a = held();
    const files = [spool.fill('A', a.download, here), spool.fill('A', of('x'), here)];
    expect(await refused(spool.fill('A', of('x'), here))).toEqual(['TOO_MANY_DOWNLOADS', 5]);
    expect((await spool.fill('B', of('x'), here)).size).toBe(1);
    a.write();
    expect((await Promise.all(files)).map(({ size }) => size)).toEqual([1, 1]);
  });

  test('is waited for by nobody who has gone', async () => {
    const [a, gone] = [held(), new AbortController()];
    const first = spool.fill('A', a.download, here);
    const leaving = new Download('x', () => Promise.reject(new Error('written for nobody')));
    const second = refused(spool.fill('A', leaving, gone.signal));
    gone.abort();
    expect(await second).toBeInstanceOf(CallerGone);
    expect(await refused(spool.fill('A', leaving, gone.signal))).toBeInstanceOf(CallerGone);
    a.write();
    expect((await first).size).toBe(1);
    expect((await spool.fill('A', of('x'), here)).size).toBe(1);
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
      expect(await refused(spool.fill('A', full, here))).toEqual(['UNAVAILABLE', 5]);
      expect(await refused(spool.fill('A', leaving, gone.signal))).toBeInstanceOf(CallerGone);
    }
    expect([left(), descriptors()]).toEqual([[], []]);
  });

  test('is free again when its file cannot even be closed', async () => {
    for (let again = 0; again < 5; again += 1) {
      const broken = new Download('x', async () => {
        // Somebody else has closed it: what is left to do with it fails.
        const open = descriptors();
        expect(open).toHaveLength(1);
        closeSync(open[0]!);
        throw new Error('broken');
      });
      expect(await refused(spool.fill('A', broken, here))).toEqual(new Error('broken'));
    }
  });

  test('is free again when the folder is gone', async () => {
    rmSync(directory(), { recursive: true });
    for (let again = 0; again < 5; again += 1) {
      expect(await refused(spool.fill('A', of('x'), here))).toMatchObject({ code: 'ENOENT' });
    }
    mkdirSync(directory());
    expect((await spool.fill('A', of('x'), here)).size).toBe(1);
    expect(existsSync(directory())).toBe(true);
  });
});
