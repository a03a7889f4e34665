import { expect, test } from 'vitest';
import { buyerCountry, buyerTaxId } from './buyer.ts';

test('whoever gave a number has it; the others, and the final consumer whatever it has, are nobody', () => {
  const named = { taxpayerNumber: '501442600', country: 'ES' };
  const told = (party: object) => [buyerTaxId(party), buyerCountry(party)];
  expect(told(named)).toEqual(['501442600', 'ES']);
  expect(told({ country: 'PT' })).toEqual(['999999990', 'PT']);
  expect(told({ taxpayerNumber: '', country: '' })).toEqual(['999999990', 'Desconhecido']);
  expect(told({ ...named, finalConsumer: true })).toEqual(['999999990', 'Desconhecido']);
  expect(told({ ...named, finalConsumer: false })).toEqual(['501442600', 'ES']);
});
