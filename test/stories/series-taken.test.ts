/**
 * A series that the authority has already is taken for our own only when it can be nobody else's: registered by this
 * program, from 1 on, since it was first asked for here, active, and without a number in it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerSeries } from '../../src/operations/series/registration.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: new Date('2026-03-31T10:00:00Z') });
  ({ A } = service.companies);
});
afterAll(() => service.stop());

interface There {
  readonly series: string;
  readonly firstNumber?: number;
  readonly certificateNumber?: number;
}

/** Registered at the authority, without a word of it here. */
async function registeredThere({ series, firstNumber = 1, certificateNumber = 9999 }: There): Promise<string> {
  const outcome = await service.gateway.registerSeries(
    { username: `${A.taxpayerNumber}/1`, password: 'certa' },
    { series, documentCode: 'FT', kind: 'N', startDate: '2026-04-30', firstNumber, certificateNumber },
  );
  if (outcome.kind !== 'done') throw new Error(`not registered: ${JSON.stringify(outcome)}`);
  return outcome.series.validationCode;
}

const register = (code: string) => registerSeries(service.world, A.id, { documentType: 'INVOICE', code });
const listed = async () => (await A.get<{ name: string }[]>('/series')).json.map(({ name }) => name);

test.each([
  ['from another number on', { series: 'FROM500', firstNumber: 500 }],
  ['by another program', { series: 'OTHER', certificateNumber: 1234 }],
  ['by a program without certificate', { series: 'NONE', certificateNumber: 0 }],
])('one registered %s is refused, as often as it is asked for', async (_how, there) => {
  await registeredThere(there);
  const facts = { code: there.series };
  for (let time = 0; time < 2; time += 1)
    await expect(register(there.series)).rejects.toMatchObject({ code: 'SERIES_CODE_TAKEN', facts });
  expect(await listed()).not.toContain(there.series);
});

/** What the authority says of the one series that is asked for, in place of what it has. */
function saying(over: Record<string, unknown>): typeof service.world {
  const { at } = service.world;
  const listSeries: typeof at.listSeries = async (...asked) => {
    const answer = await at.listSeries(...asked);
    if (answer.kind !== 'done') return answer;
    return { ...answer, series: answer.series.map((one) => ({ ...one, ...over })) };
  };
  return { ...service.world, at: { ...at, listSeries } };
}

test.each([
  ['in the tax portal', { processing: 'PF' }],
  ['by other electronic means', { processing: 'OM' }],
  ['and used', { lastNumber: '12' }],
  ['and ended', { state: 'F' }],
  ['by a program that is not named', { certificateNumber: undefined }],
  ['for training', { kind: 'F' }],
])('one registered %s is refused', async (_how, over) => {
  const code = `X${Object.keys(over)[0]}${Object.values(over)[0] ?? ''}`;
  await registeredThere({ series: code });
  const wanted = { documentType: 'INVOICE', code } as const;
  await expect(registerSeries(saying(over), A.id, wanted)).rejects.toMatchObject({ code: 'SERIES_CODE_TAKEN' });
  // As it is there, it could be ours.
  expect((await register(code)).existed).toBe(false);
});

test('a code that stands for a series here is not taken for one of another kind or scheme, nor in other letters', async () => {
  const plain = { documentType: 'INVOICE', code: 'PLAIN' } as const;
  const { id } = await registerSeries(service.world, A.id, plain);
  for (const other of [{ kind: 'F' }, { kind: 'R' }, { cashVat: true }, { code: 'Plain' }] as const) {
    const wanted = { ...plain, ...other };
    await expect(registerSeries(service.world, A.id, wanted)).rejects.toMatchObject({ code: 'SERIES_CODE_TAKEN' });
  }
  expect(await registerSeries(service.world, A.id, plain)).toMatchObject({
    id,
    kind: 'N',
    cashVat: false,
    existed: true,
  });
});

test('a number 0 is none', async () => {
  const validationCode = await registeredThere({ series: 'ZERO' });
  const wanted = { documentType: 'INVOICE', code: 'ZERO' } as const;
  expect(await registerSeries(saying({ lastNumber: '0' }), A.id, wanted)).toMatchObject({ validationCode });
});

test("one from before the day on which it was first asked for here is another installation's", async () => {
  await registeredThere({ series: 'BEFORE' });
  await service.setClock(new Date('2026-04-01T10:00:00Z'));
  for (let time = 0; time < 2; time += 1)
    await expect(register('BEFORE')).rejects.toMatchObject({ code: 'SERIES_CODE_TAKEN' });
});

test('our own is found again days after its answer was lost', async () => {
  await service.control('PUT', '/__fault', { kind: 'reset-after', count: 1, operation: 'registerSeries' });
  await expect(register('LOST')).rejects.toMatchObject({ code: 'AT_UNREACHABLE' });
  await service.setClock(new Date('2026-04-04T10:00:00Z'));
  const { id, existed, validationCode } = await register('LOST');
  expect([existed, await listed()]).toEqual([false, expect.arrayContaining(['LOST'])]);
  const { number, atcud } = await A.issue(await A.draft({ seriesId: id }));
  expect([number, atcud]).toEqual(['FT LOST/1', `${validationCode}-1`]);
});

test('that the authority does not say what it has is no reason to choose another code', async () => {
  await registeredThere({ series: 'LATER' });
  await service.control('PUT', '/__fault', { kind: 'reset-after', count: 1, operation: 'listSeries' });
  await expect(register('LATER')).rejects.toMatchObject({ code: 'AT_UNREACHABLE' });
  expect((await register('LATER')).existed).toBe(false);
});
