/** Signatures by key and version: what is verified, what can't be, and what is wrong. */
import { createPublicKey, createSign, type KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { everything, sourceOf, textOf } from '../../../../test/golden/saft-samples.ts';
import { generateSigningKey } from '../../../keys/signer.ts';
import { writeSaft } from '../write.ts';
import { type CheckOptions, checkSaft } from './check-saft.ts';

const ours = everything().then(({ documents }) => textOf(writeSaft(sourceOf(documents))));
const pairs = new Map([1, 2, 3].map((version) => [version, generateSigningKey()]));
const keyOf = (version: number): KeyObject => createPublicKey(pairs.get(version)!.publicPem);
const foreign = createPublicKey(generateSigningKey().publicPem);

async function check(xml: string, options: CheckOptions = {}) {
  const file = (async function* () {
    yield new TextEncoder().encode(xml);
  })();
  const { findings, counts, errors, warnings, hashes } = await checkSaft(file, options);
  return {
    told: findings.map(({ code, document }) => `${code} ${document}`),
    findings,
    counts,
    errors,
    warnings,
    hashes,
  };
}

const textIn = (document: string, name: string) => new RegExp(`<${name}>([^<]*)<`).exec(document)?.[1] ?? '';
const numberIn = (document: string) => textIn(document, 'InvoiceNo') || textIn(document, 'DocumentNumber');

/** The file signed again, each document with the key of the version that is chosen by its number. */
function signedAgain(xml: string, versionOf: (number: string) => number, gross = (total: string) => total): string {
  const heads = new Map<string, string>();
  return xml.replace(/<(Invoice|StockMovement|WorkDocument)>\n[\s\S]*?<\/\1>/g, (document) => {
    const number = numberIn(document);
    const version = versionOf(number);
    const chain = number.slice(0, number.indexOf('/'));
    const date = ['InvoiceDate', 'MovementDate', 'WorkDate'].map((name) => textIn(document, name)).join('');
    const total = gross(textIn(document, 'GrossTotal'));
    const text = [date, textIn(document, 'SystemEntryDate'), number, total, heads.get(chain) ?? ''].join(';');
    const hash = createSign('RSA-SHA1').update(text).sign(pairs.get(version)!.privatePem, 'base64');
    heads.set(chain, hash);
    return document
      .replace(/(?<=<Hash>)[^<]*/, hash)
      .replace(/(?<=<HashControl>)\d+/, String(version))
      .replace(/(?<=<GrossTotal>)[^<]*/, total);
  });
}

/** FT A2026/4 and those behind it, and the recovered ones, were signed after the key was changed. */
const afterChange = (number: string) => (/^FT (?:A2026\/[456]|R2026)/.test(number) ? 2 : 1);
const all = 24;
const late = 5;

const onlyKey = (version: number): CheckOptions => ({ onlyKey: keyOf(version) });

describe('one key', () => {
  test.each([1, 2, 3])('stands for version %i where the file has no other', async (version) => {
    const { told, hashes } = await check(
      signedAgain(await ours, () => version),
      onlyKey(version),
    );
    expect(told).toEqual([]);
    expect(hashes).toEqual({ verified: all, unverified: 0 });
  });

  test('that signed nothing of a file of one version: each is wrong, none verified', async () => {
    const { counts, hashes } = await check(await ours, { onlyKey: foreign });
    expect(counts).toEqual({ HASH_WRONG: all });
    expect(hashes).toEqual({ verified: 0, unverified: 0 });
  });

  test.each([
    [1, all - late, 'HASH_KEY_UNKNOWN FT A2026/4', 2],
    [2, late, 'HASH_KEY_UNKNOWN FR A2026/1', 1],
  ])('of version %i, of two in the file: the others are not to be verified', async (version, verified, told, other) => {
    const report = await check(signedAgain(await ours, afterChange), onlyKey(version));
    expect(report.told).toEqual([told]);
    expect(report.findings[0]).toMatchObject({ severity: 'WARNING', facts: { version: other } });
    expect(report.hashes).toEqual({ verified, unverified: all - verified });
  });

  test('one document changed is named, and the version that has no key is not', async () => {
    const xml = signedAgain(await ours, afterChange);
    const signature = /(<InvoiceNo>FT A2026\/2<[\s\S]*?<Hash>)(..)/;
    // Keys are made anew for each run, and any two letters may be the first.
    const changed = xml.replace(signature, (_, before, two) => before + (two === 'ZZ' ? 'YY' : 'ZZ'));
    const { told, hashes } = await check(changed, onlyKey(1));
    expect(told.sort()).toEqual(['HASH_KEY_UNKNOWN FT A2026/4', 'HASH_WRONG FT A2026/2', 'HASH_WRONG FT A2026/3']);
    expect(hashes).toEqual({ verified: all - late - 2, unverified: late });
  });

  test('does not stand for a version only because the others could not be tried', async () => {
    const signed = signedAgain(await ours, (number) => (number === 'FT A2026/2' ? 1 : 2));
    const first = /<Invoice>\n<InvoiceNo>FT A2026\/1<[\s\S]*?<\/Invoice>\n/;
    const { counts, hashes } = await check(signed.replace(first, ''), onlyKey(1));
    expect(counts).toMatchObject({ HASH_UNVERIFIED: 1, HASH_KEY_UNKNOWN: 1 });
    expect(counts.HASH_WRONG).toBeUndefined();
    expect(hashes).toEqual({ verified: 0, unverified: all - 1 });
  });

  test('a document that only says another version does not make the real ones of that version changed', async () => {
    const signed = signedAgain(await ours, afterChange);
    const xml = signed.replace(/(<InvoiceNo>FT A2026\/2<[\s\S]*?<HashControl>)1/, '$12');
    const { told, hashes } = await check(xml, onlyKey(1));
    expect(told.sort()).toEqual(['HASH_CONTROL_OTHER FT A2026/2', 'HASH_KEY_UNKNOWN FT A2026/4']);
    expect(hashes).toEqual({ verified: all - late, unverified: late });
  });

  test('of neither version: nothing is called changed, nothing is verified', async () => {
    const { told, hashes } = await check(signedAgain(await ours, afterChange), onlyKey(3));
    expect(told).toEqual(['HASH_KEY_UNKNOWN FR A2026/1', 'HASH_KEY_UNKNOWN FT A2026/4']);
    expect(hashes).toEqual({ verified: 0, unverified: all });
  });

  test('a HashControl that no key can have is told, not passed over', async () => {
    const xml = (await ours).replace(/(<InvoiceNo>FT A2026\/5<[\s\S]*?<HashControl>)1/, `$1${'9'.repeat(30)}`);
    expect((await check(xml, { publicKeys: (version) => (version === 1 ? foreign : undefined) })).counts).toMatchObject(
      {
        HASH_KEY_UNKNOWN: 1,
      },
    );
  });

  test('versions without end cost no memory: those beyond the hundredth are not to be verified', async () => {
    const at = (await ours).search(/<Invoice>\n<InvoiceNo>FT F2026\/1/);
    const one = (await ours).slice(at, (await ours).indexOf('</Invoice>\n', at) + '</Invoice>\n'.length);
    // Two documents of each of 150 versions.
    const many = Array.from({ length: 300 }, (_, count) =>
      one.replace('F2026/1<', `X${count}/1<`).replace('<HashControl>1<', `<HashControl>${10 + (count % 150)}<`),
    );
    const { counts, hashes } = await check(
      (await ours).replace(one, () => one + many.join('')),
      { onlyKey: foreign },
    );
    // A hundred are told once each, the 51 that nothing is remembered of with each document.
    expect(counts).toMatchObject({ HASH_KEY_UNKNOWN: 100 + 2 * 51 });
    expect(hashes).toEqual({ verified: 0, unverified: all + 300 });
  });

  test('many wrong ones are counted, not remembered', async () => {
    const file = (async function* () {
      yield new TextEncoder().encode(await ours);
    })();
    const { findings, counts } = await checkSaft(file, { onlyKey: foreign, mostPerCode: 3 });
    expect([findings.length, counts]).toEqual([3, { HASH_WRONG: all }]);
  });
});

test('several keys: each version with its own', async () => {
  const { told, hashes } = await check(signedAgain(await ours, afterChange), { publicKeys: keyOf });
  expect(told).toEqual([]);
  expect(hashes).toEqual({ verified: all, unverified: 0 });
});

test('a series that begins above 1 begins its chain there', async () => {
  const seventh = (await ours).replace(/FT F2026\/1(<\/InvoiceNo>\n<ATCUD>[^<]*)-1</, 'FT F2026/7$1-7<');
  expect(seventh).not.toBe(await ours);
  const { told, hashes } = await check(
    signedAgain(seventh, () => 1),
    onlyKey(1),
  );
  expect(told).toEqual([]);
  expect(hashes).toEqual({ verified: all, unverified: 0 });
});

describe('figures', () => {
  test('without a key every signature is not to be verified', async () => {
    const { told, hashes } = await check(await ours);
    expect(told).toEqual([]);
    expect(hashes).toEqual({ verified: 0, unverified: all });
  });

  test('with the keys of another program none is verified', async () => {
    expect((await check(await ours, { publicKeys: () => foreign })).hashes).toEqual({ verified: 0, unverified: 0 });
  });

  test('without the key of its version a signature is not to be verified', async () => {
    const keys = { publicKeys: (version: number) => (version === 2 ? keyOf(2) : undefined) };
    const { told, hashes } = await check(signedAgain(await ours, afterChange), keys);
    expect(told).toEqual(['HASH_KEY_UNKNOWN FR A2026/1']);
    expect(hashes).toEqual({ verified: late, unverified: all - late });
  });
});

describe('a Hash of 0', () => {
  const zeroed = (xml: string, number: string, control: string) =>
    xml.replace(
      new RegExp(`(<(?:InvoiceNo|DocumentNumber)>${number}<[\\s\\S]*?<Hash>)[^<]*(</Hash>\\n<HashControl>)[^<]*`),
      `$10$2${control}`,
    );

  test.each(['FT A2026/1', 'FT A2026/3', 'FT A2026/6', 'GC A2026/1', 'PF A2026/2', 'NC A2026/2'])(
    '%s is an error of that document and of no other, with a key and without',
    async (number) => {
      const signed = signedAgain(await ours, () => 1);
      for (const control of ['0', '1']) {
        const xml = zeroed(signed, number, control);
        for (const options of [{}, onlyKey(1), { publicKeys: keyOf }]) {
          const { told, errors } = await check(xml, options);
          expect([told, errors]).toEqual([[`HASH_ZERO ${number}`], 1]);
        }
        // The one behind it can't be verified: what it was signed with is gone.
        const last = /A2026\/6|GC|NC/.test(number) ? 1 : 2;
        expect((await check(xml, onlyKey(1))).hashes).toEqual({ verified: all - last, unverified: last - 1 });
      }
    },
  );

  const uncertified = (xml: string) => xml.replace(/(?<=<SoftwareCertificateNumber>)\d+/, '0');
  const unsigned = (xml: string, control: string) =>
    xml
      .replace(/(?<=<Hash>)[^<]*/g, '0')
      .replace(/(?<=<HashControl>)[^<]*/g, control)
      .replace(/(?<=<SourceBilling>)M/g, 'P');

  test('is right in the file of a program without certificate, with HashControl 0', async () => {
    const { told, hashes } = await check(uncertified(unsigned(await ours, '0')), onlyKey(1));
    expect(told).toEqual([]);
    expect(hashes).toEqual({ verified: 0, unverified: 0 });
    expect((await check(uncertified(unsigned(await ours, '1')))).counts).toEqual({ HASH_ZERO: all });
  });

  test('is wrong behind a signature even there', async () => {
    expect((await check(uncertified(zeroed(await ours, 'FT A2026/2', '0')))).told).toEqual(['HASH_ZERO FT A2026/2']);
  });
});

test('what is signed is the total as it stands in the file, and it has two decimals', async () => {
  const cut = (total: string) => total.replace(/0$/, '');
  const xml = signedAgain(await ours, () => 1, cut);
  const { counts, hashes } = await check(xml, onlyKey(1));
  expect(hashes.verified).toBe(all);
  expect(counts).toEqual({
    GROSS_TOTAL_FORM: xml.match(
      /<GrossTotal>\d+\.\d<\/GrossTotal>\n[\s\S]*?<\/(?:Invoice|StockMovement|WorkDocument)>/g,
    )!.length,
  });
});
