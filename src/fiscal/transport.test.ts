import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sampleContent, sampleLine } from '../../test/fiscal-samples.ts';
import { decideIssue, finishIssue, type IssueFacts } from './issue.ts';
import type { Refusal } from './refusal.ts';
import {
  checkNotStarted,
  checkStart,
  isLicensePlate,
  journeyTimes,
  monthsLater,
  timeProblems,
  unvalued,
} from './transport.ts';

const now = new Date('2026-03-02T10:00:00.700Z');
const refused = (act: () => unknown): Refusal => {
  try {
    act();
  } catch (refusal) {
    return refusal as Refusal;
  }
  throw new Error('passes');
};
const codes = (act: () => unknown): string => {
  try {
    act();
    return 'passes';
  } catch (refusal) {
    return (refusal as Refusal).code;
  }
};

test('in the repeated hour no transport ends before it starts, by the clock on the wall', () => {
  const across = { start: '2027-10-31T00:45:00.000Z', end: '2027-10-31T01:15:00.000Z' };
  const issued = '2027-10-30T10:00:00';
  expect(journeyTimes(across, 'PT', issued)).toEqual({ start: '2027-10-31T01:45:00', end: '2027-10-31T01:45:00' });
  expect(journeyTimes(across, 'PT-AC', issued)).toEqual({ start: '2027-10-31T00:45:00', end: '2027-10-31T00:45:00' });
  expect(journeyTimes({ ...across, end: '2027-10-31T02:15:00.000Z' }, 'PT', issued)).toMatchObject({
    end: '2027-10-31T02:15:00',
  });
  expect(journeyTimes({ start: across.start }, 'PT', issued).end).toBeUndefined();
});

test('nor does one start before its document is issued', () => {
  // Issued at 00:50 UTC, which is 01:50 of summer; it starts twenty minutes later, at 01:10 of winter.
  const journey = { start: '2027-10-31T01:10:00.000Z', end: '2027-10-31T01:20:00.000Z' };
  const issued = '2027-10-31T01:50:00';
  expect(journeyTimes(journey, 'PT', issued)).toEqual({ start: issued, end: issued });
  expect(journeyTimes({ start: '2027-10-31T01:55:00.000Z' }, 'PT', issued).start).toBe('2027-10-31T01:55:00');
});

describe('without values', () => {
  const lines = [
    sampleLine({ id: 'a', unitPrice: '3.5', quantity: '2.5', discount: { type: 'PERCENT', value: '10' } }),
    sampleLine({ id: 'b', vatRate: 'EXEMPT', withholding: { type: 'IRS', percent: '23' } }),
  ];
  const nothing = unvalued({ lines, taxPoint: '2026-03-02', currency: 'EUR' });

  test('goods and quantities stay; every amount is 0.00 and there is no tax', () => {
    expect(nothing.lines.map(({ number, id, name, quantity }) => [number, id, name, quantity])).toEqual([
      [1, 'a', 'Consultoria', '2.5'],
      [2, 'b', 'Consultoria', '1'],
    ]);
    for (const { unitPrice, net, tax, gross, unitNet, discountAmount, eur, discount, withholding } of nothing.lines) {
      expect([unitPrice, net, tax, gross, unitNet, discountAmount, ...Object.values(eur)]).toEqual(
        Array(10).fill('0.00'),
      );
      expect([discount, withholding]).toEqual([undefined, undefined]);
    }
    for (const { groups, withholdings, ...amounts } of [nothing.totals, nothing.books]) {
      expect([groups, withholdings]).toEqual([[], []]);
      expect(new Set(Object.values(amounts))).toEqual(new Set(['0.00']));
    }
  });

  test('it is signed over 0.00, and its QR message says that there is no tax', () => {
    const content = {
      ...sampleContent('GUIA_DE_TRANSPORTE', lines.slice(0, 1)),
      ...nothing,
      transport: {
        start: '2026-03-02T11:00:00.000Z',
        loading: { address: 'A', postalCode: '1000-001', city: 'L', country: 'PT' },
        unloading: { address: 'B', postalCode: '4000-001', city: 'P', country: 'PT' },
        valued: false,
      },
    };
    const head = {
      documentType: 'GUIA_DE_TRANSPORTE',
      code: 'A2026',
      validationCode: 'AAJFTEST',
      lastSequence: 0,
      lastHash: '',
      kind: 'N',
      cashVat: false,
    } as const;
    const facts: IssueFacts = {
      content,
      head,
      seriesStart: undefined,
      now,
      region: 'PT',
      notReady: [],
      certificateNumber: 9999,
      keyVersion: 1,
    };
    const decided = decideIssue(facts);
    if (decided.wait !== undefined) throw new Error('nothing to wait for');
    expect(decided.parts).toMatchObject({ number: 'GT A2026/1', date: '2026-03-02', grossTotal: '0.00' });
    expect(finishIssue(decided, `${'A'.repeat(171)}=`).qr).toMatch(/\*D:GT\*.*\*I1:0\*N:0\.00\*O:0\.00\*/);
  });
});

