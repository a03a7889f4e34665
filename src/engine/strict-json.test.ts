import { Big } from 'big.js';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Refusal, sentence } from '../fiscal/refusal.ts';
import { escapePointer, parseStrictJson } from './strict-json.ts';

const parse = (text: string | Uint8Array): unknown =>
  parseStrictJson(typeof text === 'string' ? Buffer.from(text) : Buffer.from(text));

/** The refusal's code, or [code, pointer] of each problem; undefined when the text was accepted. */
function refusalOf(text: string | Uint8Array): unknown {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.problems.length === 0 ? error.code : error.problems.map(({ code, pointer }) => [code, pointer]);
  }
}

test('what JSON.stringify writes is read as it was, whatever white space is between', () => {
  const space = fc.constantFrom('', ' ', '\n', '\t', '\r\n  ');
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), space, (value, indent) => {
      expect(JSON.stringify(parse(JSON.stringify(value, null, indent)))).toBe(JSON.stringify(value));
    }),
  );
});

test('it accepts nothing that JSON.parse refuses, and changes nothing that it accepts', () => {
  const broken = fc
    .tuple(
      fc.jsonValue({ maxDepth: 4 }),
      fc.nat(),
      fc.constantFrom('', '"', '\\', '{', '}', ']', ',', ':', '1', 'e', '\u0001', '\ufeff'),
    )
    .map(([value, at, piece]) => {
      const text = JSON.stringify(value);
      const place = at % (text.length + 1);
      return text.slice(0, place) + piece + text.slice(place + (at % 3 === 0 ? 1 : 0));
    });
  fc.assert(
    fc.property(broken, (text) => {
      if (text === '') return;
      let expected: unknown;
      try {
        // A byte order mark at the start is taken off (RFC 8259, section 8.1).
        expected = JSON.parse(text.replace(/^\ufeff/, ''));
      } catch {
        expect(refusalOf(text)).toBe('MALFORMED_JSON');
        return;
      }
      if (refusalOf(text) === undefined) expect(JSON.stringify(parse(text))).toBe(JSON.stringify(expected));
    }),
    { numRuns: 2000 },
  );
});

test('no body is an empty object', () => {
  expect(parse('')).toEqual({});
});

test.each([
  ['{"a":1,"a":2}', ['/a']],
  ['{"a":1,"\\u0061":2}', ['/a']],
  ['{"a":{"b":1,"b":1,"b":1}}', ['/a/b', '/a/b']],
  ['[{"x":1},{"x":1,"x":2}]', ['/1/x']],
  ['{"items":[{},{"id":1,"quantity":{"q":[1,{"z":1,"z":1}]},"id":2}]}', ['/items/1/quantity/q/1/z', '/items/1/id']],
  ['{"a/b~c":1,"a/b~c":2}', ['/a~1b~0c']],
  ['{"":1,"":2}', ['/']],
  ['{"__proto__":1,"__proto__":2}', ['/__proto__']],
  ['{"a":",\\"a\\":","a":2}', ['/a']],
  ['{"{":[],"{":[]}', ['/{']],
])('a member given twice is named: %s', (text, pointers) => {
  expect(refusalOf(text)).toEqual(pointers.map((pointer) => ['DUPLICATE_FIELD', pointer]));
});

test.each([0, 7, 8, 9, 19])('also among many: number %i of twenty', (twice) => {
  const names = Array.from({ length: 20 }, (_, i) => `a${i}`);
  const text = `{${[...names, names[twice]].map((name) => `"${name}":1`).join()}}`;
  expect(refusalOf(text)).toEqual([['DUPLICATE_FIELD', `/a${twice}`]]);
});

test('a mark of the byte order in front is none of the value (RFC 8259, section 8.1)', () => {
  expect(parse('\ufeff{"a":1}')).toEqual({ a: 1 });
});

test.each([
  '{"a":{"a":{"a":1}},"b":{"a":1}}',
  '[{"a":1},{"a":1}]',
  '{"a":"a","b":["a","a"]}',
  '{"a":"\\\\","b":"\\""}',
])('the same name in other objects is no duplicate: %s', (text) => {
  expect(parse(text)).toEqual(JSON.parse(text));
});

