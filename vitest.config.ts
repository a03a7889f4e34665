import { defineConfig } from 'vitest/config';
import { alone, LongestFirst } from './test/order.ts';

const all = ['src/**/*.test.ts', 'test/**/*.test.ts'];
// Five minutes: what waits has bounds of its own, and a slow laptop that does other work needs a minute for what takes ten
// seconds here.
const each = { testTimeout: 300_000, hookTimeout: 300_000, pool: 'forks', maxWorkers: 2 } as const;

export default defineConfig({
  test: {
    // One server for both; each test file has a database of its own there.
    globalSetup: ['test/database.ts'],
    sequence: { sequencer: LongestFirst },
    // To end what was started; else it is left where it is after ten seconds.
    teardownTimeout: 60_000,
    maxWorkers: each.maxWorkers,
    projects: [
      { test: { ...each, name: 'alone', include: alone } },
      // One process for many files: to read the whole service anew for each is a sixth of the work of all tests. What one
      // file put in the place of something is put back before the next.
      {
        test: {
          ...each,
          name: 'together',
          include: all,
          exclude: alone,
          isolate: false,
          restoreMocks: true,
          unstubEnvs: true,
        },
      },
    ],
  },
});
