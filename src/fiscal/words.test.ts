import { expect, test } from 'vitest';
import { mechanism, paymentMechanisms } from './payment-mechanisms.ts';
import { units, unitText } from './units.ts';

test('the fourteen payment mechanisms of SAF-T, by code and by name', () => {
  const codes = Object.keys(paymentMechanisms);
  expect(codes.join(' ')).toBe('CC CD CH CI CO CS DE LC MB NU OU PR TB TR');
  for (const [code, { pt, en }] of Object.entries(paymentMechanisms)) {
    expect([code, code.toLowerCase(), pt, en, pt.toUpperCase(), en.replaceAll(' ', '_')].map(mechanism)).toEqual(
      Array(6).fill(code),
    );
  }
  expect(['numerario', ' Transferência  bancária ', 'BANK_TRANSFER', 'Multibanco', 'cash'].map(mechanism)).toEqual([
    'NU',
    'TB',
    'TB',
    'MB',
    'NU',
  ]);
  for (const none of ['', 'XX', 'bitcoin', 'constructor', '__proto__']) expect(mechanism(none), none).toBeUndefined();
});

test('units fit SAF-T', () => {
  expect(Object.keys(units)).toHaveLength(13);
  for (const { text, name } of Object.values(units)) {
    expect(text.length).toBeGreaterThanOrEqual(1);
    expect(text.length).toBeLessThanOrEqual(20);
    expect(name).not.toBe('');
  }
  expect([
    unitText('UNIT'),
    unitText('HOUR'),
    unitText('SQUARE_METER'),
    unitText('palete'),
    unitText('toString'),
  ]).toEqual(['un', 'h', 'm²', 'palete', 'toString']);
});
