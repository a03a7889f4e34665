import { afterAll, describe, expect, test } from 'vitest';
import type { SignedParts } from '../fiscal/hash-chain.ts';
import { generateSigningKey, localSigner, type SignedChain, type Signer } from './signer.ts';
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

  test('goes on behind what is still being signed, others between them', async () => {
    const series = [0, 1, 2].map((one) => ({ one, calls: [] as Promise<SignedChain>[] }));
    // Pieces of every length, all asked for in one turn; the key changes on the way.
    for (const count of [4, 1, 6, 2, 1, 5]) {
      for (const { one, calls } of series) {
        const signer = signers[calls.length < 3 ? 0 : 1]!;
        calls.push(signer.sign(calls.at(-1) ?? '', parts(count, 1 + 100 * one + 10 * calls.length)));
      }
    }
    for (const { one, calls } of series) {
      let previous = '';
      for (const [at, chain] of (await Promise.all(calls)).entries()) {
        const here = localSigner(keys[at < 3 ? 0 : 1]!.privatePem, at < 3 ? 1 : 2);
        expect(chain).toEqual(await here.sign(previous, parts(chain.signatures.length, 1 + 100 * one + 10 * at)));
        previous = chain.signatures.at(-1)!;
      }
    }
  });

  test('goes on behind what has been answered, whichever side signs it', async () => {
    const [signer] = signers as [Signer];
    const first = signer.sign('', parts(5));
    const { signatures } = await first;
    for (const count of [1, 4]) {
      const here = await localSigner(keys[0]!.privatePem, 1).sign(signatures.at(-1)!, parts(count, 6));
      expect(await signer.sign(first, parts(count, 6))).toEqual(here);
    }
  });

  test('is not signed behind what was not', async () => {
    const [signer] = signers as [Signer];
    const first = signer.sign('', parts(5));
    const wrong = signer.sign(first, [{ ...parts(1)[0]!, number: 'nonsense' }]);
    const behind = signer.sign(wrong, parts(4, 7));
    const last = signer.sign(behind, parts(1, 11));
    expect((await first).signatures).toHaveLength(5);
    await expect(wrong).rejects.toThrow('a signed number is');
    for (const one of [behind, last]) await expect(one).rejects.toThrow('the signing thread cannot sign');
    // Nor once it is known that it was not.
    await expect(signer.sign(wrong, parts(4, 7))).rejects.toThrow('a signed number is');
    expect((await signer.sign(first, parts(1, 6))).signatures).toHaveLength(1);
  });

  test('that cannot be signed is told, and the next is signed', async () => {
    const wrong = parts(5).map((part) => ({ ...part, number: 'nonsense' }));
    await expect(signers[0]!.sign('', wrong)).rejects.toThrow(/the signing thread cannot sign: .*a signed number is/);
    expect((await signers[0]!.sign('', parts(5))).signatures).toHaveLength(5);
  });
});

test('what the thread cannot even be told is refused, and nobody waits for it', async () => {
  const [signer] = signers as [Signer];
  const first = signer.sign('', parts(4));
  const untold = signer.sign(first, [{ ...parts(1)[0]!, number: (() => '') as unknown as string }]);
  await expect(untold).rejects.toThrow('could not be cloned');
  const second = signer.sign(first, parts(4, 5));
  const here = await localSigner(keys[0]!.privatePem, 1).sign('', parts(8));
  expect([...(await first).signatures, ...(await second).signatures]).toEqual(here.signatures);
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
