import { expect, test } from 'vitest';
import { type CustomerChange, customerLockProblems, itemLockProblems, taxIdentities } from './masters.ts';
import { Refusal } from './refusal.ts';

/** Code and pointers of what refuses a change; undefined: allowed. */
function refused(act: () => void): string[] | undefined {
  try {
    act();
  } catch (error) {
    if (error instanceof Refusal) return [error.code, ...error.problems.map((problem) => problem.pointer)];
    throw error;
  }
  return undefined;
}
type Side = CustomerChange['before'];
const customer = (before: Side, after: Side, used = true) =>
  refused(() => customerLockProblems({ used, before, after }));
const ana = { name: 'Ana', taxpayerNumber: '123456789' };
const nobody = { name: 'Ana' };

test('a NIF that documents carry never changes', () => {
  expect(customer(ana, { ...ana, taxpayerNumber: '287024008' })).toEqual(['CUSTOMER_NIF_LOCKED', '/taxpayerNumber']);
  expect(customer(ana, nobody)).toEqual(['CUSTOMER_NIF_LOCKED', '/taxpayerNumber']);
  expect(customer(ana, { ...ana, taxpayerNumber: null })).toEqual(['CUSTOMER_NIF_LOCKED', '/taxpayerNumber']);
  expect(customer(ana, { ...ana, taxpayerNumber: '287024008' }, false)).toBeUndefined();
});

test('a NIF may be filled in', () => {
  expect(customer(nobody, ana)).toBeUndefined();
  expect(customer({ ...ana, taxpayerNumber: null }, ana)).toBeUndefined();
  expect(customer({ ...ana, taxpayerNumber: '' }, ana)).toBeUndefined();
  expect(customer({ ...ana, taxpayerNumber: '999999990' }, ana)).toBeUndefined();
});

test('the country of a NIF that documents carry never changes; without a NIF it is free', () => {
  const here = { ...ana, country: 'PT' };
  expect(customer(here, { ...here, country: 'US' })).toEqual(['CUSTOMER_COUNTRY_LOCKED', '/country']);
  expect(customer(here, { ...here, country: 'DE', taxpayerNumber: '123456788' })).toEqual([
    'CUSTOMER_NIF_LOCKED',
    '/taxpayerNumber',
    '/country',
  ]);
  expect(customer(here, { ...here, country: 'US' }, false)).toBeUndefined();
  const none = { name: 'Ana', country: 'PT' };
  expect(customer(none, { ...none, country: 'ES' })).toBeUndefined();
  expect(customer({ ...none, taxpayerNumber: '999999990' }, { ...none, country: 'ES' })).toBeUndefined();
  expect(customer(none, { ...none, country: 'DE', taxpayerNumber: '123456789' })).toBeUndefined();
});

test('what documents may show of a customer is kept, in the order in which it was', () => {
  const [nobodyHere, nobodyThere] = [
    { name: 'Ana', country: 'PT' },
    { name: 'Ana', taxpayerNumber: '', country: 'ES' },
  ];
  const somebody = { ...ana, country: 'ES' };
  const change = (before: Side, after: Side, known: readonly string[] | null, used = true) =>
    taxIdentities({ used, before, after }, known);
  expect(change(nobodyHere, somebody, null, false)).toBeNull();
  expect(change(nobodyHere, { ...nobodyHere, name: 'Eva', taxpayerNumber: null }, null)).toBeNull();
  expect(change(nobodyHere, nobodyThere, null)).toEqual(['999999990 PT', '999999990 ES']);
  const both = ['999999990 PT', '999999990 ES'];
  expect(change(nobodyThere, nobodyHere, both)).toEqual(both);
  expect(change(nobodyThere, somebody, both)).toEqual([...both, '123456789 ES']);
  expect(change(somebody, { ...somebody, name: 'Eva' }, both)).toEqual(both);
});

test('the name is free only once there is a NIF', () => {
  expect(customer(nobody, { name: 'Ana Silva' })).toEqual(['CUSTOMER_NAME_LOCKED', '/name']);
  expect(
    customer({ ...ana, taxpayerNumber: '999999990' }, { ...ana, name: 'Eva', taxpayerNumber: '999999990' }),
  ).toEqual(['CUSTOMER_NAME_LOCKED', '/name']);
  expect(customer(nobody, { ...ana, name: 'Ana Silva' })).toEqual(['CUSTOMER_NAME_LOCKED', '/name']);
  expect(customer(ana, { ...ana, name: 'Ana Silva' })).toBeUndefined();
  expect(customer(nobody, { name: 'Ana Silva' }, false)).toBeUndefined();
});

test('the final consumer never changes', () => {
  expect(refused(() => customerLockProblems({ system: true, used: false, before: nobody, after: nobody }))).toEqual([
    'SYSTEM_CUSTOMER',
  ]);
});

test('the name of a used item', () => {
  const rename = (used: boolean, name: string) =>
    refused(() => itemLockProblems({ used, before: { name: 'Cadeira' }, after: { name } }));
  expect(rename(true, 'Mesa')).toEqual(['ITEM_NAME_LOCKED', '/name']);
  expect(rename(true, 'Cadeira')).toBeUndefined();
  expect(rename(false, 'Mesa')).toBeUndefined();
});
