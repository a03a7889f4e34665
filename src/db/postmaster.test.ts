import { describe, expect, test } from 'vitest';
import { reasonOf } from './postmaster.ts';

const log = (...lines: string[]): string => lines.map((line) => `2026-11-25 10:50:22.861 UTC ${line}\n`).join('');

describe('why a server ended, where several write to one log', () => {
  const taken = 'FATAL:  lock file "postmaster.pid" already exists';

  test('the words of its own, whoever speaks after it', () => {
    const written = log(
      `[7731] ${taken}`,
      '[7730] LOG:  starting PostgreSQL 18.4',
      '[7739] FATAL:  the database system is starting up',
      '[7730] LOG:  received fast shutdown request',
    );
    expect(reasonOf(written, 7731)).toBe('lock file "postmaster.pid" already exists');
    expect(reasonOf(written, 7730)).toBe('received fast shutdown request');
  });

  test('a server that was stopped while another found the folder taken', () => {
    const written = log('[7730] LOG:  received smart shutdown request', `[7732] ${taken}`);
    expect(reasonOf(written, 7730)).toBe('received smart shutdown request');
    expect(reasonOf(written, 7732)).toBe('lock file "postmaster.pid" already exists');
  });

  test('the words of its child that could not recover, not those of who knocked', () => {
    const written = log(
      '[810] FATAL:  the database system is starting up',
      '[809] PANIC:  could not locate a valid checkpoint record at 0/1B8E810',
      '[811] FATAL:  the database system is in recovery mode',
      '[812] FATAL:  sorry, too many clients already',
      '[813] FATAL:  terminating connection due to administrator command',
      '[808] LOG:  startup process (PID 809) was terminated by signal 6: Aborted',
      '[808] LOG:  aborting startup due to startup process failure',
    );
    expect(reasonOf(written, 808)).toBe('could not locate a valid checkpoint record at 0/1B8E810');
  });

  test('a number that only begins alike is another', () => {
    expect(reasonOf(log('[7730] FATAL:  could not open file'), 77)).toBe('could not open file');
    expect(reasonOf(log('[77] FATAL:  could not open file', `[7731] ${taken}`), 77)).toBe('could not open file');
    expect(reasonOf(log(`[7731] ${taken}`, '[77] FATAL:  could not open file'), 7731)).toMatch(/^lock file/);
  });

  test('all that it said, where it called nothing fatal', () => {
    expect(reasonOf('postgres: could not access directory\n', 12)).toBe('postgres: could not access directory');
    expect(reasonOf('', 12)).toBe('it said nothing');
  });

  test('a full disk, which may have kept it from saying so', () => {
    const full = 'its disk is full: make room, and try again';
    expect(reasonOf(log('[7] LOG:  starting PostgreSQL 18.4', '[8] LOG:  redo starts at 0/174B310'), 7, true)).toBe(
      full,
    );
    expect(reasonOf('', 7, true)).toBe(full);
    expect(reasonOf(log('[7] FATAL:  checkpoint request failed'), 7, true)).toBe(`checkpoint request failed; ${full}`);
    const said = 'could not write file "base/16384/pg_filenode.map.tmp": No space left on device';
    expect(reasonOf(log(`[7] FATAL:  ${said}`), 7, true)).toBe(`${said}; ${full}`);
    expect(reasonOf(log('[7] LOG:  received fast shutdown request'), 7, true)).toBe('received fast shutdown request');
  });
});
