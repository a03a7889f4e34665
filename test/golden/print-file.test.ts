/** Every printed file as an archive reads it: its objects, fonts, colours and structure; and all words, in reading order. */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { PrintInput } from '../../src/print/input.ts';
import { openPrint } from '../../src/print/print.ts';
import { checkedFile } from './print-file.ts';
import { openPdf, pagesOf, piecesOf } from './print-reading.ts';
import { line, sample, samples } from './print-samples.ts';

const print = openPrint({ workers: 0 });
afterAll(print.close);

const formats = ['A4', 'RECEIPT', 'RECEIPT_58'] as const;
const names = Object.keys(samples) as (keyof typeof samples)[];

test.each(names)('%s in each format is whole: references, fonts, colours, structure', async (name) => {
  for (const format of formats) {
    const heard = checkedFile(await print.render({ ...samples[name](), format }));
    expect(heard.filter(({ role }) => role === 'H1').length).toBe(1);
    expect(heard.filter(({ role }) => role === 'Figure').length).toBe(1);
  }
});

test('so is one in two fonts, one of many pages that is cancelled, and one of long notes', async () => {
  const han = sample({ lines: [line({ name: '张伟 ≥ 40 mm ✓', unitPrice: '1' })] });
  const notes = sample({ lines: [line({ name: 'a', unitPrice: '1' })], content: { notes: 'Nota\n'.repeat(150) } });
  for (const format of formats)
    for (const input of [han, notes, { ...samples.long(60), status: 'A' as const, environment: 'test' as const }])
      checkedFile(await print.render({ ...input, format }));
});

describe('logos', () => {
  const svg = (inside: string) =>
    new TextEncoder().encode(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20">${inside}</svg>`);
  const logos = {
    flat: svg('<path fill="#f00" d="M0 0h40v20z"/>'),
    gradient: svg(
      '<linearGradient id="a"><stop offset="0" stop-color="red"/><stop offset="1" stop-opacity="0"/></linearGradient><rect width="9" height="9" fill="url(#a)"/>',
    ),
    group: svg('<g opacity=".5"><circle r="5"/><circle r="4" cx="3" fill="red"/></g>'),
    clip: svg(
      '<clipPath id="a"><circle r="5"/><circle r="4" cx="9"/></clipPath><rect width="9" height="9" clip-path="url(#a)"/>',
    ),
  };

  test.each(Object.entries(logos))('%s', async (_name, logo) => {
    for (const format of formats) {
      const heard = checkedFile(await print.render({ ...samples.invoice(), format, style: { logo } }));
      expect(heard.filter(({ role }) => role === 'Figure').length).toBe(2);
    }
  });
});

describe('whatever a document says', () => {
  // Letters of several scripts, marks, signs that divide, what no font has; hyphens apart: Portuguese repeats them.
  const letter = fc.constantFrom(
    ...'aeiouãçLdA.,/()"€½%&<>\\01ЖΩ張ø\u{1f600}\u202e'.match(/./gsu)!,
    '\u00a0',
    'x\u0301',
    'e\u0301',
  );
  const word = fc.array(letter, { minLength: 1, maxLength: 40 }).map((all) => all.join(''));
  const text = fc.array(word, { minLength: 1, maxLength: 30 }).map((all) => all.join(' '));
  const lines = fc.array(text, { minLength: 1, maxLength: 4 }).map((all) => all.join('\n'));
  const optional = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
  const sold = fc.record({
    name: text,
    description: optional(lines),
    quantity: fc.integer({ min: 1, max: 99_999 }).map(String),
    unitPrice: fc.integer({ min: 1, max: 10 ** 9 }).map((cents) => (cents / 100).toFixed(2)),
  });
  const document = fc.record({
    lines: fc.array(sold, { minLength: 1, maxLength: 40 }),
    name: text,
    address: text,
    notes: optional(lines),
    description: optional(lines),
    footer: optional(lines),
    language: fc.constantFrom('pt' as const, 'en' as const),
    format: fc.constantFrom(...formats),
    status: fc.constantFrom('N' as const, 'A' as const),
  });

  test('it prints whole, nothing outside the page, every word in reading order', async () => {
    await fc.assert(
      fc.asyncProperty(document, async ({ lines, name, address, notes, description, footer, ...how }) => {
        const { customer } = samples.invoice().content;
        const input: PrintInput = {
          ...sample({
            lines: lines.map((one) => line(one)),
            content: { notes, description, customer: { ...customer, name, address } },
            style: { footer },
          }),
          ...how,
        };
        const pdf = await print.render(input);
        const heard = checkedFile(pdf);
        const all = squeezed(heard.map(({ text }) => text).join(' '));
        let at = 0;
        for (const said of [name, ...lines.map((one) => one.name)]) {
          const found = all.indexOf(squeezed(said), at);
          expect(found, `${squeezed(said)} in ${all.slice(at)}`).toBeGreaterThanOrEqual(0);
          at = found + squeezed(said).length;
        }
        for (const said of [address, notes ?? '', description ?? '', ...lines.map((one) => one.description ?? '')])
          for (const one of said.split('\n')) expect(all).toContain(squeezed(one));
        await checkPlaces(pdf);
      }),
      { numRuns: 25 },
    );
  });

  /** As it is printed: composed, what no font draws as U+FFFD, what nobody sees left out; without white and hyphens. */
  function squeezed(text: string): string {
    return (
      text
        .normalize('NFC')
        .replace(/\p{Cf}/gu, '')
        .replace(/\u{1f600}/gu, '\ufffd')
        .replace(/[\s\u00a0-]/g, '')
        // What came together when signs between were left out.
        .normalize('NFC')
    );
  }

  async function checkPlaces(pdf: Uint8Array): Promise<void> {
    const opened = await openPdf(pdf);
    for (const page of await pagesOf(opened)) {
      const [, , right, high] = page.view as [number, number, number, number];
      for (const { x, y, width, text } of await piecesOf(page)) {
        if (text === 'ANULADO') continue;
        expect(x, text).toBeGreaterThan(0);
        expect(x + width, text).toBeLessThan(right);
        expect(y, text).toBeGreaterThan(0);
        expect(y, text).toBeLessThan(high);
      }
    }
    await opened.destroy();
  }
});
