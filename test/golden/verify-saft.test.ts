// docs/verify-saft.sh: an auditor's check with openssl alone, held against our own and against forgeries.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { checkSaft } from '../../src/fiscal/saft/check/check-saft.ts';
import { writeSaft } from '../../src/fiscal/saft/write.ts';
import { everything, sourceOf, textOf } from './saft-samples.ts';

const script = fileURLToPath(new URL('../../docs/verify-saft.sh', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'verify-saft-'));
afterAll(() => rmSync(folder, { recursive: true }));

const { documents, publicKey } = await everything();
const books = await textOf(writeSaft(sourceOf(documents)));
const stranger = (await everything()).publicKey;
const keyFile = (name: string, key: typeof publicKey) => {
  const file = join(folder, name);
  writeFileSync(file, key.export({ type: 'spki', format: 'pem' }));
  return file;
};
const own = keyFile('own.pem', publicKey);
const other = keyFile('other.pem', stranger);

function verify(xml: string, ...keys: string[]) {
  const file = join(folder, 'saft.xml');
  writeFileSync(file, xml);
  const { status, stdout } = spawnSync('sh', [script, file, ...keys], { encoding: 'utf8' });
  const [sum, ...told] = stdout.trimEnd().split('\n').reverse();
  return { status, told: told.reverse(), sum };
}

async function* bytesOf(xml: string) {
  yield Buffer.from(xml);
}

const signed = (await checkSaft(bytesOf(books), { publicKeys: () => publicKey })).hashes.verified;
const changed = (from: string | RegExp, to: string) => {
  const xml = books.replace(from, to);
  expect(xml).not.toBe(books);
  return xml;
};
const leftOut = (number: string) => changed(new RegExp(`<Invoice>\\n<InvoiceNo>${number}<[\\s\\S]*?</Invoice>\\n`), '');
const wrong = (number: string) => `${number}: THE SIGNATURE DOES NOT HOLD`;

// The program needs Node alone; an auditor's machine has openssl.
describe.skipIf(spawnSync('openssl', ['version']).status !== 0)('with openssl alone', () => {
  test('every signature of the books holds, however they are laid out', () => {
    expect(signed).toBeGreaterThan(15);
    const whole = { status: 0, told: [], sum: `${signed} verified, 0 wrong, 0 not verified` };
    expect(verify(books, own)).toEqual(whole);
    expect(verify(books.replaceAll('\n', ''), own)).toEqual(whole);
    expect(verify(books.replaceAll('\n', '\r\n\t '), own)).toEqual(whole);
    expect(verify(books.replace(/<(\/?)(?=[A-Z])/g, '<$1s:').replace('xmlns=', 'xmlns:s='), own)).toEqual(whole);
  });

  test.each([
    ['a total', /(?<=FT A2026\/2<[\s\S]*?<GrossTotal>\d*)\d(?=\.)/, '0'],
    ['a day', /(?<=FT A2026\/2<[\s\S]*?<InvoiceDate>2026-03-)\d\d/, '01'],
    ['a time of entry', /(?<=FT A2026\/2<[\s\S]*?<SystemEntryDate>2026-03-..T)\d\d/, '23'],
  ])('%s changed is found in its document, and nowhere else', (_what, from, to) => {
    expect(verify(changed(from, to), own)).toEqual({
      status: 1,
      told: [wrong('FT A2026/2')],
      sum: `${signed - 1} verified, 1 wrong, 0 not verified`,
    });
  });

  test('a document left out, put twice or renamed is found', () => {
    const gap = 'FT A2026/3: OUT OF SEQUENCE, A NUMBER IS MISSING OR REPEATED';
    expect(verify(leftOut('FT A2026/2'), own)).toMatchObject({ status: 1, told: [gap] });
    const twice = changed(/(<Invoice>\n<InvoiceNo>FT A2026\/3<[\s\S]*?<\/Invoice>\n)/, '$1$1');
    expect(verify(twice, own)).toMatchObject({ status: 1, told: [gap] });
    const renamed = leftOut('FT A2026/2').replaceAll('FT A2026/3<', 'FT A2026/2<');
    expect(verify(renamed, own)).toMatchObject({ status: 1, told: expect.arrayContaining([wrong('FT A2026/2')]) });
  });

  test('what cannot be verified is told, and is no proof', () => {
    const first = verify(leftOut('FT A2026/1'), own);
    expect(first).toMatchObject({
      status: 0,
      told: ['FT A2026/2: not verified, the document before it is not in the file'],
    });
    const unknown = verify(changed(/(?<=FT A2026\/2<[\s\S]*?<HashControl>)1/, '2'), own);
    expect(unknown).toMatchObject({
      status: 0,
      told: ['FT A2026/2: not verified, signed with key 2, which was not given'],
    });
    const second = verify(changed(/(?<=FT A2026\/2<[\s\S]*?<HashControl>)1/, '2'), other, own);
    expect(second).toMatchObject({ status: 1, sum: `1 verified, ${signed - 1} wrong, 0 not verified` });
    expect(verify('', own)).toEqual({ status: 1, told: [], sum: '0 verified, 0 wrong, 0 not verified' });
  });

  test('no key, and a file that is not there, are told', () => {
    for (const args of [[], [own], [join(folder, 'none.xml'), own], [own, join(folder, 'none.pem')]]) {
      const { status, stderr } = spawnSync('sh', [script, ...args], { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('usage: sh verify-saft.sh') });
    }
  });
});