test('__proto__ is a member like any other and changes no prototype', () => {
  const value = parse('{"__proto__":{"admin":true}}') as Record<string, unknown>;
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect(value['admin']).toBeUndefined();
});

test.each([
  ['1e400', false],
  ['-1e400', false],
  ['1e-400', false],
  ['9007199254740993', false],
  ['0.1000000000000000055511151231257827', false],
  ['100000000000000000000000', true],
  ['123456789012345678', false],
  ['0.1', true],
  ['1.50e3', true],
  ['1E+2', true],
  ['-0', true],
  ['0e999', true],
  ['0.000000000000000000000', true],
  ['1.0000000000000000000000', true],
  ['5e-324', true],
  ['1.7976931348623157e308', true],
])('the number %s can be kept exactly: %s', (literal, exact) => {
  expect(refusalOf(`{"n":[0,${literal}]}`)).toEqual(exact ? undefined : [['NUMBER_NOT_EXACT', '/n/1']]);
});

test('a number is accepted exactly when the nearest double says the same decimal', () => {
  const literal = fc
    .tuple(
      fc.boolean(),
      fc.bigInt({ min: 0n, max: 10n ** 22n }),
      fc.stringMatching(/^\d{0,22}$/),
      fc.integer({ min: -30, max: 30 }),
    )
    .map(([minus, whole, fraction, exponent]) => {
      const point = fraction === '' ? '' : `.${fraction}`;
      return `${minus ? '-' : ''}${whole}${point}${exponent === 0 ? '' : `e${exponent}`}`;
    });
  fc.assert(
    fc.property(literal, (text) => {
      const same = new Big(text).eq(new Big(String(Number(text))));
      expect([text, refusalOf(text)]).toEqual([text, same ? undefined : [['NUMBER_NOT_EXACT', '']]]);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['a lone start byte', [0x22, 0xc3, 0x22]],
  ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
  ['a surrogate in UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ['UTF-16', [0x7b, 0x00, 0x7d, 0x00]],
])('%s is not UTF-8: refused', (_what, bytes) => {
  expect(refusalOf(Uint8Array.from(bytes))).toBe('MALFORMED_JSON');
});

test('32 levels are read, 33 are refused, and a megabyte of brackets does not hurt', () => {
  expect(refusalOf('['.repeat(32) + ']'.repeat(32))).toBeUndefined();
  expect(refusalOf('['.repeat(33) + ']'.repeat(33))).toBe('MALFORMED_JSON');
  expect(refusalOf(`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`)).toBe('MALFORMED_JSON');
  const half = 512 * 1024;
  expect(refusalOf('['.repeat(half) + ']'.repeat(half))).toBe('MALFORMED_JSON');
  expect(refusalOf('['.repeat(2 * half))).toBe('MALFORMED_JSON');
  expect(refusalOf(`"${'\\"'.repeat(half)}"`)).toBeUndefined();
  expect(refusalOf('1'.repeat(2 * half))).toEqual([['NUMBER_NOT_EXACT', '']]);
});

test('a megabyte of zeros in a number is read once, not once for each of them', () => {
  const zeros = '0'.repeat(1024 * 1024);
  expect(refusalOf(`1${zeros}1`)).toEqual([['NUMBER_NOT_EXACT', '']]);
  expect(refusalOf(`1.${zeros}1`)).toEqual([['NUMBER_NOT_EXACT', '']]);
  expect(refusalOf(`1.${zeros}`)).toBeUndefined();
});

test('of what is wrong as many are told as an answer holds', () => {
  expect(refusalOf(`[${Array(1000).fill('1e400').join()}]`)).toHaveLength(50);
  expect(refusalOf(`{${Array(1000).fill('"a":1').join()}}`)).toHaveLength(50);
  expect(() => parse(`[${Array(50).fill('1e400').join()}]`)).toThrow(
    expect.objectContaining({ facts: { count: 50 } }) as Refusal,
  );
  expect(() => parse(`[${Array(51).fill('1e400').join()}]`)).toThrow(
    expect.objectContaining({ facts: { count: '50+' } }) as Refusal,
  );
});

test('a place is told as far as anybody reads it, however long its names are', () => {
  const name = 'x'.repeat(10_000);
  const places = refusalOf(`{"${name}":[${Array(1000).fill('1e400').join()}]}`) as [string, string][];
  expect(places[49]).toEqual(['NUMBER_NOT_EXACT', `/${'x'.repeat(200)}…/49`]);
});

test('the sentence tells where, and never quotes the body', () => {
  try {
    parse('{"password":"geheim",}');
    expect.unreachable();
  } catch (error) {
    const { facts } = error as Refusal;
    expect(JSON.stringify(facts)).not.toContain('geheim');
    expect(sentence('MALFORMED_JSON', 'en', facts)).toMatch(/: unexpected text at position 21\./);
    expect(sentence('MALFORMED_JSON', 'pt', facts)).toMatch(/: texto inesperado na posição 21\./);
  }
});

test.each([
  ['[', /: termina cedo demais ou tem um carácter a mais\./],
  [Uint8Array.from([0x22, 0xc3, 0x22]), /: não está em UTF-8\./],
  ['['.repeat(33) + ']'.repeat(33), /: tem mais de 32 níveis encaixados\./],
])('in Portuguese what is wrong is told in Portuguese, too: %j', (text, words) => {
  try {
    parse(text);
    expect.unreachable();
  } catch (error) {
    expect(sentence('MALFORMED_JSON', 'pt', (error as Refusal).facts)).toMatch(words);
  }
});

test('pointers escape ~ and / so that they can be read back (RFC 6901)', () => {
  fc.assert(
    fc.property(fc.string(), (name) => {
      const escaped = escapePointer(name);
      expect(escaped).not.toContain('/');
      expect(escaped.replaceAll('~1', '/').replaceAll('~0', '~')).toBe(name);
    }),
  );
});

test('more members and elements than are taken are refused before anything else is done with them', () => {
  const many = (text: string, most: number): unknown => {
    try {
      return parseStrictJson(Buffer.from(text), most);
    } catch (error) {
      return (error as Refusal).problems.map(({ code, pointer, facts }) => [code, pointer, facts]);
    }
  };
  expect(many('[1,2,[{"a":3}]]', 5)).toEqual([1, 2, [{ a: 3 }]]);
  const refused = [['TOO_MANY', '', { limit: 3 }]];
  expect(many('[[[[]]]]', 3)).toEqual(refused);
  expect(many('[1,2,3,4,5]', 3)).toEqual(refused);
  expect(many('{"a":[1,2],"b":[1,2],"c":{"d":1,"e":2}}', 3)).toEqual(refused);
  // However much else is wrong with it.
  expect(many(`{${Array(200).fill('"a":1').join()},"z":[[[]]]}`, 201)).toEqual([['TOO_MANY', '', { limit: 201 }]]);
  expect(refusalOf(`{${Array(200).fill('"a":1').join()},"z":${'['.repeat(40)}`)).toBe('MALFORMED_JSON');
  // Also where it is no JSON.
  expect(many('{,,,,,', 3)).toEqual(refused);
  expect(many('"a,b,c,d,e,f"', 3)).toBe('a,b,c,d,e,f');
});

test('a text ends at its quote, however many escapes stand before it', () => {
  const texts = fc.array(fc.constantFrom('\\', '"', 'a', ','), { maxLength: 12 }).map((letters) => letters.join(''));
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1 }), (all) => {
      expect(parse(JSON.stringify(all))).toEqual(all);
      expect(refusalOf(JSON.stringify({ a: all, b: all }).replace('"b"', '"a"'))).toEqual([['DUPLICATE_FIELD', '/a']]);
    }),
  );
});

test('a name that is no JSON ends the search for problems', () => {
  const parsed = vi.spyOn(JSON, 'parse');
  expect(refusalOf(`{${Array(1_000).fill('"\\x":0').join()}}`)).toBe('MALFORMED_JSON');
  // The name, and the whole.
  expect(parsed).toHaveBeenCalledTimes(2);
});
