/** Bodies that are no JSON, too much of it, or JSON that means mischief. None may be written, all are answered. */
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type Attack, ask, intruder } from './attacks.ts';

const mebibyte = 1024 * 1024;
const depth = 100_000;
const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8');
const item = (price: string): string => `{"name":"Intruso","type":"SERVICE","vatRate":"NORMAL","unitPrice":${price}}`;
const person = (more: string): string => `{"name":"Intruso","country":"PT",${more}}`;

/** Bodies of POST /items or /customers, each of which would be written but for one thing. */
const wrong: readonly (readonly [name: string, path: string, body: string | Buffer, answer: string])[] = [
  ['lists in lists', 'items', '['.repeat(depth) + ']'.repeat(depth), '400 MALFORMED_JSON'],
  ['lists that never end', 'items', '['.repeat(mebibyte - 1), '400 MALFORMED_JSON'],
  ['objects in objects', 'items', `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`, '400 MALFORMED_JSON'],
  ['a field in a hundred lists', 'items', item(`${'['.repeat(100)}1${']'.repeat(100)}`), '400 MALFORMED_JSON'],
  ['a field given twice', 'customers', person('"country":"PT"'), '400 INVALID_REQUEST'],
  ['a field given twice, once by escapes', 'customers', person('"c\\u006funtry":"PT"'), '400 INVALID_REQUEST'],
  ['many fields given twice', 'customers', `{${Array(100_000).fill('"a":1').join()}}`, '400 INVALID_REQUEST'],
  [
    'many unknown fields',
    'customers',
    `{${Array.from({ length: 80_000 }, (_, i) => `"f${i}":1`).join()}}`,
    '400 INVALID_REQUEST',
  ],
  ['__proto__', 'customers', person('"__proto__":{"isArchived":true}'), '400 INVALID_REQUEST'],
  ['__proto__ by escapes', 'customers', person('"\\u005f_proto__":1'), '400 INVALID_REQUEST'],
  ['constructor', 'customers', person('"constructor":{"prototype":{"x":1}}'), '400 INVALID_REQUEST'],
  ['prototype', 'customers', person('"prototype":{}'), '400 INVALID_REQUEST'],
  ['toString', 'customers', person('"toString":1,"hasOwnProperty":1'), '400 INVALID_REQUEST'],
  [
    '__proto__ in place of what is required',
    'customers',
    '{"__proto__":{"name":"Intruso","country":"PT"}}',
    '400 INVALID_REQUEST',
  ],
  ['1e400', 'items', item('1e400'), '400 INVALID_REQUEST'],
  ['-1e400', 'items', item('-1e400'), '400 INVALID_REQUEST'],
  ['1e-400', 'items', item('1e-400'), '400 INVALID_REQUEST'],
  ['a number that is not kept exactly', 'items', item('9007199254740993'), '400 INVALID_REQUEST'],
  ['a huge integer', 'items', item('9'.repeat(400)), '400 INVALID_REQUEST'],
  ['a number of a mebibyte', 'items', item('7'.repeat(mebibyte - 200)), '400 INVALID_REQUEST'],
  ['a number of zeros, with an end', 'items', item(`1${'0'.repeat(mebibyte - 200)}1`), '400 INVALID_REQUEST'],
  ['a fraction of zeros, with an end', 'items', item(`1.${'0'.repeat(mebibyte - 200)}1`), '400 INVALID_REQUEST'],
  ['many numbers', 'items', item(`[${Array(50_000).fill('12345678901234567').join()}]`), '400 INVALID_REQUEST'],
  ['NaN', 'items', item('NaN'), '400 MALFORMED_JSON'],
  ['Infinity', 'items', item('-Infinity'), '400 MALFORMED_JSON'],
  ['hexadecimal', 'items', item('0x10'), '400 MALFORMED_JSON'],
  ['octal', 'items', item('010'), '400 MALFORMED_JSON'],
  ['a number as text', 'items', item('"1"'), '400 INVALID_REQUEST'],
  ['minus nothing', 'items', item('-0.001'), '400 INVALID_REQUEST'],
  ['a lone surrogate by escapes', 'customers', person('"city":"\\ud800"'), '400 INVALID_REQUEST'],
  ['surrogates the wrong way round', 'customers', person('"city":"\\udc00\\ud800"'), '400 INVALID_REQUEST'],
  ['NUL by escapes', 'customers', person('"city":"a\\u0000b"'), '400 INVALID_REQUEST'],
  ['NUL', 'customers', person('"city":"a\u0000b"'), '400 MALFORMED_JSON'],
  ['a line break in a line', 'customers', person('"city":"a\\nb"'), '400 INVALID_REQUEST'],
  ['a text of a mebibyte', 'customers', person(`"notes":"${'é'.repeat(mebibyte / 2 - 100)}"`), '400 INVALID_REQUEST'],
  [
    'a byte order mark',
    'customers',
    Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), utf8(person('"system":1'))]),
    '400 INVALID_REQUEST',
  ],
  [
    'UTF-8 that is none',
    'customers',
    Buffer.concat([utf8('{"country":"PT","name":"'), Buffer.from([0xc3, 0x28]), utf8('"}')]),
    '400 MALFORMED_JSON',
  ],
  [
    'UTF-8 longer than it has to be',
    'customers',
    Buffer.concat([utf8('{"country":"PT","name":"a'), Buffer.from([0xc0, 0xaf]), utf8('"}')]),
    '400 MALFORMED_JSON',
  ],
  [
    'a surrogate in UTF-8',
    'customers',
    Buffer.concat([utf8('{"country":"PT","name":"'), Buffer.from([0xed, 0xa0, 0x80]), utf8('"}')]),
    '400 MALFORMED_JSON',
  ],
  ['UTF-16', 'customers', Buffer.from(`\ufeff${intruder}`, 'utf16le'), '400 MALFORMED_JSON'],
  ['Latin-1', 'customers', Buffer.from('{"country":"PT","name":"Jos\u00e9"}', 'latin1'), '400 MALFORMED_JSON'],
  ['two values', 'customers', `${intruder}${intruder}`, '400 MALFORMED_JSON'],
  ['a comment', 'customers', `/* x */${intruder}`, '400 MALFORMED_JSON'],
  ['a comma too many', 'customers', '{"name":"Intruso","country":"PT",}', '400 MALFORMED_JSON'],
  ['single quotes', 'customers', "{'name':'Intruso','country':'PT'}", '400 MALFORMED_JSON'],
  ['an end too early', 'customers', intruder.slice(0, -1), '400 MALFORMED_JSON'],
  ['nothing but spaces', 'customers', ' '.repeat(1000), '400 MALFORMED_JSON'],
  ['a list', 'customers', `[${intruder}]`, '400 INVALID_REQUEST'],
  ['null', 'customers', 'null', '400 INVALID_REQUEST'],
  ['a text', 'customers', JSON.stringify(intruder), '400 INVALID_REQUEST'],
  ['as much as may be', 'customers', `${' '.repeat(mebibyte - 2)}{}`, '400 INVALID_REQUEST'],
];

