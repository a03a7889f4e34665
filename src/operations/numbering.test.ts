import { expect, test } from 'vitest';
import { sampleContent } from '../../test/fiscal-samples.ts';
import type { Row, Tx } from '../db/transact.ts';
import { generateSigningKey, localSigner } from '../keys/signer.ts';
import { lockPlace, numberDocument, type Place } from './numbering.ts';
import { runningFrom } from './running-head.ts';
import type { World } from './world.ts';

const signer = localSigner(generateSigningKey().privatePem, 1);
const world = { signer: () => signer, baseUrl: 'http://certo.test', certificateNumber: 9999 } as unknown as World;
const customer = { id: 'c', name: 'Cliente, Lda', taxpayerNumber: '501442600', country: 'PT' };
const document = { id: 'd', content: sampleContent('INVOICE', undefined, { customer }), region: 'PT' } as const;

/** On the last day of the scheme, a little before midnight, behind a signature of a little after it. */
function beforeMidnight(over: Partial<Place>): Place {
  const series = {
    id: 's',
    document_type: 'INVOICE',
    at_type: 'FT',
    code: 'CX2026',
    kind: 'N',
    cash_vat: true,
    validation_code: 'AAJFTEST',
    last_number: 0,
    last_hash: '',
    last_seal: null,
  };
  const moment = {
    id: 'A',
    now: new Date('2026-11-30T23:59:59.950Z'),
    last_signed: new Date('2026-12-01T00:00:00.050Z'),
    cash_vat_from: '2026-01-01',
    cash_vat_until: '2026-11-30',
    key_version: 1,
    at_state: 'OK',
    at_synced_at: new Date(),
    has_invoice_series: true,
  };
  return { series, isNamed: false, moment, running: runningFrom('c', series), byScheme: true, ...over };
}

test('what waits over midnight for the clock is not numbered in the series of the day before', async () => {
  const ended = beforeMidnight({});
  const begun = beforeMidnight({});
  begun.series!['cash_vat'] = false;
  begun.moment['cash_vat_from'] = '2026-12-01';
  begun.moment['cash_vat_until'] = null;
  for (const { series, ...place } of [ended, begun]) {
    const numbered = numberDocument(document, { ...place, series, running: runningFrom('c', series!) }, world);
    await expect(numbered).rejects.toMatchObject({ code: 'CLOCK_REGRESSION', retryAfterSeconds: 1 });
  }
  // Whoever names the series is told that it is over.
  const named = numberDocument(document, beforeMidnight({ isNamed: true, byScheme: false }), world);
  await expect(named).rejects.toMatchObject({ code: 'CASH_VAT_NOT_IN_FORCE' });
});

test('what is to be so when it is signed is looked at behind the wait', async () => {
  const place = beforeMidnight({});
  const moment = { ...place.moment, cash_vat_until: null };
  const seen: string[] = [];
  const began = performance.now();
  const { decided, now, ...numbered } = await numberDocument(document, { ...place, moment }, world, (at) =>
    seen.push(at.toISOString()),
  );
  expect([decided.date, now.toISOString(), seen]).toEqual([
    '2026-12-01',
    '2026-12-01T00:00:00.050Z',
    ['2026-12-01T00:00:00.050Z'],
  ]);
  // It has really waited: nothing is signed with a time that has not come.
  expect(performance.now() - began).toBeGreaterThan(95);
  expect(numbered).toMatchObject({ asDefault: true, seriesId: 's', series: { cashVat: true } });
  expect(numbered.signedText).toMatch(/^2026-12-01;2026-12-01T00:00:00;FT CX2026\/1;/);
  expect([place.running?.head.lastSequence, place.running?.now]).toEqual([1, now]);
});

test('what has a date of its own stays in the series of that day, also when it waits over midnight', async () => {
  const dated = { ...document, content: { ...document.content, date: '2026-11-30' } };
  const { decided, now } = await numberDocument(dated, beforeMidnight({}), world);
  expect([decided.date, now.toISOString()]).toEqual(['2026-11-30', '2026-12-01T00:00:00.050Z']);
});

test('behind a document that was decided with a later clock is waited for that, whatever the series was read to have last', async () => {
  const place = beforeMidnight({});
  const now = new Date('2026-11-30T12:00:00.000Z');
  const last = new Date(now.getTime() + 1_100);
  place.running!.now = last;
  const began = performance.now();
  const numbered = await numberDocument(
    document,
    { ...place, moment: { ...place.moment, now, last_signed: null } },
    world,
  );
  expect(numbered.now).toEqual(last);
  expect(performance.now() - began).toBeGreaterThan(1_095);
});

test('what is numbered in one transaction goes on from each other, each in its own series', async () => {
  const { moment, series } = beforeMidnight({});
  const [own, other] = [series!, { ...series!, id: 't', code: 'D2026', last_number: 7 }];
  const locked = async (row: Row, asked = moment) => {
    const tx = { batch: async () => [[row], [asked]] } as unknown as Tx;
    const { running } = await lockPlace(tx, { type: 'INVOICE', seriesId: String(row['id']) });
    return running!;
  };
  const first = await locked(own);
  first.head = { ...first.head, lastSequence: 1 };
  expect([(await locked(other)).head, (await locked(own)).head]).toMatchObject([
    { code: 'D2026', lastSequence: 7 },
    { code: 'CX2026', lastSequence: 1 },
  ]);
  // Another transaction has read another moment, and sees where the series stands by then.
  expect((await locked({ ...own, last_number: 5 }, { ...moment })).head.lastSequence).toBe(5);
});

test('the series is chosen by the scheme as it is on the day that the document says', async () => {
  const { moment, series } = beforeMidnight({});
  const asked: unknown[] = [];
  const batch: Tx['batch'] = async (calls) => {
    asked.push(calls[0]![1]);
    return [[series!], [moment]];
  };
  const place = await lockPlace({ batch } as unknown as Tx, {
    type: 'INVOICE',
    seriesId: null,
    scheme: 'when-in-force',
    date: '2026-11-29',
  });
  expect([asked, place.byScheme]).toEqual([[['INVOICE', null, 'when-in-force', '2026-11-29']], true]);
});
