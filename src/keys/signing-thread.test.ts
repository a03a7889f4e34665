import { afterAll, describe, expect, test } from 'vitest';
import type { SignedParts } from '../fiscal/hash-chain.ts';
import { generateSigningKey, localSigner } from './signer.ts';
import { SigningThread } from './signing-thread.ts';

const keys = [generateSigningKey(), generateSigningKey()];
const parts = (count: number, from = 1): SignedParts[] =>
  Array.from({ length: count }, (_, i) => ({
    date: '2026-03-02',
    systemEntry: '2026-03-02T10:00:00',
    number: `FT A2026/${from + i}`,
    grossTotal: '12.30',
  }));

const thread = new SigningThread();
afterAll(() => thread.close());
const signers = keys.map(({ privatePem }, i) => thread.signer(privatePem, i + 1));

describe('a chain', () => {
  test.each([1, 3, 4, 16, 40])('of %i has the signatures that it has without a thread', async (count) => {
    for (const [i, signer] of signers.entries()) {
      const previous = `${'b'.repeat(170)}A=`;
      const here = await localSigner(keys[i]!.privatePem, i + 1).sign(previous, parts(count));
      expect(await signer.sign(previous, parts(count))).toEqual(here);
    }
  });

  test('and others at once are each whole', async () => {
    const chains = await Promise.all(
      Array.from({ length: 12 }, (_, i) => signers[i % 2]!.sign('', parts(4 + (i % 5), 100 * i))),
    );
    for (const [i, chain] of chains.entries()) {
      const here = await localSigner(keys[i % 2]!.privatePem, (i % 2) + 1).sign('', parts(4 + (i % 5), 100 * i));
      expect(chain).toEqual(here);
    }
  });

  test('that cannot be signed is told, and the next is signed', async () => {
    const wrong = parts(5).map((part) => ({ ...part, number: 'nonsense' }));
    await expect(signers[0]!.sign('', wrong)).rejects.toThrow(/the signing thread cannot sign: .*a signed number is/);
    expect((await signers[0]!.sign('', parts(5))).signatures).toHaveLength(5);
  });
});

test('a thread that ends fails what it was signing; the next chain has a new one', async () => {
  const mortal = new SigningThread();
  const signer = mortal.signer(keys[0]!.privatePem, 1);
  await signer.sign('', parts(4));
  const long = signer.sign('', parts(2_000));
  await mortal.close();
  await expect(long).rejects.toThrow('the signing thread has ended');
  expect(await signer.sign('', parts(4))).toEqual(await localSigner(keys[0]!.privatePem, 1).sign('', parts(4)));
  await mortal.close();
});

test('a key that cannot sign documents is refused before there is a thread', () => {
  expect(() => thread.signer('nonsense', 3)).toThrow();
});