const types = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/json; charset=utf-16',
  'application/json; charset=latin1',
  'application/jsonp',
  'application/json, text/plain',
  'text/json',
  'application/problem+json',
  '*/*',
  'json',
  ';',
  '"',
  'application/json;charset',
  'application/json;;',
  'a'.repeat(8000),
  `application/json;${' '.repeat(8000)}x`,
];

export function bodyAttacks(key: string): Attack[] {
  const sent = (path: string, body: string | Buffer, headers: readonly string[]): Buffer => {
    const bytes = typeof body === 'string' ? utf8(body) : body;
    return Buffer.concat([utf8(ask(`POST /${path}`, [key, ...headers, `Content-Length: ${bytes.length}`])), bytes]);
  };
  const json = 'Content-Type: application/json';
  const bombs = {
    gzip: gzipSync(Buffer.alloc(64 * mebibyte, ' ')),
    br: brotliCompressSync(Buffer.alloc(64 * mebibyte, ' ')),
    'gzip, gzip': gzipSync(gzipSync(Buffer.alloc(64 * mebibyte, ' '))),
    deflate: utf8(intruder),
    identity: utf8(intruder),
  };
  const unsupported = [['415 UNSUPPORTED_MEDIA_TYPE']];
  const tooLarge = [['413 BODY_TOO_LARGE']];
  const long = `{"name":"${'x'.repeat(2 * mebibyte)}","country":"PT"}`;
  const pieces = `10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(40);
  return [
    ...wrong.map(
      ([name, path, body, answer]): Attack => ({
        name,
        bytes: sent(path, body, [json]),
        answers: [[answer]],
        connection: 'kept',
      }),
    ),
    ...types.map(
      (type): Attack => ({
        name: `the type ${type.slice(0, 40)}`,
        bytes: sent('customers', intruder, [`Content-Type: ${type}`]),
        answers: unsupported,
        connection: 'kept',
      }),
    ),
    { name: 'no type', bytes: sent('customers', intruder, []), answers: unsupported, connection: 'kept' },
    ...Object.entries(bombs).map(
      ([coding, body]): Attack => ({
        name: `a bomb in ${coding}`,
        bytes: sent('customers', body, [json, `Content-Encoding: ${coding}`]),
        answers: [['415 UNSUPPORTED_MEDIA_TYPE', '413 BODY_TOO_LARGE']],
        connection: 'either',
      }),
    ),
    { name: 'more than a mebibyte', bytes: sent('customers', long, [json]), answers: tooLarge, connection: 'either' },
    {
      name: 'more than a mebibyte in chunks',
      bytes: ask('POST /customers', [key, json, 'Transfer-Encoding: chunked'], `${pieces}0\r\n\r\n`),
      answers: tooLarge,
      connection: 'either',
    },
    {
      name: 'more than a mebibyte where there is nothing',
      bytes: sent('nothing', long, [json]),
      answers: [['404 ROUTE_NOT_FOUND', '413 BODY_TOO_LARGE']],
      connection: 'either',
    },
    {
      name: 'a length that nobody sends',
      bytes: ask('POST /customers', [key, json, 'Content-Length: 1000000000000']),
      answers: tooLarge,
      connection: 'closed',
    },
    {
      name: 'a length that nobody sends, asked before',
      bytes: ask('POST /customers', [key, json, 'Expect: 100-continue', 'Content-Length: 1000000000000']),
      answers: tooLarge,
      connection: 'closed',
    },
  ];
}
