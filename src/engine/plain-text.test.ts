import { expect, test } from 'vitest';
import { wrongWith } from './plain-text.ts';

const codeOf = (text: string) => wrongWith(text)?.code;

test('text as people write it has nothing wrong with it, whatever its script', () => {
  for (const text of [
    '',
    'Avença de março – 12 €, “peça” nº 3…\n\t½',
    'Ação Ωμέγα Ж 漢字 😀 👩‍👩‍👧‍👦 𝔘 é',
    'Vie\u0323\u0302t Nam', // two marks on one letter
    'שָׁלוֹם',
    'السَّلَامُ عَلَيْكُمْ ﷺ',
    'नमस्ते กำ',
    'ﾊﾟｿｺﾝ ㌔ ㍿',
    '㌕'.repeat(20),
    'é'.repeat(2000),
    'בְּ'.repeat(600),
  ])
    expect([text, codeOf(text)]).toEqual([text, undefined]);
});

test('a character carries thirty marks, however they are written', () => {
  expect(codeOf(`a${'\u0301'.repeat(30)}b${'\u0591'.repeat(30)}`)).toBe(undefined);
  expect(codeOf(`é${'\u0301'.repeat(29)}`)).toBe(undefined);
  expect(wrongWith(`a${'\u0301'.repeat(31)}`)).toEqual({ code: 'OVERLOADED_TEXT', character: 'U+0301' });
  expect(codeOf(`é${'\u0301'.repeat(30)}`)).toBe('OVERLOADED_TEXT');
  expect(codeOf(`a${'\u0344'.repeat(16)}`)).toBe('OVERLOADED_TEXT');
  expect(codeOf(`${'\u{1e000}\u{1e130}'.repeat(16)}`)).toBe('OVERLOADED_TEXT');
  expect(codeOf(`ｶ${'\uff9e\u0334'.repeat(16)}`)).toBe('OVERLOADED_TEXT');
});

test('taken apart a text is four times as long, or a little more where it is short', () => {
  expect(codeOf('\ufdfa'.repeat(7))).toBe(undefined);
  expect(wrongWith(`ola ${'\ufdfa'.repeat(9)}`)).toEqual({ code: 'OVERLOADED_TEXT', character: 'U+FDFA' });
  expect(codeOf('\ufdfa'.repeat(200) + 'a'.repeat(900))).toBe(undefined);
  expect(codeOf('\ufdfa'.repeat(200) + 'a'.repeat(899))).toBe('OVERLOADED_TEXT');
});

test('what cannot be printed is told first, by its code', () => {
  expect(wrongWith(`${'\u0301'.repeat(40)}\u0001`)).toEqual({ code: 'INVALID_CHARACTER', character: 'U+0001' });
  expect(wrongWith('a\ud83d')).toEqual({ code: 'INVALID_CHARACTER', character: 'U+D83D' });
});

test('a text of which nothing is seen is none', () => {
  for (const text of ['\u200b', ' \u2060\ufeff ', '\u00ad\u00ad', '\u0085\u0080', '\u202e', '\ue000', '\u3164'])
    expect([text, codeOf(text)]).toEqual([text, 'INVALID_CHARACTER']);
  expect(wrongWith('\u00a0\u200b')).toEqual({ code: 'INVALID_CHARACTER', character: 'U+200B' });
  for (const text of ['', ' \u00a0\ufeff', 'a\u200b', '\u200b漢', 'co\u00adoperar', '\n\t'])
    expect([text, codeOf(text)]).toEqual([text, undefined]);
});

test('what is passed over as usual is neither a mark nor becomes much longer, and can be printed', () => {
  const looked: string[] = [];
  for (let code = 0; code <= 0xffff; code++) {
    const character = String.fromCharCode(code);
    // A mark behind it makes the text unusual, and a lone surrogate is wrong by itself: neither tells of the character.
    const many = character.repeat(40);
    if (codeOf(many) === undefined && /^[\p{M}\uff9e\uff9f]/u.test(character)) looked.push(character);
    if (code < 0x300 && codeOf(character) === undefined) {
      const apart = character.normalize('NFKD');
      expect([code, apart.length <= 4, /\p{M}\p{M}\p{M}/u.test(apart)]).toEqual([code, true, false]);
    }
  }
  expect(looked).toEqual([]);
});

test('a text of any length is looked at as far as a field has room', () => {
  expect(codeOf('\ufdfa'.repeat(300_000))).toBe('OVERLOADED_TEXT');
  expect(codeOf('漢'.repeat(300_000))).toBe(undefined);
});
