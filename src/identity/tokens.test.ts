import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { looksLikeToken, mintToken, tokenHash, tokenHint } from './tokens.ts';

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });

test('a token is its prefix and 49 characters of base62, and is recognised', () => {
  fc.assert(
    fc.property(bytes, fc.constantFrom('svc_sk_', 'svc_cs_', 'svc_at_', 'svc_rt_', 'svc_ac_'), (random, prefix) => {
      const token = mintToken(prefix, random);
      expect(token).toMatch(/^svc_(sk|cs|at|rt|ac)_[0-9A-Za-z]{49}$/);
      expect(token.startsWith(prefix)).toBe(true);
      expect(looksLikeToken(prefix, token)).toBe(true);
    }),
  );
});

test('different chance, different token; the same chance, the same token', () => {
  fc.assert(
    fc.property(bytes, bytes, (one, other) => {
      const same = Buffer.compare(one, other) === 0;
      expect(mintToken('svc_sk_', one) === mintToken('svc_sk_', other)).toBe(same);
    }),
  );
  const extremes = [new Uint8Array(32), new Uint8Array(32).fill(255)].map((random) => mintToken('svc_sk_', random));
  expect(extremes.map((token) => token.length)).toEqual([56, 56]);
});

test('one wrong character, one missing or one too many is told apart by the checksum', () => {
  const character = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_ -é');
  fc.assert(
    fc.property(bytes, fc.integer({ min: 0, max: 55 }), character, (random, at, other) => {
      const token = mintToken('svc_sk_', random);
      const changed = token.slice(0, at) + other + token.slice(at + 1);
      expect(looksLikeToken('svc_sk_', changed)).toBe(changed === token);
      expect(looksLikeToken('svc_sk_', token.slice(0, at) + token.slice(at + 1))).toBe(false);
      expect(looksLikeToken('svc_sk_', token.slice(0, at) + other + token.slice(at))).toBe(false);
    }),
  );
});

test('a token of one kind is none of another', () => {
  const token = mintToken('svc_at_', new Uint8Array(32).fill(9));
  expect(looksLikeToken('svc_sk_', token)).toBe(false);
  expect(looksLikeToken('svc_sk_', token.replace('svc_at_', 'svc_sk_'))).toBe(false);
});

test('anything may be asked', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 80 }), (text) => {
      expect(looksLikeToken('svc_sk_', text)).toBe(false);
    }),
  );
});

test('what is stored is the SHA-256 and a hint that does not give the token away', () => {
  const token = mintToken('svc_sk_', new Uint8Array(32).fill(200));
  expect(tokenHash(token)).toEqual(createHash('sha256').update(token).digest());
  expect(token.startsWith(tokenHint(token))).toBe(true);
  expect(tokenHint(token)).toHaveLength(13);
});

test('a token takes 256 bits of chance, not less', () => {
  expect(() => mintToken('svc_sk_', new Uint8Array(31))).toThrow('32 random bytes');
});