describe('the start', () => {
  const at = (start: string, end?: string) => ({ start, end });

  test('is not before the second in which it is asked for; the end is not before the start', () => {
    const told = (start: string, end?: string, asked = { start: true, end: end !== undefined }) =>
      timeProblems(at(start, end), asked, now, 'PT').map(({ code, pointer }) => `${code} ${pointer}`);
    expect(told('2026-03-02T10:00:00.000Z')).toEqual([]);
    expect(told('2026-03-02T09:59:59.999Z')).toEqual(['MOVEMENT_IN_PAST /movementDate']);
    expect(told('2026-03-02T11:00:00.000Z', '2026-03-02T11:00:00.000Z')).toEqual([]);
    expect(told('2026-03-02T11:00:00.000Z', '2026-03-02T10:59:59.999Z')).toEqual(['END_BEFORE_START /movementEndDate']);
    // A change of something else does not bring up the start again.
    expect(told('2026-03-01T11:00:00.000Z', undefined, { start: false, end: false })).toEqual([]);
    expect(told('2026-03-01T11:00:00.000Z', '2026-03-01T10:00:00.000Z', { start: false, end: true })).toEqual([
      'END_BEFORE_START /movementEndDate',
    ]);
    expect(told('2026-03-01T11:00:00.000Z', '2026-03-01T10:00:00.000Z', { start: false, end: false })).toEqual([]);
    const moved = { start: true, end: false };
    expect(told('2026-03-03T11:00:00.000Z', '2026-03-02T12:00:00.000Z', moved)).toEqual([
      'END_BEFORE_START /movementDate',
    ]);
  });

  test('at issue: still to come, and at most three months away in civil days', () => {
    const judged = (start: string) => codes(() => checkStart({ start }, now, 'PT'));
    expect(judged('2026-03-02T10:00:00.000Z')).toBe('passes');
    expect(judged('2026-03-02T09:59:59.000Z')).toBe('MOVEMENT_IN_PAST');
    // Summer time: 23:59 on June 2nd is 22:59 in UTC.
    expect(judged('2026-06-02T22:59:59.000Z')).toBe('passes');
    expect(judged('2026-06-02T23:00:00.000Z')).toBe('MOVEMENT_TOO_FAR');
    expect(codes(() => checkStart({ start: '2026-06-02T23:00:00.000Z' }, now, 'PT-AC'))).toBe('passes');
  });

  test('cancelling ends with it, to the millisecond', () => {
    const judged = (start: string) => codes(() => checkNotStarted({ start }, now, 'PT'));
    expect(judged('2026-03-02T10:00:00.701Z')).toBe('passes');
    expect(judged('2026-03-02T10:00:00.700Z')).toBe('MOVEMENT_STARTED');
    expect(judged('2026-03-02T10:00:00.000Z')).toBe('MOVEMENT_STARTED');
  });

  test('the words of a refusal are in civil time', () => {
    const past = { start: '2026-07-01T08:00:00.000Z' };
    expect(refused(() => checkStart(past, new Date('2026-07-01T09:00:00.000Z'), 'PT')).facts).toEqual({
      start: '2026-07-01T09:00:00.000+01:00',
      now: '2026-07-01T10:00:00.000+01:00',
    });
    const far = '2026-07-31T08:00:00.000Z';
    expect(refused(() => checkStart({ start: far }, now, 'PT')).facts).toEqual({
      start: '2026-07-31T09:00:00.000+01:00',
      from: '2026-04-30',
    });
    const begun = '2026-03-02T08:00:00.000Z';
    expect(refused(() => checkNotStarted({ start: begun }, now, 'PT')).facts).toEqual({
      start: '2026-03-02T08:00:00.000+00:00',
    });
  });
});

test('months later is the same day, or the last one of a shorter month', () => {
  const cases = [
    ['2026-11-30', 3, '2027-02-28'],
    ['2027-11-30', 3, '2028-02-29'],
    ['2026-12-31', 1, '2027-01-31'],
    ['2026-05-31', -3, '2026-02-28'],
    ['2026-01-15', -3, '2025-10-15'],
  ] as const;
  for (const [day, months, later] of cases) expect(monthsLater(day, months)).toBe(later);
  const days = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(days, fc.integer({ min: 0, max: 24 }), (date, months) => {
      const day = date.toISOString().slice(0, 10);
      const later = monthsLater(day, months);
      const index = (text: string) => Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7));
      expect(index(later) - index(day)).toBe(months);
      expect(Number(later.slice(8))).toBeLessThanOrEqual(Number(day.slice(8)));
      expect(later < monthsLater(day, months + 1)).toBe(true);
    }),
  );
});

test('plates of any country, but not any text', () => {
  for (const plate of ['AA-00-AA', '00-00-AA', 'AA 00 AA', 'AA00AA', 'B-MW 1234', '1234 BCD', 'L-123456', 'AB12'])
    expect([plate, isLicensePlate(plate)]).toEqual([plate, true]);
  for (const text of [
    '',
    'camião',
    'SEM MATRÍCULA',
    'AA--00',
    '-AA-00',
    'AA-00-',
    'AA_00_AA',
    'A1',
    'AB1',
    '---',
    'AB-CD-EF',
  ])
    expect([text, isLicensePlate(text)]).toEqual([text, false]);
});
