/** After a restore the authority may know series that the books have forgotten: none of their numbers is used again. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerSeries } from '../../src/operations/series/registration.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: new Date('2026-03-02T10:00:00Z') });
  ({ A } = service.companies);
});
afterAll(() => service.stop());

/** Registered at the authority, and unknown here: by books that are lost, or by ourselves with the answer lost. */
async function registeredThere(series: string): Promise<string> {
  const outcome = await service.gateway.registerSeries(
    { username: `${A.taxpayerNumber}/1`, password: 'certa' },
    { series, documentCode: 'FT', kind: 'N', startDate: '2026-03-20', firstNumber: 1, certificateNumber: 9999 },
  );
  if (outcome.kind !== 'done') throw new Error(`not registered: ${JSON.stringify(outcome)}`);
  return outcome.series.validationCode;
}

const register = (code: string) => registerSeries(service.world, A.id, { documentType: 'INVOICE', code });

async function restore(nothingLost: boolean): Promise<void> {
  await service.owner.query(
    `insert into certo.restores (number, restored_at, taken_at, written_by, digest, nothing_lost)
     select coalesce(max(number), 0) + 1, certo.now(), certo.now() - interval '1 hour', '0.1.0', sha256('x'), $1 from certo.restores`,
    [nothingLost],
  );
}

test('before any restore, and after one that lost nothing, what the authority knows is taken for our own', async () => {
  const first = await registeredThere('ONE');
  expect(await register('ONE')).toMatchObject({ validationCode: first });
  const second = await registeredThere('TWO');
  await restore(true);
  expect(await register('TWO')).toMatchObject({ validationCode: second });
});

test('after a restore a series from before it is refused; one from after it is ours again', async () => {
  await registeredThere('LOST');
  await restore(false);
  await registeredThere('TODAY');
  // The authority tells days: of the day itself nobody knows.
  for (const code of ['LOST', 'TODAY'])
    await expect(register(code)).rejects.toMatchObject({ code: 'SERIES_CODE_TAKEN', facts: { code } });
  await service.setClock(new Date('2026-03-03T10:00:00Z'));
  await expect(register('LOST')).rejects.toMatchObject({ code: 'SERIES_CODE_TAKEN' });
  const next = await registeredThere('NEXT');
  expect(await register('NEXT')).toMatchObject({ validationCode: next, existed: false });
  // As ever, one that was there before it was asked for here is another installation's.
  await registeredThere('BETWEEN');
  await service.setClock(new Date('2026-03-05T10:00:00Z'));
  await expect(register('BETWEEN')).rejects.toMatchObject({ code: 'SERIES_CODE_TAKEN' });
});
