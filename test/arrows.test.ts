/** The arrows hold, and each of them can fail: every rule is broken on purpose in a copy of the sources. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const config = createRequire(import.meta.url)('../.dependency-cruiser.cjs') as { forbidden: { name: string }[] };

/** File, line added to it, and the rule it breaks. */
const wrong = [
  ['fiscal/nif.ts', "import '../db/errors.ts';", 'arrow-fiscal'],
  ['db/page.ts', "import '../at/codes.ts';", 'arrow-db'],
  ['at/codes.ts', "import '../db/errors.ts';", 'arrow-at'],
  ['print/qr.ts', "import '../identity/tokens.ts';", 'arrow-print'],
  ['keys/sealing.ts', "import '../identity/tokens.ts';", 'arrow-keys'],
  ['bank/stray.ts', "import '../mail/stray.ts';", 'arrow-bank'],
  ['mail/stray.ts', "import '../identity/tokens.ts';", 'arrow-mail'],
  ['identity/tokens.ts', "import type {} from '../operations/world.ts';", 'arrow-identity'],
  ['operations/now.ts', "import '../engine/rate.ts';", 'arrow-operations'],
  ['engine/rate.ts', "import '../operations/links.ts';", 'arrow-engine'],
  ['doors/http/problem.ts', "import '../../app.ts';", 'arrow-doors'],
  ['app.ts', "import './commands/stray.ts';", 'arrow-app'],
  ['config.ts', "import './identity/tokens.ts';", 'arrow-config'],
  ['commands/stray.ts', "import '../main.ts';", 'arrow-commands'],
  ['doors/clock/reports.ts', "import '../../at/simulator/rules.ts';", 'simulator-stays-out'],
  ['fiscal/levy.ts', "import 'node:fs';", 'law-is-pure'],
  ['fiscal/series.ts', "import 'node:crypto';", 'law-verifies-in-one-place'],
  ['operations/fields.ts', "import 'big.js';", 'one-place-for-decimals'],
  ['keys/signer.ts', "import 'pg';", 'one-place-for-pg'],
  ['engine/fingerprint.ts', "import type {} from 'pg';", 'owner-pool-by-type'],
  ['engine/authorize.ts', "import 'fastify';", 'one-place-for-http'],
  ['fiscal/decimal.ts', "import './totals.ts';", 'no-circles'],
  ['orphan.ts', 'export {};', 'no-orphans'],
  ['at/endpoints.ts', "import './nowhere.ts';", 'resolvable'],
  ['at/cents.ts', "import 'fast-check';", 'declared'],
] as const;

let copy: string;

beforeAll(() => {
  copy = realpathSync(mkdtempSync(join(tmpdir(), 'certo-arrows-')));
  for (const name of ['src', 'package.json', 'tsconfig.json', '.dependency-cruiser.cjs']) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** "rule file" of every violation in the copy. */
function violations(): string[] {
  const script = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const options = ['--config', '.dependency-cruiser.cjs', '--preserve-symlinks', '--output-type', 'json'];
  const output = execFileSync(process.execPath, [script, ...options, 'src'], { cwd: copy, maxBuffer: 64e6 });
  const { summary } = JSON.parse(output.toString()) as {
    summary: { totalCruised: number; violations: { from: string; rule: { name: string } }[] };
  };
  // A cruise that reads nothing finds nothing.
  expect(summary.totalCruised).toBeGreaterThan(100);
  return summary.violations.map(({ rule, from }) => `${rule.name} ${from}`);
}

test('every import points left', () => {
  expect(violations()).toEqual([]);
});

test('each rule can fail', () => {
  writeFileSync(join(copy, 'src/main.ts'), 'export {};\n', { flag: 'a' });
  for (const [file] of wrong) mkdirSync(dirname(join(copy, 'src', file)), { recursive: true });
  for (const [file, line] of wrong) appendFileSync(join(copy, 'src', file), `\n${line}\n`);
  const found = new Set(violations());
  expect(wrong.filter(([file, , rule]) => !found.has(`${rule} src/${file}`))).toEqual([]);
  expect(wrong.map(([, , rule]) => rule as string).sort()).toEqual(config.forbidden.map(({ name }) => name).sort());
});
