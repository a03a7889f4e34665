/** What print draws is what texts may hold. After a change of the fonts: UPDATE_GOLDEN=1 npx vitest run src/engine/printed-ranges.test.ts */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readFont, together } from '../print/font.ts';
import { printable, replacement } from '../print/glyphs.ts';
import { wrongWith, wrongWithKept } from './plain-text.ts';
import { printedRanges } from './printed-ranges.ts';

const { resolve } = createRequire(import.meta.url);
const noto = (weight: string) =>
  readFont(
    readFileSync(join(dirname(resolve('@expo-google-fonts/noto-sans/package.json')), weight, `NotoSans_${weight}.ttf`)),
  );
const [regular, semibold] = [noto('400Regular'), noto('600SemiBold')];
const second = readFont(
  readFileSync(join(dirname(resolve('@embedpdf/fonts-sc')), '../fonts/NotoSansHans-Regular.otf')),
);
const fonts = together(regular, second);
const paper = (text: string) => printable(text, fonts, Infinity);
const units = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));

/** As the table has them: of each range the gap from the end of the one before, and how many more follow its first. */
function rangesOfFonts(): string {
  let ranges = '';
  let end = 0;
  for (let code = 0; code < units.length; code += 1) {
    const from = code;
    while (code < units.length && isDrawn(units[code]!)) code += 1;
    if (code === from) continue;
    const more = code - 1 - from;
    ranges += ` ${(from - end).toString(36)}${more === 0 ? '' : `-${more.toString(36)}`}`;
    end = code - 1;
  }
  return ranges.trim();
}

/** Composed, it stands on the paper as it is. */
function isDrawn(character: string): boolean {
  const composed = character.normalize('NFC');
  return paper(character) === composed && (composed === replacement || !composed.includes(replacement));
}

test('the character for one that was lost is refused, although every font has it', () => {
  expect(wrongWithKept('Jo\ufffdo, Lda')).toEqual({ code: 'INVALID_CHARACTER', character: 'U+FFFD (\ufffd)' });
});

test('the table has what the bundled fonts draw, in both weights', () => {
  const ranges = rangesOfFonts();
  if (process.env['UPDATE_GOLDEN'] === '1') {
    const file = fileURLToPath(new URL('printed-ranges.ts', import.meta.url));
    const lines = ranges.replace(/(.{1,110})( |$)/g, '  $1\n');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/`[^`]*`/, () => `\`\n${lines}\``),
    );
  } else expect(printedRanges.trim().split(/\s+/)).toEqual(ranges.split(' '));
  expect(units.filter((one) => regular.covers(one.charCodeAt(0)) !== semibold.covers(one.charCodeAt(0)))).toEqual([]);
});

/** What print leaves out, and does no harm. */
const leftOut = /[\u00ad\u200b-\u200d\u2060-\u2064\ufeff]|\u034f|\p{Variation_Selector}/gu;

test('what is taken beside it leaves nothing on the paper, or begins a line', () => {
  const taken = units.filter((one) => wrongWithKept(`a${one}b`) === undefined && !isDrawn(one));
  const [blank, none] = [taken.filter((one) => paper(one) === ' '), taken.filter((one) => paper(one) === '')];
  expect(blank).toEqual([...'\t\n\r\u0085\u2028\u2029']);
  expect(none.join('').replace(leftOut, '')).toBe('');
  expect(taken.length).toBe(blank.length + none.length);
  expect(paper('葛\u{e0100}a\u{e01ef}')).toBe('葛a');
});

const unit = fc.oneof(
  fc.integer({ min: 0x20, max: 0xd7ff }),
  fc.integer({ min: 0xe000, max: 0x10ffff }),
  fc.integer({ min: 0x300, max: 0x370 }),
  fc.integer({ min: 0x4e00, max: 0x9fff }),
  fc.constantFrom(...[...'aeoÅçΩЖ漢かシक्ष≥\u0301\u0338\u3099\u200d\ufe0f'].map((one) => one.codePointAt(0)!)),
);

test('a text is taken exactly when all of it can be printed', () => {
  // What print leaves out for other reasons is refused as well: what is stored is what is read.
  const hidden = /(?!\u0085)[\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}]/u;
  fc.assert(
    fc.property(fc.array(unit, { minLength: 1, maxLength: 6 }), (codes) => {
      const text = `a${String.fromCodePoint(...codes)}`.replaceAll(replacement, '?');
      fc.pre(wrongWith(text) === undefined);
      const isPrinted = !hidden.test(text.replace(leftOut, '')) && !paper(text).includes(replacement);
      expect([text, wrongWithKept(text) === undefined]).toEqual([text, isPrinted]);
    }),
    { numRuns: 5_000 },
  );
});
