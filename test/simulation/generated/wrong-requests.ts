/** Requests that are wrong: in one place by the description, or in any way there is. */
import type { Chance } from '../chance.ts';
import { breaksOf } from './breaks.ts';
import type { Schema } from './description.ts';
import type { Draft } from './requests.ts';

export interface Wrong {
  readonly made: Draft;
  /** What is wrong. */
  readonly what: string;
}

/** One word of the description is not kept. */
export function brokenOnce(made: Draft, chance: Chance): Wrong {
  const { operation, query, body } = made;
  const ways: (() => Wrong)[] = [() => ({ made: { ...made, query: { ...query, nonsense: 'x' } }, what: '?nonsense' })];
  const parameters = Object.entries(operation.query.properties ?? {});
  if (parameters.length > 0) ways.push(() => brokenQuery(made, chance.one(parameters), chance));
  if (operation.body !== undefined) {
    const inBody = (): Wrong => {
      const { what, value } = chance.one(breaksOf(operation.body!, body));
      return { made: { ...made, body: value }, what };
    };
    ways.push(inBody, inBody, inBody, inBody);
  }
  if (operation.id?.format === 'uuid')
    ways.push(() => ({
      made: { ...made, id: chance.one(['x', '1', 'null', made.id.slice(1), `${made.id}0`]) },
      what: 'the id in the path',
    }));
  return chance.one(ways)();
}

/** In a query everything is text: what is no other type's is wrong. */
function brokenQuery(made: Draft, [name, schema]: [string, Schema], chance: Chance): Wrong {
  const wrong: unknown[] = [['1', '1']];
  if (schema.type === 'integer') wrong.push('1.5', 'x', '', '-1', '1e300', '0x1');
  if (schema.type === 'number') wrong.push('x', '-1', 'Infinity', '1e300');
  if (schema.type === 'boolean') wrong.push('yes', 'TRUE', '2');
  if (schema.enum !== undefined) wrong.push('', `${schema.enum[0]}X`, schema.enum[0]!.toLowerCase());
  if (schema.format !== undefined) wrong.push('x', '');
  if (schema.maxLength !== undefined) wrong.push('x'.repeat(schema.maxLength + 1));
  if (schema.type === 'string' && schema.enum === undefined) wrong.push('\u0000', '\u001f');
  const usable = wrong.filter((value) => !(schema.enum ?? []).includes(value as string));
  const value = chance.one(usable);
  return { made: { ...made, query: { ...made.query, [name]: value } }, what: `?${name}=${JSON.stringify(value)}` };
}

const junk: readonly unknown[] = [
  null,
  '',
  0,
  -0,
  1e308,
  -1,
  [],
  {},
  [[[]]],
  '\u0000',
  '\ud800',
  'true',
  "' or 1=1 --",
  '%',
  '$1',
  '../../etc/passwd',
  '\u202e',
  '\ufeff',
  '\u{1f468}\u200d\u{1f469}',
  'x'.repeat(70_000),
  9007199254740991,
  0.1,
  { $gt: '' },
  { toString: 1 },
  Array(1001).fill(1),
];
const texts = [
  '{',
  '[]',
  'null',
  '"x"',
  '\u0000',
  '{"a":1,"a":2}',
  '{"unitPrice":1e400}',
  '{"__proto__":{"x":1}}',
  `${'['.repeat(500)}`,
  '{"quantity":12345678901234567890}',
  'a=b&c=d',
  '<xml/>',
  '\ufeff{}',
  '{"name":"\\ud800"}',
  ' '.repeat(2000),
  '{"id":01}',
];
const queries = [
  '&&&',
  '=',
  'limit',
  'limit=',
  'limit=1&limit=2',
  'offset=-1',
  'sort=createdAt:DESC',
  'sort[]=x',
  '__proto__=1',
  'a[b][c]=d',
  'x=%2500',
  'search=%E2%80%AE',
  'limit=%D9%A1',
  'fromDate=0000-00-00',
  `search=${'y'.repeat(3000)}`,
  `x=${'y'.repeat(8500)}`,
  'search=%ff',
  '%',
  'search=a+b',
  ';limit=1',
];
const heads: readonly Readonly<Record<string, string | string[]>>[] = [
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-encoding': 'gzip' },
  { 'idempotency-key': 'with space' },
  { 'idempotency-key': 'x'.repeat(129) },
  { 'idempotency-key': '' },
  { 'accept-language': `${'pt;q=0.1,'.repeat(500)}x` },
  { accept: 'text/html' },
  { 'x-request-id': 'ç'.repeat(20) },
  { 'x-request-id': 'a b' },
  { 'x-api-key': 'svc_sk_nonsense' },
  { 'x-api-key': '' },
  { authorization: 'Bearer x' },
  { 'x-http-method-override': 'DELETE' },
  { 'x-company-id': 'other' },
  { 'x-forwarded-for': '127.0.0.1' },
  { cookie: 'a=b' },
  { 'if-match': '*' },
  { range: 'bytes=0-1' },
  { origin: 'https://evil.test' },
  { expect: '100-continue' },
  { 'x-junk': 'y'.repeat(17_000) },
];

export function hostile(made: Draft, chance: Chance): Wrong {
  const { operation } = made;
  const ways: [string, () => Draft][] = [
    ['a header', () => ({ ...made, headers: { ...made.headers, ...chance.one(heads) } })],
    ['the query', () => ({ ...made, more: chance.one(queries) })],
    [
      'another method',
      () => ({
        ...made,
        method: chance.one(
          ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE'].filter((method) => method !== operation.method),
        ),
      }),
    ],
    ['the body as text', () => ({ ...made, body: chance.one(texts) })],
    ['the body as junk', () => ({ ...made, body: JSON.stringify(chance.one(junk)) })],
    ['an id that is none', () => ({ ...made, id: chance.one(['x', '.', '%', 'null', '0', 'é', ' ']) })],
    ['an id of another kind', () => ({ ...made, id: made.id.replace(/.$/, '0') })],
  ];
  const fields = made.body !== null && typeof made.body === 'object' ? Object.keys(made.body) : [];
  if (fields.length > 0)
    ways.push([
      'junk in a field',
      () => ({ ...made, body: { ...(made.body as object), [chance.one(fields)]: chance.one(junk) } }),
    ]);
  const [what, make] = chance.one(ways);
  return { made: make(), what };
}
