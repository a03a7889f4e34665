import fc from 'fast-check';
import { expect, test } from 'vitest';
import { utf8 } from '../fiscal/utf8.ts';
import { masterKey, type Purpose } from './sealing.ts';

const master = masterKey(new Uint8Array(32).fill(1));
const purposes: Purpose[] = ['at-password', 'signing-key', 'links', 'books-seal'];

test('what was sealed opens again, and no two sealings are alike', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(...purposes), (clear, purpose) => {
      const sealed = master.seal(purpose, clear);
      expect(Buffer.compare(master.open(purpose, sealed), clear)).toBe(0);
      expect(sealed.length).toBe(clear.length + 29);
      expect(Buffer.compare(sealed, master.seal(purpose, clear))).not.toBe(0);
    }),
  );
});

test('nothing of the clear text stands in what is stored', () => {
  expect(master.seal('at-password', Buffer.from('senha-da-at')).includes('senha')).toBe(false);
});

test('any byte changed, cut off or added: it does not open', () => {
  const sealed = master.seal('at-password', Buffer.from('senha-da-at'));
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    expect(() => master.open('at-password', changed)).toThrow();
    expect(() => master.open('at-password', sealed.subarray(0, at))).toThrow();
  }
  expect(() => master.open('at-password', Buffer.concat([sealed, Buffer.of(0)]))).toThrow();
});

test('another purpose or another master key does not open it, and says no secret', () => {
  const sealed = master.seal('at-password', Buffer.from('senha-da-at'));
  const other = masterKey(new Uint8Array(32).fill(2));
  for (const open of [() => master.open('signing-key', sealed), () => other.open('at-password', sealed)]) {
    expect(open).toThrow(/sealed under another master key or changed/);
    expect(open).not.toThrow(/senha/);
  }
});

test('macs are of 32 bytes, repeat, and differ by purpose, text and master key', () => {
  const other = masterKey(new Uint8Array(32).fill(2));
  const macs = [
    ...purposes.map((p) => master.mac(p, utf8('x'))),
    master.mac('links', utf8('y')),
    other.mac('links', utf8('x')),
  ];
  expect(new Set(macs.map((mac) => mac.toString('hex'))).size).toBe(macs.length);
  expect(macs.every((mac) => mac.length === 32)).toBe(true);
  expect(master.mac('links', utf8('x'))).toEqual(masterKey(new Uint8Array(32).fill(1)).mac('links', utf8('x')));
});

test('the master key has 32 bytes', () => {
  for (const length of [0, 16, 31, 33, 64]) expect(() => masterKey(new Uint8Array(length))).toThrow('32 bytes');
});
