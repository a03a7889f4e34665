import { createPublicKey, createSign, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type ChainedDocument,
  chainPart,
  isHash,
  shortHash,
  signedText,
  verifyChain,
  verifyHash,
} from './hash-chain.ts';

interface Vectors {
  readonly publicKey: string;
  readonly vectors: readonly { number: string; text: string; hash: string; printed: string }[];
}
const { publicKey, vectors }: Vectors = JSON.parse(
  readFileSync(new URL('./fixtures/hash-chain-vectors.json', import.meta.url), 'utf8'),
);

/** The parts of a vector's text: its first four values, and the previous hash. */
function split(text: string): { parts: Parameters<typeof signedText>[0]; previous: string } {
  const [date = '', systemEntry = '', number = '', grossTotal = '', previous = ''] = text.split(';');
  return { parts: { date, systemEntry, number, grossTotal }, previous };
}

const keys = generateKeyPairSync('rsa', { modulusLength: 1024 });
const newerKeys = generateKeyPairSync('rsa', { modulusLength: 1024 });
const byVersion = new Map([
  [1, keys.publicKey],
  [2, newerKeys.publicKey],
]);

/** A chain of `length` documents; the key changes after `firstKeyFor` of them. */
function chain(length: number, firstKeyFor = length): ChainedDocument[] {
  return chainSigned(Array.from({ length }, (_, i) => (i < firstKeyFor ? 1 : 2)));
}

/** A chain whose documents are signed with keys of these versions. */
function chainSigned(versions: readonly (1 | 2)[]): ChainedDocument[] {
  const documents: ChainedDocument[] = [];
  let previous = '';
  for (const [i, keyVersion] of versions.entries()) {
    const sequence = i + 1;
    const parts = {
      date: '2026-03-02',
      systemEntry: `2026-03-02T10:00:${String(sequence).padStart(2, '0')}`,
      number: `FT A2026/${sequence}`,
      grossTotal: `${sequence}.00`,
    };
    previous = createSign('RSA-SHA1')
      .update(signedText(parts, previous))
      .sign((keyVersion === 1 ? keys : newerKeys).privateKey, 'base64');
    documents.push({ ...parts, sequence, hash: previous, keyVersion });
  }
  return documents;
}

test('the nine vectors: text, signature, printed characters', () => {
  expect(vectors).toHaveLength(9);
  const key = createPublicKey(publicKey);
  for (const { text, hash, printed, number } of vectors) {
    const { parts, previous } = split(text);
    expect(parts.number).toBe(number);
    expect(signedText(parts, previous)).toBe(text);
    expect(verifyHash(key, text, hash), number).toBe(true);
    expect(verifyHash(publicKey, text.replace('2026', '2027'), hash)).toBe(false);
    expect(shortHash(hash)).toBe(printed);
  }
});

test('the vectors of FT A2026 are one chain', () => {
  const documents = vectors
    .slice(0, 3)
    .map(({ text, hash }, index) => ({ ...split(text).parts, hash, sequence: index + 1, keyVersion: 1 }));
  const keysByVersion = new Map([[1, createPublicKey(publicKey)]]);
  expect(verifyChain(keysByVersion, documents)).toEqual([]);
  expect(verifyChain(keysByVersion, documents.slice(1))).toEqual([
    { sequence: 2, number: 'FT A2026/2', fault: 'GAP' },
    { sequence: 2, number: 'FT A2026/2', fault: 'HASH_WRONG' },
  ]);
  expect(verifyChain(keysByVersion, documents.slice(1), { after: documents[0] })).toEqual([]);
});

test('the first text of a series ends with a semicolon', () => {
  const parts = { date: '2026-03-02', systemEntry: '2026-03-02T09:00:00', number: 'GT A2026/1', grossTotal: '0.00' };
  expect(signedText(parts, '')).toBe('2026-03-02;2026-03-02T09:00:00;GT A2026/1;0.00;');
  expect(chainPart(parts)).toBe('2026-03-02;2026-03-02T09:00:00;GT A2026/1;0.00');
});

test('nothing of another form is ever signed', () => {
  const parts = { date: '2026-03-02', systemEntry: '2026-03-02T09:00:00', number: 'FT A/1', grossTotal: '1.00' };
  const wrong: Partial<typeof parts>[] = [
    { date: '02-03-2026' },
    { date: '' },
    { systemEntry: '2026-03-02T09:00' },
    { systemEntry: '2026-03-02T09:00:00Z' },
    { systemEntry: '2026-03-02T09:00:00.000' },
    { number: 'FT A1' },
    { number: 'FT A/1;' },
    { number: 'FTA/1' },
    { grossTotal: '1' },
    { grossTotal: '1.0' },
    { grossTotal: '-1.00' },
    { grossTotal: '1,00' },
    { grossTotal: '1 000.00' },
    { grossTotal: '01.00' },
    { grossTotal: '1.000' },
    { date: '2026-03-02\n' },
    { date: 'x2026-03-02' },
    { systemEntry: 'x2026-03-02T09:00:00' },
    { number: ';FT A/1' },
    { number: 'FT A/1/1' },
  ];
  for (const over of wrong)
    expect(() => chainPart({ ...parts, ...over }), JSON.stringify(over)).toThrow('assertion failed');
});

