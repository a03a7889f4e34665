import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Utf8, utf8 } from '../fiscal/utf8.ts';
import { hmacOf } from './hmac.ts';

test("is Node's own, whatever the key and the pieces", () => {
  const piece = fc.string({ unit: 'binary', maxLength: 200 }).map((text) => utf8(text));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.array(piece, { maxLength: 5 }), (key, pieces) => {
      const mac = hmacOf(key);
      const whole = Buffer.from(pieces.join(''), 'latin1');
      const expected = createHmac('sha256', key).update(whole).digest('hex');
      // Twice: nothing of one call is left for the next.
      expect([mac(pieces), mac([whole.toString('latin1') as Utf8])].map((one) => one.toString('hex'))).toEqual([
        expected,
        expected,
      ]);
    }),
  );
});

test('of texts longer than what is kept', () => {
  const key = Buffer.alloc(32, 7);
  const mac = hmacOf(key);
  for (const length of [16_319, 16_320, 16_321, 300_000, 3]) {
    const text = utf8('x'.repeat(length));
    expect(mac([text, text]).toString('hex')).toBe(
      createHmac('sha256', key)
        .update(text + text)
        .digest('hex'),
    );
  }
});

// RFC 4231, test case 2.
test('the vector of the RFC', () => {
  expect(hmacOf(Buffer.from('Jefe'))([utf8('what do ya want for nothing?')]).toString('hex')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});

test('no key that would have to be hashed', () => {
  expect(() => hmacOf(Buffer.alloc(65))).toThrow('more than a block');
});
