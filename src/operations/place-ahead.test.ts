import { expect, test } from 'vitest';
import { Memory } from './memory.ts';
import { placeAhead, seriesOfPlaces, type Wanted } from './numbering.ts';
import type { World } from './world.ts';

const now = new Date('2026-11-22T10:00:00.000Z');
const later = (ms: number) => new Date(now.getTime() + ms);
const moment = { id: 'A', region: 'PT', now, last_signed: null, cash_vat_from: null, broken: false, key_version: 1 };
const signer = () => ({ keyVersion: 1 });
const row = (id: string) => ({ place_id: id, cash_vat: false, last_number: 0, last_hash: '', last_seal: null });

/** Where a draft goes that is decided at `now` after another series has numbered at `signed`. */
function placed(signed: Date | undefined, over: object = {}) {
  const world = { memory: new Memory(() => 0), signer } as unknown as World;
  const place = (id: string) =>
    placeAhead(seriesOfPlaces([row(id)]), { ...moment, ...over }, { type: 'INVOICE', seriesId: null }, world);
  place('other')!.running!.now = signed;
  return place('own');
}

test('over all series of a company time goes forward: a reading a little behind gives way, any other is told', () => {
  expect(placed(undefined)?.moment).toMatchObject({ now, last_signed: null });
  expect(placed(later(-5_000))?.moment).toMatchObject({ now, last_signed: later(-5_000) });
  expect(placed(later(800))?.moment).toMatchObject({ now: later(800), last_signed: later(800) });
  expect(placed(later(1_001))?.moment).toMatchObject({ now, last_signed: later(1_001) });
  expect(placed(later(-5_000), { last_signed: later(-1) })?.moment).toMatchObject({ last_signed: later(-1) });
});

test('broken books, a newer signing key, and a series that there is not, are judged under locks', () => {
  const world = { memory: new Memory(() => 0), signer } as unknown as World;
  const wanted = { type: 'INVOICE', seriesId: null } as const;
  expect(placeAhead(seriesOfPlaces([row('s')]), { ...moment, broken: true }, wanted, world)).toBeUndefined();
  expect(placeAhead(seriesOfPlaces([row('s')]), { ...moment, key_version: 2 }, wanted, world)).toBeUndefined();
  expect(placeAhead(seriesOfPlaces([row('s')]), { ...moment, key_version: null }, wanted, world)).toBeDefined();
  expect(placeAhead(seriesOfPlaces([row('s')]), moment, { ...wanted, scheme: 'always' }, world)).toBeUndefined();
  expect(placeAhead(seriesOfPlaces([{ ...row('s'), place_id: null }]), moment, wanted, world)).toBeUndefined();
});

test('the default of the cash VAT scheme while that is in force on the day of the document, else the other one', () => {
  const world = { memory: new Memory(() => 0), signer } as unknown as World;
  const places = seriesOfPlaces([row('plain'), { ...row('cash'), cash_vat: true }]);
  const period = { ...moment, cash_vat_from: '2026-11-01', cash_vat_until: '2026-11-22' };
  const chosen = (wanted: Partial<Wanted>, over: object = {}) => {
    const place = placeAhead(places, { ...period, ...over }, { type: 'INVOICE', seriesId: null, ...wanted }, world);
    return [place?.series?.['id'], place?.byScheme];
  };
  const scheme = 'when-in-force';
  expect(chosen({ scheme: 'never' })).toEqual(['plain', false]);
  expect(chosen({ scheme: 'always' })).toEqual(['cash', false]);
  expect(chosen({ scheme })).toEqual(['cash', true]);
  const days = ['2026-10-31', '2026-11-01', '2026-11-22', '2026-11-23'];
  expect(days.map((date) => chosen({ scheme, date })[0])).toEqual(['plain', 'cash', 'cash', 'plain']);
  expect(chosen({ scheme, date: '2099-01-01' }, { cash_vat_until: null })[0]).toBe('cash');
  expect(chosen({ scheme }, { cash_vat_from: null })[0]).toBe('plain');
  // Half past midnight on the mainland is yesterday on the Azores.
  const midnight = { now: new Date('2026-11-23T00:30:00.000Z') };
  expect(['PT', 'PT-AC'].map((region) => chosen({ scheme }, { ...midnight, region })[0])).toEqual(['plain', 'cash']);
});

test('a series that the draft names is its place whatever the scheme', () => {
  const world = { memory: new Memory(() => 0), signer } as unknown as World;
  const wanted = { type: 'INVOICE', seriesId: 'cash', scheme: 'when-in-force' } as const;
  const place = placeAhead(seriesOfPlaces([{ ...row('cash'), cash_vat: true }]), moment, wanted, world);
  expect(place).toMatchObject({ series: { id: 'cash' }, isNamed: true, byScheme: false });
});
