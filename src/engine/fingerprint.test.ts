import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from '../fiscal/canonical.ts';
import { fingerprint } from './fingerprint.ts';

/** The same value with the members of every object in another order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, turned(member)]),
  );
}

test('the sorting example of RFC 8785, section 3.2.3', () => {
  const value = JSON.parse(
    '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control","\\u00f6":"Latin Small Letter O With Diaeresis"}',
  );
  expect([...canonicalJson(value).matchAll(/:"([^"]+)"/g)].map(([, text]) => text)).toEqual([
    'Carriage Return',
    'One',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ]);
});

test('the example of RFC 8785, section 3.2.2', () => {
  const text = `{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
    "string":"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}`;
  expect(canonicalJson(JSON.parse(text))).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

test('order of members does not matter, order of entries does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonicalJson(turned(value))).toBe(canonicalJson(value));
    }),
  );
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});

test('it says the same value, and different values differ', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      // −0 is 0 in JSON.
      expect(JSON.parse(canonicalJson(one))).toEqual(JSON.parse(JSON.stringify(one)));
      const same = JSON.stringify(JSON.parse(canonicalJson(one))) === JSON.stringify(JSON.parse(canonicalJson(other)));
      expect(canonicalJson(one) === canonicalJson(other)).toBe(same);
    }),
  );
});

test.each([
  ['1', '1.0'],
  ['-0', '0'],
  ['1e2', '100'],
  ['"\\u0061"', '"a"'],
  ['{"a":1,"b":2}', ' { "b" : 2.0 , "a" : 1 } '],
])('%s and %s are one request', (one, other) => {
  expect(canonicalJson(JSON.parse(one))).toBe(canonicalJson(JSON.parse(other)));
});

test.each([
  ['{"a":null}', '{}'],
  ['{"a":""}', '{"a":null}'],
  ['1', '"1"'],
  ['[]', '{}'],
  ['{"a":{"b":1}}', '{"a.b":1}'],
  ['{"__proto__":1}', '{}'],
])('%s and %s are two', (one, other) => {
  expect(canonicalJson(JSON.parse(one))).not.toBe(canonicalJson(JSON.parse(other)));
});

test('every part of a request is part of its fingerprint', () => {
  const request = { method: 'POST', path: '/x/:id', params: { id: 'a' }, query: { q: '1' }, body: { b: 1 } };
  const others = [
    request,
    { ...request, method: 'PATCH' },
    { ...request, path: '/y/:id' },
    { ...request, params: { id: 'b' } },
    { ...request, query: {} },
    { ...request, body: {} },
    { ...request, query: { b: 1 }, body: { q: '1' } },
  ].map((one) => fingerprint(one).toString('hex'));
  expect(new Set(others).size).toBe(others.length);
  expect(others[0]).toBe(fingerprint(structuredClone(request)).toString('hex'));
  expect(others[0]).toMatch(/^[0-9a-f]{64}$/);
});

test('a fingerprint is the SHA-256 of the canonical JSON of all that it is of: those in the books stay true', () => {
  const request = { method: 'POST', path: '/a/:id', params: { id: '1' }, query: {}, body: { b: [1, 'é'], a: null } };
  const { method, path, params, query } = request;
  for (const body of [request.body, {}, null, 'text', [true]]) {
    const text = canonicalJson({ method, path, params, query, body });
    expect(fingerprint({ ...request, body })).toEqual(createHash('sha256').update(text).digest());
  }
});
