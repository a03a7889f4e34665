import { expect, test } from 'vitest';
import { firstBy, rateKey, sharesOf, together, withholdingKey } from './tax-groups.ts';

test('a tax is of one territory, code, rate and exemption; no exemption is written in two ways', () => {
  const normal = { region: 'PT', taxCode: 'NOR', rate: '23' } as const;
  const exempt = { region: 'PT', taxCode: 'ISE', rate: '0', exemptionCode: 'M07' } as const;
  const all = [
    normal,
    { ...normal, region: 'PT-AC' } as const,
    { ...normal, taxCode: 'INT' } as const,
    { ...normal, rate: '22' },
    exempt,
    { ...exempt, exemptionCode: 'M99' } as const,
    { ...exempt, region: 'PT-MA' } as const,
  ];
  expect(new Set(all.map(rateKey)).size).toBe(all.length);
  expect(rateKey({ ...normal, exemptionCode: undefined })).toBe(rateKey(normal));
});

test('what is withheld alike is of one type, percentage and norm, however the percentage is written', () => {
  const irs = { type: 'IRS', percent: '25', reason: 'art. 101' } as const;
  const all = [irs, { ...irs, type: 'IRC' } as const, { ...irs, percent: '2.5' }, { ...irs, reason: 'art. 71' }];
  expect(new Set(all.map(withholdingKey)).size).toBe(all.length);
  expect(withholdingKey({ ...irs, percent: '25.00' })).toBe(withholdingKey(irs));
  expect(withholdingKey({ ...irs, reason: '' })).toBe(withholdingKey({ ...irs, reason: undefined }));
});

test('groups of one key: what they have together, the first of them, and all in their order', () => {
  const groups = [
    { key: 'b', base: '10', amount: '2.30' },
    { key: 'a', base: '5', amount: '0.30' },
    { key: 'b', base: '0.10', amount: '0.02' },
  ];
  const keyOf = ({ key }: { key: string }) => key;
  const share = sharesOf(groups, keyOf, ({ amount }) => amount);
  expect(['a', 'b', 'c'].map(share)).toEqual([
    { base: '5', amount: '0.3' },
    { base: '10.1', amount: '2.32' },
    { base: '0', amount: '0' },
  ]);
  expect([...firstBy(groups, keyOf).values()].toSorted((x, y) => (x.key < y.key ? -1 : 1))).toEqual([
    groups[1],
    groups[0],
  ]);
  expect([...together(groups, keyOf)]).toEqual([
    ['b', [groups[0], groups[2]]],
    ['a', [groups[1]]],
  ]);
});
