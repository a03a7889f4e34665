/** A clock that jumped forward and back: what the operator sees of a company that may sign nothing until it has caught up. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService, type TestCompany } from '../service.ts';
import { runInProcess } from './in-process.ts';

let service: Service;
let A: TestCompany;
let folder: string;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  A = service.companies.A;
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-clock-'));
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const show = async (...more: string[]): Promise<string> => {
  const ended = await runInProcess({ database: service, folder }, ['company', 'show', A.taxpayerNumber, ...more]);
  expect([ended.code, ended.err]).toEqual([0, '']);
  return ended.out;
};

test('company show says that nothing is signed, and until when', async () => {
  await service.setClock(new Date(Date.now() + 3 * 86_400_000));
  const issued = await A.issue(await A.draft());
  const { rows } = await service.owner.query<{ at: Date }>(
    'select issued_at as at from certo.documents where id = $1',
    [issued.id],
  );
  const until = rows[0]!.at.toISOString();
  expect(JSON.parse(await show('--json'))).toMatchObject({ notReady: [] });
  expect(await show()).toMatch(/^State +ready$/m);

  await service.setClock(new Date(Date.now() - 60_000));
  const draft = await A.draft();
  const body = { expectedUpdatedAt: draft.updatedAt };
  const refused = await A.call('POST', `/invoices/${draft.id}/issue`, { body, mayFail: true });
  expect([refused.status, refused.json.code]).toEqual([503, 'CLOCK_REGRESSION']);
  expect(JSON.parse(await show('--json'))).toMatchObject({
    notReady: ['CLOCK_REGRESSION'],
    nothingSignedUntil: until,
  });
  const words = await show();
  expect(words).toMatch(/^State +CLOCK_REGRESSION$/m);
  expect(words).toContain(until);

  await service.setClock(new Date(rows[0]!.at.getTime() + 1_000));
  expect(JSON.parse(await show('--json'))).not.toHaveProperty('nothingSignedUntil');
});
