/** Companies that issue nothing until the operator acts: every place where an operator looks tells of them. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Metrics, openMetrics } from '../../src/commands/metrics.ts';
import { addSigningKey } from '../../src/keys/signing-keys.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { takenPort } from './command-line.ts';
import { type Ended, runInProcess } from './in-process.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
let issued: InvoiceJson;
let folder: string;
let metrics: Metrics;
let port: number;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
  ({ A, B } = service.companies);
  // Commands know the keys of the books only: the service's own is the first, and what is issued is signed with the second.
  for (const _version of [1, 2]) await addSigningKey(service.owner, service.world.master);
  issued = await A.issue(await A.draft());
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-blocked-'));
  writeFileSync(join(folder, 'master.key'), service.masterKeyHex, { mode: 0o600 });
  const free = await takenPort();
  free.release();
  port = free.port;
  metrics = await openMetrics(service.owner, port);
});
afterAll(async () => {
  await metrics.close();
  await service.stop('tampered');
  rmSync(folder, { recursive: true, force: true });
});

const run = (...args: string[]): Promise<Ended> =>
  runInProcess({ database: service, folder }, args, { env: { CERTO_MASTER_KEY_FILE: join(folder, 'master.key') } });
const listed = async () =>
  (JSON.parse((await run('company', 'list', '--json')).out) as { id: string; notReady: string[] }[])
    .filter(({ id }) => id === A.id || id === B.id)
    .map(({ id, notReady }) => [id === A.id ? 'A' : 'B', ...notReady]);
const figures = async () => {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const of = (reason: string) =>
    new RegExp(`^certo_blocked_companies\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(text)?.[1];
  return [of('INTEGRITY_BROKEN'), of('CLOCK_REGRESSION')];
};
const warned = () => service.logs.filter((line) => line.includes('is not resolved') && line.includes(A.id)).length;
const note = async (text: string | null) => {
  await service.owner.query('alter table certo.documents disable trigger user');
  await service.owner.query('update certo.documents set notes = $2 where id = $1', [issued.id, text]);
  await service.owner.query('alter table certo.documents enable trigger user');
};

test('honest books and a good clock block nobody', async () => {
  expect(await service.checkBooks()).toBe(0);
  expect(await listed()).toEqual([['A'], ['B']]);
  expect((await run('company', 'list')).out).not.toMatch(/INTEGRITY_BROKEN|CLOCK_REGRESSION/);
  expect(await figures()).toEqual(['0', '0']);
  expect(warned()).toBe(0);
  expect((await run('verify')).code).toBe(0);
});

test('what a check found and nobody has resolved is told, also when it cannot be found any more', async () => {
  await note('x');
  expect(await service.checkBooks()).toBe(1);
  await note(null);
  expect(await listed()).toEqual([['A', 'INTEGRITY_BROKEN'], ['B']]);
  expect((await run('company', 'list')).out).toMatch(/INTEGRITY_BROKEN/);
  expect(await figures()).toEqual(['1', '0']);
  const before = warned();
  expect(await service.checkBooks()).toBe(0);
  expect(warned()).toBe(before + 1);

  expect(JSON.parse((await run('company', 'show', A.id, '--json')).out)).toMatchObject({
    notReady: ['INTEGRITY_BROKEN'],
    toResolve: 1,
  });
  const shown = (await run('company', 'show', A.id)).out;
  expect(shown).toMatch(/^State +INTEGRITY_BROKEN$/m);
  expect(shown).toMatch(/^Findings to resolve +1$/m);
  expect(JSON.parse((await run('company', 'show', B.id, '--json')).out)).not.toHaveProperty('toResolve');
});

test('verify names it and ends with 1 until it is resolved', async () => {
  for (const whose of [[], ['--company', A.id]]) {
    const found = await run('verify', ...whose);
    expect(found.code).toBe(1);
    expect(found.out).toContain(`${issued.number} has a seal`);
    expect(found.out).toMatch(/found on \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC and not resolved/);
    expect(found.out).toContain('1 finding of an earlier check is not resolved');
    expect(found.out).not.toContain('nothing wrong.');
  }
  const json = await run('verify', '--json');
  expect([json.code, JSON.parse(json.out)]).toEqual([
    1,
    expect.objectContaining({
      ok: false,
      findings: 0,
      unresolved: [expect.objectContaining({ companyId: A.id, number: issued.number })],
    }),
  ]);
  expect((await run('verify', '--company', B.id)).code).toBe(0);

  // What is found again is a finding of this check, and told once.
  await note('x');
  const again = JSON.parse((await run('verify', '--json')).out) as Record<string, unknown>;
  expect(again).toMatchObject({ ok: false, findings: 1, unresolved: [] });
  await note(null);

  const resolve = () => run('verify', '--company', A.id, '--resolve', 'Visto');
  expect(await resolve()).toMatchObject({ code: 0, out: '1 finding resolved: the company can issue again.\n' });
  expect(await resolve()).toMatchObject({ code: 0, out: 'There was nothing to resolve, and nothing was changed.\n' });
  expect(JSON.parse((await run('verify', '--json')).out)).toMatchObject({ ok: true, unresolved: [] });
  expect([await listed(), await figures()]).toEqual([
    [['A'], ['B']],
    ['0', '0'],
  ]);
  const after = warned();
  await service.checkBooks();
  expect(warned()).toBe(after);
});

test('a clock behind the last signature is told of each company that it stops', async () => {
  await service.setClock(new Date(Date.now() + 3 * 86_400_000));
  await B.issue(await B.draft());
  await service.setClock(null);
  expect(await listed()).toEqual([['A'], ['B', 'CLOCK_REGRESSION']]);
  expect((await run('company', 'list')).out).toMatch(/CLOCK_REGRESSION/);
  expect(await figures()).toEqual(['0', '1']);
});
