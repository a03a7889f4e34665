/**
 * Values between PostgreSQL's text format and JavaScript. What has to stay exact stays text: numeric, date, timestamp
 * without zone, interval and everything not listed here. timestamptz becomes Date (columns are timestamptz(3), a Date
 * has milliseconds), int8 a number while it is a safe integer and an error beyond, json is parsed, bytea is a Buffer.
 */

import { Elements } from './statement.ts';

type Parse = (text: string) => unknown;

/** The largest text a timestamptz has with offset in our sessions: "2026-03-01 12:00:00.123+00". */
const timestamp = /^(\d{4})-(\d\d)-(\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,6})?)([+-]\d\d)(?::?(\d\d))?$/;

function parseTimestamp(text: string): Date {
  const found = timestamp.exec(text);
  // Years beyond 9999, "BC" and "infinity" have no place in our tables; a silent Invalid Date would.
  if (found === null) throw new Error(`not a timestamp that fits: ${text}`);
  const [, year, month, day, time, hours, minutes] = found;
  return new Date(`${year}-${month}-${day}T${time}${hours}:${minutes ?? '00'}`);
}

function parseInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`integer too large for a number: ${text}`);
  return value;
}

function parseBytes(text: string): Buffer {
  if (!text.startsWith('\\x')) throw new Error('bytea_output is not hex');
  return Buffer.from(text.slice(2), 'hex');
}

const asText: Parse = (text) => text;
const scalar = {
  boolean: (text: string) => text === 't',
  bytes: parseBytes,
  integer: parseInteger,
  float: Number,
  json: JSON.parse as Parse,
  timestamp: parseTimestamp,
} satisfies Record<string, Parse>;

// Object identifiers are fixed in src/include/catalog/pg_type.dat: type, array of type, parser.
const kinds: readonly (readonly [number, number, Parse])[] = [
  [16, 1000, scalar.boolean],
  [17, 1001, scalar.bytes],
  [20, 1016, scalar.integer],
  [21, 1005, scalar.integer],
  [23, 1007, scalar.integer],
  [26, 1028, scalar.integer],
  [25, 1009, asText],
  [1043, 1015, asText],
  [19, 1003, asText],
  [700, 1021, scalar.float],
  [701, 1022, scalar.float],
  [1700, 1231, asText],
  [1082, 1182, asText],
  [1114, 1115, asText],
  [1184, 1185, scalar.timestamp],
  [114, 199, scalar.json],
  [3802, 3807, scalar.json],
  [2950, 2951, asText],
];

const parsers = new Map<number, Parse>(
  kinds.flatMap(([type, array, parse]) => [
    [type, parse],
    [array, (text: string) => parseArray(text, parse)],
  ]),
);

/** The parser of a type by its object identifier; text stays text for what is not known. */
export function parserOf(type: number): Parse {
  return parsers.get(type) ?? asText;
}

/** Parses an array literal, e.g. {a,"b \"c\"",NULL,{d}}. */
export function parseArray(text: string, parse: Parse): unknown[] {
  // Arrays with other lower bounds than 1 begin with "[0:1]=".
  let at = text.startsWith('[') ? text.indexOf('=') + 1 : 0;

  function list(): unknown[] {
    const items: unknown[] = [];
    at += 1;
    while (text[at] !== '}') {
      if (at >= text.length) throw new Error('an array literal ends early');
      if (text[at] === ',') at += 1;
      items.push(text[at] === '{' ? list() : text[at] === '"' ? parse(quoted()) : bare());
    }
    at += 1;
    return items;
  }
  function quoted(): string {
    let value = '';
    for (at += 1; text[at] !== '"'; at += 1) {
      if (text[at] === '\\') at += 1;
      if (at >= text.length) throw new Error('an array literal ends early');
      value += text[at];
    }
    at += 1;
    return value;
  }
  function bare(): unknown {
    const from = at;
    while (at < text.length && text[at] !== ',' && text[at] !== '}') at += 1;
    const value = text.slice(from, at);
    return value === 'NULL' ? null : parse(value);
  }
  return list();
}

/**
 * A parameter as PostgreSQL reads it: null and undefined are NULL, Date is its ISO text, bytes go as bytes, an array is an
 * array literal, any other object is JSON. For a jsonb parameter that is an array, pass JSON.stringify(array).
 * Throws on what has no value there (NaN, Infinity, an invalid Date, a function).
 */
export function encode(value: unknown): string | Buffer | null {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return null;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) return arrayLiteral(value);
  if (value instanceof Date) return value.toISOString();
  switch (typeof value) {
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`not a value for the database: ${value}`);
      return String(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'object':
      return JSON.stringify(value);
    default:
      throw new TypeError(`not a value for the database: ${typeof value}`);
  }
}

/** The parameters of a statement, in their order. */
export function encodeAll(values: readonly unknown[]): (string | Buffer | null)[] {
  const encoded: (string | Buffer | null)[] = [];
  for (const value of values) {
    if (value instanceof Elements) for (const parameter of value.parameters()) encoded.push(encode(parameter));
    else encoded.push(encode(value));
  }
  return encoded;
}

function arrayLiteral(values: readonly unknown[]): string {
  return `{${values.map(arrayItem).join(',')}}`;
}

function arrayItem(value: unknown): string {
  if (Array.isArray(value)) return arrayLiteral(value);
  const item = encode(value);
  if (item === null) return 'NULL';
  const text = typeof item === 'string' ? item : `\\x${item.toString('hex')}`;
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}
