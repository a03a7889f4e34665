import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Region } from './document.ts';
import * as t from './time.ts';

const zones = { PT: 'Europe/Lisbon', 'PT-MA': 'Atlantic/Madeira', 'PT-AC': 'Atlantic/Azores' } as const;
const regions = Object.keys(zones) as Region[];
const text = (iso: string) => regions.map((region) => t.localText(new Date(iso), region));

test('the clock goes forward at 01:00 UTC on the last Sunday of March', () => {
  expect(text('2026-03-29T00:59:59.999Z')).toEqual([
    '2026-03-29T00:59:59',
    '2026-03-29T00:59:59',
    '2026-03-28T23:59:59',
  ]);
  expect(text('2026-03-29T01:00:00.000Z')).toEqual([
    '2026-03-29T02:00:00',
    '2026-03-29T02:00:00',
    '2026-03-29T01:00:00',
  ]);
});

test('the clock goes back at 01:00 UTC on the last Sunday of October', () => {
  expect(text('2026-10-25T00:59:59.999Z')).toEqual([
    '2026-10-25T01:59:59',
    '2026-10-25T01:59:59',
    '2026-10-25T00:59:59',
  ]);
  expect(text('2026-10-25T01:00:00.000Z')).toEqual([
    '2026-10-25T01:00:00',
    '2026-10-25T01:00:00',
    '2026-10-25T00:00:00',
  ]);
});

test('an instant is told as itself, whichever were told before', () => {
  const [a, b, c] = [0, 1, 2].map((ms) => new Date(Date.parse('2026-11-21T10:00:00.000Z') + ms));
  for (const instant of [a!, b!, a!, c!, b!, b!, c!, a!]) expect(t.utcText(instant)).toBe(instant.toISOString());
});

test('start of a day, also where midnight is skipped or comes twice', () => {
  const start = (day: string) => regions.map((region) => t.startOfDay(day, region));
  const zero = '2026-11-21T00:00:00.000';
  expect(start('2026-11-21')).toEqual([`${zero}+00:00`, `${zero}+00:00`, `${zero}-01:00`]);
  expect(start('2026-07-01').map((s) => s.slice(-6))).toEqual(['+01:00', '+01:00', '+00:00']);
  expect(t.startOfDay('2026-03-29', 'PT')).toBe('2026-03-29T00:00:00.000+00:00');
  expect(t.startOfDay('2026-03-30', 'PT')).toBe('2026-03-30T00:00:00.000+01:00');
  expect(t.startOfDay('2026-10-25', 'PT-MA')).toBe('2026-10-25T00:00:00.000+01:00');
  // Azores: 00:00 -01:00 does not exist on the spring Sunday; in autumn it comes at +00:00 first and again at -01:00.
  expect(t.startOfDay('2026-03-29', 'PT-AC')).toBe('2026-03-29T01:00:00.000+00:00');
  expect(t.startOfDay('2026-10-25', 'PT-AC')).toBe('2026-10-25T00:00:00.000+00:00');
});

