import { expect, test } from 'vitest';
import type { SignedParts } from '../fiscal/hash-chain.ts';
import { generateSigningKey, localSigner, type SignedChain, type Signer } from '../keys/signer.ts';
import { runningFrom, signed } from './running-head.ts';

const local = localSigner(generateSigningKey().privatePem, 1);
const part = (sequence: number): SignedParts => ({
  date: '2026-03-02',
  systemEntry: '2026-03-02T10:00:00',
  number: `FT A2026/${sequence}`,
  grossTotal: '12.30',
});
const parts = (from: number, count: number) => Array.from({ length: count }, (_, i) => part(from + i));

/** Signs each piece when it is told to, as a thread that takes its time. */
function slowSigner(): { signer: Signer; befores: (string | Promise<SignedChain>)[]; tell: (() => void)[] } {
  const befores: (string | Promise<SignedChain>)[] = [];
  const tell: (() => void)[] = [];
  const signer: Signer = {
    keyVersion: 1,
    sign(before, texts) {
      befores.push(before);
      return new Promise<void>((resolve) => tell.push(resolve)).then(() => local.sign(before, texts));
    },
  };
  return { signer, befores, tell };
}

const fresh = () =>
  runningFrom('c', {
    document_type: 'INVOICE',
    code: 'A2026',
    validation_code: 'ABCD1234',
    last_number: 0,
    last_hash: '',
  });
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('is signed in pieces, one behind the other, and what comes meanwhile behind the last of them', async () => {
  const { signer, befores, tell } = slowSigner();
  const running = fresh();
  const twenty = parts(1, 20).map((one) => signed(running, one, signer));
  await turn();
  expect(befores).toHaveLength(3);
  tell[0]!();
  const first = await Promise.all(twenty.slice(0, 8));
  const more = parts(21, 2).map((one) => signed(running, one, signer));
  await turn();
  expect(befores.map((before) => typeof before)).toEqual(['string', 'object', 'object', 'object']);
  for (const one of tell) one();
  const all = [...first, ...(await Promise.all([...twenty.slice(8), ...more]))];
  const { signatures } = await local.sign('', parts(1, 22));
  expect(all.map(({ hash }) => hash)).toEqual(signatures);
  expect(all.map(({ previousHash }) => previousHash)).toEqual(['', ...signatures.slice(0, -1)]);
  // Nothing is being signed any more: the next goes on from the signature itself.
  const last = signed(running, part(23), signer);
  await turn();
  expect(befores.at(-1)).toBe(signatures.at(-1));
  tell.at(-1)!();
  expect((await last).previousHash).toBe(signatures.at(-1));
});

test('documents go on in the order of their numbers, each as far as it goes, a piece of one among them', async () => {
  const steps: string[] = [];
  const goOn = async (sequence: number, signing: Promise<unknown>) => {
    await signing;
    steps.push(`${sequence} signed`);
    for (let i = 0; i < 5; i += 1) await Promise.resolve();
    steps.push(`${sequence} on its way`);
  };
  const running = fresh();
  await Promise.all(parts(1, 9).map((one, i) => goOn(i + 1, signed(running, one, local))));
  expect(steps).toEqual(parts(1, 9).flatMap((_, i) => [`${i + 1} signed`, `${i + 1} on its way`]));
});

test('who seals for long has a turn alone, and the order stays', async () => {
  let now = 0;
  let isDone = false;
  const counting = (async () => {
    for (; !isDone; now += 1) await turn();
  })();
  const seal = async (sequence: number, signing: Promise<unknown>): Promise<readonly [number, number]> => {
    await signing;
    for (const end = performance.now() + 15; performance.now() < end; );
    return [sequence, now];
  };
  const running = fresh();
  const sealed: (readonly [number, number])[] = [];
  await Promise.all(parts(1, 10).map(async (one, i) => sealed.push(await seal(i + 1, signed(running, one, local)))));
  isDone = true;
  await counting;
  expect(sealed.map(([sequence]) => sequence)).toEqual(parts(1, 10).map((_, i) => i + 1));
  expect(new Set(sealed.map(([, at]) => at)).size).toBe(10);
});

test('what stands behind a piece that was not signed is not signed; afterwards the last signature counts', async () => {
  const running = fresh();
  const eight = parts(1, 8).map((one) => signed(running, one, local));
  const wrong = [...parts(9, 3), { ...part(12), number: 'nonsense' }, ...parts(13, 9)].map((one) =>
    signed(running, one, local),
  );
  const answers = await Promise.allSettled(wrong);
  expect(answers.map(({ status }) => status)).toEqual(wrong.map(() => 'rejected'));
  const { signatures } = await local.sign('', parts(1, 9));
  expect((await Promise.all(eight)).map(({ hash }) => hash)).toEqual(signatures.slice(0, 8));
  expect(await signed(running, part(9), local)).toEqual({ previousHash: signatures[7], hash: signatures[8] });
});

test('what was decided for another key than the one that signs is not signed', async () => {
  const running = fresh();
  const newer: Signer = { ...local, keyVersion: 2 };
  const eight = parts(1, 8).map((one, i) => signed(running, one, i === 7 ? newer : local));
  const answers = await Promise.allSettled(eight);
  expect(answers.map(({ status }) => status)).toEqual(eight.map(() => 'rejected'));
  expect((await signed(running, part(1), local)).previousHash).toBe('');
});
