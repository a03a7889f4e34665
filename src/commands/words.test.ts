import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Refusal, refuseAll } from '../fiscal/refusal.ts';
import { CommandError, endingOf, exit } from './exit.ts';
import { humanLine } from './logging.ts';
import { openProgress, progressLine } from './progress.ts';
import { describeService } from './serve-words.ts';
import { pairs, table } from './table.ts';

describe('what the system refuses', () => {
  const folder = mkdtempSync(join(tmpdir(), 'certo-words-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    [
      'a name that is too long',
      3,
      /^\S+x is too long for a name of a file/,
      () => readFile(join(folder, 'x'.repeat(300))),
    ],
    ['links in a circle', 3, /lead in a circle/, () => readFile(join(folder, 'circle'))],
    ['an address without its zone', 2, /^HOST fe80::1 is no address to listen on/, () => listening('fe80::1')],
    ['too many files', 3, /^This process has as many files open/, () => failing('EMFILE')],
    ['a file that is too large', 3, /larger than this user or the file system may have it/, () => failing('EFBIG')],
    [
      'a disk that fails',
      3,
      /^A file could not be read or written \(EIO\): the disk may be failing/,
      () => failing('EIO'),
    ],
    [
      'a database that went away',
      3,
      /^The connection to the database broke/,
      () => wordsOfPg('Connection terminated unexpectedly'),
    ],
    [
      'a database that is gone',
      3,
      /^The connection to the database broke/,
      () => wordsOfPg('Client has encountered a connection error and is not queryable'),
    ],
    ['a wire that was cut', 3, /^The connection to the database broke/, () => failing('ECONNRESET')],
    // Where the command's first connection was let in, and one after it is not.
    ['a server without a connection left', 3, /^The database server takes no more connections/, () => failing('53300')],
    [
      'a server on its way up or down',
      3,
      /^The database server is starting up or shutting down/,
      () => failing('57P03'),
    ],
  ])('%s is told in a sentence and no fault of ours', async (_, code, words, work: () => Promise<unknown>) => {
    symlinkSync('circle', join(folder, 'circle'));
    const ending = await work().then(
      () => expect.unreachable(),
      (error: unknown) => endingOf(error),
    );
    rmSync(join(folder, 'circle'));
    expect(ending).toEqual({ code, lines: [expect.stringMatching(words)] });
  });

  const failing = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));

  // The driver's own errors have no code.
  const wordsOfPg = (message: string) => Promise.reject(new Error(message));

  function listening(host: string): Promise<unknown> {
    const server = createServer();
    return once(server.listen(0, host), 'listening');
  }
});

describe('tables', () => {
  test('are aligned, numbers to the right, accents one wide', () => {
    expect(
      table(
        ['Name', 'Last'],
        [
          ['Açores', 7],
          ['Casa Nova', 1234],
        ],
        'none',
      ),
    ).toBe('Name       Last\nAçores        7\nCasa Nova  1234');
    expect(
      table(
        ['Name', 'X'],
        [
          ['Ac\u0327ores', 'a'],
          ['12345678', 'b'],
        ],
        '',
      ),
    ).toBe('Name      X\nAc\u0327ores    a\n12345678  b');
    expect(table(['Name'], [], 'There is none.')).toBe('There is none.');
    expect(
      pairs([
        ['Id', '1'],
        ['Name', 'x'],
      ]),
    ).toBe('Id    1\nName  x');
  });
});

describe('progress', () => {
  test('says the rate and what is left', () => {
    expect(progressLine('documents', 12_000, 50_000, 1.5)).toBe('12 000 of 50 000 documents, 8 000 a second, 5 s left');
    expect(progressLine('documents', 0, 10, 0)).toBe('0 of 10 documents, 0 a second');
  });

  test('is drawn at a terminal only, a few times a second', () => {
    const drawn: string[] = [];
    const write = (text: string) => drawn.push(text) > 0;
    let now = 0;
    const silent = openProgress({ write } as never, 'x', 10, () => now);
    silent.add(1);
    silent.end();
    expect(drawn).toEqual([]);
    const shown = openProgress({ write, isTTY: true } as never, 'x', 10, () => now);
    for (now = 0; now <= 1000; now += 10) shown.add(1);
    expect(drawn).toHaveLength(5);
  });
});

test('a service says where it listens where that is not its address', () => {
  const words = (baseUrl: string) => {
    const service = { atMode: 'simulator', metricsPort: undefined, control: null } as const;
    return describeService({ ...service, baseUrl, local: 'http://127.0.0.1:3000' }).words;
  };
  expect(words('https://faturas.example.pt')).toMatch(
    /^Address {5}https:.*\nListening {3}http:\/\/127\.0\.0\.1:3000\nReference /,
  );
  expect(words('http://127.0.0.1:3000')).not.toContain('Listening');
});

describe('endings', () => {
  const invalid = () => refuseAll([{ code: 'NIF_INVALID', pointer: '/taxpayerNumber' }]);
  const thrown = (work: () => void): unknown => {
    try {
      work();
    } catch (error) {
      return error;
    }
  };
  test.each([
    [new CommandError(exit.no, 'No.'), 1, 'No.'],
    [new Refusal('COMPANY_NOT_FOUND'), 1, 'There is no such company. See those there are with: certo company list.'],
    [new Refusal('AT_UNREACHABLE', { problem: 'no answer' }), 3, /does not answer: no answer/],
    [thrown(invalid), 2, /^--nif: Not a valid Portuguese NIF/],
    [Object.assign(new Error('x'), { code: 'EADDRINUSE', port: 80 }), 3, /^Port 80 is taken/],
    [Object.assign(new Error('x'), { code: '42P01' }), 3, /not prepared yet/],
    [Object.assign(new Error('x'), { name: 'MigrationRefused' }), 3, 'x'],
    [new Error('boom'), 70, /this is a fault of Certo: Error: boom/],
  ])('%s', (error, code, line) => {
    const ending = endingOf(error);
    expect(ending.code).toBe(code);
    expect(ending.lines[0]).toEqual(typeof line === 'string' ? line : expect.stringMatching(line));
  });
});

test('a log line for people: time, level, words and facts', () => {
  const line = JSON.stringify({ level: 40, time: '2026-11-21T14:03:11.000Z', msg: 'refused', code: '-1', n: 2 });
  expect(humanLine(line)).toBe('\u001b[33m14:03:11 warn  refused  code=-1  n=2\u001b[0m\n');
});

test('what others say in the log is no order to the terminal', () => {
  const err = { stack: 'Error: \u001b]0;x\u0007\n    at y' };
  const line = JSON.stringify({
    level: 30,
    time: '2026-11-21T14:03:11.000Z',
    msg: 'refused',
    message: '\u009b2J\u202e',
    err,
  });
  expect(humanLine(line)).toBe(
    '14:03:11 info  refused  message=<U+009B>2J<U+202E>\nError: <U+001B>]0;x<U+0007>\n    at y\n',
  );
});