test('agrees with the runtime at every moment', () => {
  const formats = regions.map(
    (region) => new Intl.DateTimeFormat('sv-SE', { timeZone: zones[region], dateStyle: 'short', timeStyle: 'medium' }),
  );
  const moment = fc.oneof(
    fc.date({ min: new Date('1980-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
    // Within two hours of a clock change.
    fc
      .tuple(
        fc.constantFrom('2025-03-30', '2025-10-26', '2026-03-29', '2026-10-25', '1992-09-27', '1996-10-27'),
        fc.integer({ min: -7200, max: 7200 }),
      )
      .map(([day, seconds]) => new Date(Date.parse(`${day}T01:00:00Z`) + seconds * 1000)),
  );
  fc.assert(
    fc.property(moment, fc.constantFrom(0, 1, 2), (instant, index) => {
      const region = regions[index]!;
      const expected = formats[index]!.format(instant).replace(' ', 'T');
      expect(t.localText(instant, region)).toBe(expected);
      expect(t.dayOf(instant.toISOString(), region)).toBe(expected.slice(0, 10));
      expect(Date.parse(t.zonedText(instant, region))).toBe(instant.getTime());
    }),
    { numRuns: 500 },
  );
});

test('the first instant of a day is the first one of that day', () => {
  const day = fc
    .date({ min: new Date('1980-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((d) => d.toISOString().slice(0, 10));
  const days = fc.oneof(day, fc.constantFrom('2026-03-29', '2026-10-25', '2025-03-30', '1992-09-27', '1993-03-28'));
  fc.assert(
    fc.property(days, fc.constantFrom(...regions), (of, region) => {
      const first = t.startInstant(of, region);
      expect(t.dayOf(first, region)).toBe(of);
      expect(t.dayOf(new Date(first.getTime() - 1), region)).toBe(t.addDays(of, -1));
      expect(t.parseDay(t.startOfDay(of, region), region)).toBe(of);
    }),
    { numRuns: 500 },
  );
});

test('what the API takes for a date', () => {
  expect(t.parseDay('2026-11-21', 'PT')).toBe('2026-11-21');
  expect(t.parseDay('2026-06-30T23:30:00Z', 'PT')).toBe('2026-07-01');
  expect(t.parseDay('2026-06-30T23:30:00.000Z', 'PT-AC')).toBe('2026-06-30');
  expect(t.parseDay('2026-06-30T23:30+01:00', 'PT')).toBe('2026-06-30');
  expect(t.parseDay('2026-06-30T23:30:00.123456789Z', 'PT')).toBe('2026-07-01');
  expect(['2026-06-30', '2026-06-30T23:30:00Z'].map(t.isDayOrInstant)).toEqual([true, true]);
  expect(t.parseDay('2024-02-29', 'PT')).toBe('2024-02-29');
  expect(['2000-02-29', '2100-02-29', '2100-02-28', '2024-02-30'].map(t.isDay)).toEqual([true, false, true, false]);
  for (let month = 1; month <= 12; month++) {
    const last = new Date(Date.UTC(2026, month, 0)).toISOString().slice(0, 10);
    const after = `${last.slice(0, 8)}${Number(last.slice(8)) + 1}`;
    expect([last, after].map(t.isDay), last).toEqual([true, false]);
  }
  const bad = [
    '2026-02-29',
    '2026-02-30T00:00:00Z',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '0000-01-01',
    '2026-1-1',
    '21-11-2026',
    '2026-11-21T10:00:00',
    '2026-11-21T24:00:00Z',
    '2026-11-21T10:60:00Z',
    '2026-11-21 10:00:00Z',
    '2026-11-21T10:00:00+1',
    '2026-11-21T10:00:00+24:00',
    '+002026-11-21T10:00:00Z',
    '2026-11-21\n',
    'today',
    '',
    '1700000000000',
    '2026-11-21T10:00:00z',
  ];
  for (const value of bad) {
    expect(t.parseDay(value, 'PT'), value).toBeUndefined();
    expect(t.isDayOrInstant(value), value).toBe(false);
  }
  expect(t.isInstant('2026-11-21')).toBe(false);
  // At the ends of the calendar there is still an answer.
  expect(t.parseDay('0001-01-01T00:00:00Z', 'PT')).toBe('0001-01-01');
  expect(t.parseDay('9999-12-31T23:59:59-10:00', 'PT')).toBe('9999-12-31');
});

test('in the repeated hour nothing happens to a document before its signature', () => {
  const signed = t.localText('2026-10-25T00:40:00.000Z', 'PT');
  expect([signed, t.laterText('2026-10-25T01:10:00.000Z', 'PT', signed)]).toEqual([
    '2026-10-25T01:40:00',
    '2026-10-25T01:40:00',
  ]);
  expect(t.laterText('2026-10-25T01:41:00.000Z', 'PT', signed)).toBe('2026-10-25T01:41:00');
});