test('a hash is 172 characters of Base64 with one spelling', () => {
  const hash = vectors[0]!.hash;
  expect(isHash(hash)).toBe(true);
  // The last character before "=" holds four bits that count and two that do not.
  const twin = `${hash.slice(0, 170)}${hash[170] === 'J' ? 'I' : 'J'}=`;
  expect(Buffer.from(twin, 'base64').equals(Buffer.from(hash, 'base64'))).toBe(true);
  expect(verifyHash(publicKey, vectors[0]!.text, twin)).toBe(false);
  for (const bad of [
    '',
    '0',
    hash.slice(1),
    `${hash}\n`,
    hash.replace('=', ''),
    hash.replace(/./, '-'),
    `A${hash}`,
    `${hash}A`,
  ])
    expect(isHash(bad)).toBe(false);
  expect(() => shortHash('short')).toThrow('172');
});

test('a chain goes on over a change of keys, and can be verified in pieces', () => {
  const documents = chain(8, 5);
  expect(verifyChain(byVersion, documents)).toEqual([]);
  expect(verifyChain(byVersion, documents.slice(3), { after: documents[2] })).toEqual([]);
  expect(verifyChain(new Map([[1, keys.publicKey]]), documents).map((finding) => finding.fault)).toEqual([
    'KEY_VERSION',
    'KEY_VERSION',
    'KEY_VERSION',
  ]);
});

test('a key version never goes back, however well the older key signs', () => {
  const documents = chainSigned([1, 2, 1, 1, 2]);
  const found = [{ sequence: 3, number: 'FT A2026/3', fault: 'KEY_VERSION' }];
  expect(verifyChain(byVersion, documents)).toEqual(found);
  expect(verifyChain(byVersion, documents.slice(2), { after: documents[1] })).toEqual(found);
  // Receipts have no signature, and so no version that counts.
  const unsigned = documents.map((document) => ({ ...document, hash: '' }));
  expect(verifyChain(byVersion, unsigned, { signed: false })).toEqual([]);
});

test('one altered value is found, and found where it is', () => {
  const documents = chain(6);
  const altered: Record<string, Partial<ChainedDocument>> = {
    date: { date: '2026-03-03' },
    systemEntry: { systemEntry: '2026-03-02T23:00:00' },
    grossTotal: { grossTotal: '3.01' },
    hash: { hash: documents[1]!.hash },
    none: { hash: '' },
    zero: { hash: '0' },
    keyVersion: { keyVersion: 2 },
    missing: { keyVersion: 9 },
  };
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 5 }), fc.constantFrom(...Object.keys(altered)), (place, what) => {
      const changed = documents.map((document, index) =>
        index === place ? { ...document, ...altered[what] } : document,
      );
      const findings = verifyChain(byVersion, changed);
      expect(
        findings.some((finding) => finding.sequence === place + 1),
        what,
      ).toBe(true);
      // An altered value is reported at its document; an altered hash or time also at the next one, which relied on it.
      expect(findings.every((finding) => finding.sequence === place + 1 || finding.sequence === place + 2)).toBe(true);
    }),
  );
});

test('gaps, doubles, swapped documents and times that go back', () => {
  const documents = chain(4);
  const faults = (list: ChainedDocument[]) =>
    verifyChain(byVersion, list).map((finding) => `${finding.sequence} ${finding.fault}`);
  const [a, b, c, d] = documents as [ChainedDocument, ChainedDocument, ChainedDocument, ChainedDocument];
  expect(faults([a, b, d])).toEqual(['4 GAP', '4 HASH_WRONG']);
  expect(faults([a, b, b, c, d])).toContain('2 GAP');
  expect(faults([a, c, b, d])).toEqual(expect.arrayContaining(['3 GAP', '2 GAP', '2 SYSTEM_ENTRY_GOES_BACK']));
  expect(faults([a, { ...b, date: '2026-03-01' }])).toEqual(
    expect.arrayContaining(['2 DATE_GOES_BACK', '2 HASH_WRONG']),
  );
  expect(faults([a, { ...b, number: 'FT A2026/3' }])).toEqual(['2 NUMBER_DIFFERS', '2 HASH_WRONG']);
  // Digits that only end in the sequence are another one.
  expect(faults([{ ...a, number: 'FT A2026/11' }])).toContain('1 NUMBER_DIFFERS');
  expect(verifyChain(byVersion, [b], { after: a, startNumber: 1 })).toEqual([]);
  expect(verifyChain(byVersion, [a], { startNumber: 5 })[0]?.fault).toBe('GAP');
});

test('receipts: order is checked, a signature has no place there', () => {
  const receipts = [1, 2].map((sequence) => ({
    date: '2026-03-10',
    systemEntry: '2026-03-10T10:00:00',
    number: `RG A2026/${sequence}`,
    grossTotal: '1.00',
    sequence,
    hash: '',
    keyVersion: 1,
  }));
  expect(verifyChain(byVersion, receipts, { signed: false })).toEqual([]);
  expect(verifyChain(byVersion, [receipts[1]!], { signed: false })[0]?.fault).toBe('GAP');
  expect(verifyChain(byVersion, [{ ...receipts[0]!, hash: '0' }], { signed: false })[0]?.fault).toBe('HASH_WRONG');
});
