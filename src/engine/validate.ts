/**
 * Step 9 of the corridor: the schema. Bodies are strict and never coerced; query and path values arrive as text and
 * are. Every problem is named at once, with its place.
 */

import type { ErrorObject, SchemaValidateFunction, ValidateFunction } from 'ajv';
import { Ajv } from 'ajv';
import type { TSchema } from 'typebox';
import { decimalsOf } from '../fiscal/decimal.ts';
import { isCountry, isCurrency, isUuid } from '../fiscal/identifiers.ts';
import { type Facts, most_problems, type Problem, type RefusalCode } from '../fiscal/refusal.ts';
import { isDayOrInstant, isInstant } from '../fiscal/time.ts';
import { type Wrong, wrongWith, wrongWithKept } from './plain-text.ts';
import { escapePointer } from './strict-json.ts';

/** Found, not told: with one more than are told it is known that there are more. */
const most_found = most_problems + 1;

const formats: Record<string, (text: string) => boolean> = {
  uuid: isUuid,
  line: (text) => !/[\n\r\t\u0085\u2028\u2029]/.test(text),
  day: isDayOrInstant,
  instant: isInstant,
  country: isCountry,
  currency: isCurrency,
};
const formWords: Record<string, string> = {
  day: 'YYYY-MM-DD / 2026-11-21T10:00:00Z',
  instant: '2026-11-21T10:00:00.000Z',
  country: 'ISO 3166-1 alpha-2 (PT)',
  currency: 'ISO 4217 (EUR)',
};

const ajv = new Ajv({ allErrors: true, strict: true, useDefaults: true, ownProperties: true });
/** Says its limit itself: the error of a keyword of one's own has no parameters. */
const checkDecimals: SchemaValidateFunction = (limit: number, value: number) => {
  if (decimalsOf(value) <= limit) return true;
  checkDecimals.errors = [{ keyword: 'decimals', params: { limit } }];
  return false;
};
ajv.addKeyword({ keyword: 'decimals', type: 'number', schemaType: 'number', validate: checkDecimals });
const lower: SchemaValidateFunction = (_: true, text: string, _schema, place) => {
  if (place !== undefined) place.parentData[place.parentDataProperty] = text.toLowerCase();
  return true;
};
/** Of a text that is long enough, blanks around it do not count; one that is too short `minLength` refuses. */
const checkFilled: SchemaValidateFunction = (limit: number, text: string) => {
  if (text.length < limit || text.trim().length >= limit) return true;
  checkFilled.errors = [{ keyword: 'filled', params: { limit } }];
  return false;
};
ajv.addKeyword({ keyword: 'filled', type: 'string', schemaType: 'number', validate: checkFilled });
ajv.addKeyword({ keyword: 'lowered', type: 'string', schemaType: 'boolean', modifying: true, validate: lower });
for (const [name, validate] of Object.entries(formats)) ajv.addFormat(name, { type: 'string', validate });
// Compiled on first use: compiling all of them at start would cost the cold start what most runs never need.
const compiled = new WeakMap<TSchema, ValidateFunction>();

/** `file`: a body in the file of `certo recover`, which says what was printed already, in whatever characters. */
export type Place = 'body' | 'file' | 'query' | 'path';
const isBody = (place: Place): boolean => place === 'body' || place === 'file';

/**
 * Validates `value` (in place: defaults, ids in small letters, query and path values read as their type) and returns what is
 * wrong: all of it, or one problem more than are told. A body is `bounded` before.
 */
export function validate(schema: TSchema | undefined, value: unknown, place: Place): Problem[] {
  if (schema === undefined) return unknownMembers(value, place);
  let check = compiled.get(schema);
  if (check === undefined) {
    check = ajv.compile(schema);
    compiled.set(schema, check);
  }
  if (!isBody(place)) readText(schema, value as Record<string, unknown>);
  const fits = check(value);
  // Filters are kept nowhere, and may look for what was kept before.
  const judge = place === 'body' ? wrongWithKept : wrongWith;
  if (fits && isPlain(value, judge)) return [];
  const problems = fits ? [] : (check.errors ?? []).slice(0, most_found).map((error) => problemOf(error, place));
  findWrong(value, [], judge, (path, { code, character }) => {
    problems.push({ code, pointer: pointerOf(path, place), facts: { character } });
    return problems.length < most_found;
  });
  return problems.slice(0, most_found);
}

/** Decimal digits: not "0x10", " 7", "1e3" or "Infinity", which JavaScript takes for numbers. */
const plainNumber = /^-?\d{1,20}(?:\.\d{1,20})?$/;

/** Query and path values that are written as their type asks become of that type; others stay text, and are refused. */
function readText(schema: TSchema, values: Record<string, unknown>): void {
  const members = (schema as { properties?: Readonly<Record<string, { type?: string }>> }).properties ?? {};
  for (const name of Object.keys(values)) {
    const value = values[name];
    const type = Object.hasOwn(members, name) ? members[name]!.type : undefined;
    if (typeof value !== 'string') continue;
    if ((type === 'integer' || type === 'number') && plainNumber.test(value)) values[name] = Number(value);
    else if (type === 'boolean' && (value === 'true' || value === 'false')) values[name] = value === 'true';
  }
}

/** An operation without a schema for this place takes nothing there. */
function unknownMembers(value: unknown, place: Place): Problem[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return value === undefined
      ? []
      : [{ code: 'INVALID_TYPE', pointer: pointerOf('', place), facts: { expected: 'object' } }];
  }
  const names = Object.keys(value);
  if (names.length === 0) return [];
  return names.slice(0, most_found).map((name) => ({
    code: isBody(place) ? ('UNKNOWN_FIELD' as const) : ('UNKNOWN_PARAMETER' as const),
    pointer: pointerOf(`/${escapePointer(name)}`, place),
  }));
}

/** Body, file: an RFC 6901 pointer. Query: "?name". Path: ":name". */
function pointerOf(path: string, place: Place): string {
  if (isBody(place)) return path;
  return (place === 'query' ? '?' : ':') + path.slice(1);
}

function problemOf(error: ErrorObject, place: Place): Problem {
  const at = (suffix = ''): string => pointerOf(error.instancePath + suffix, place);
  const params = error.params as Record<string, string | number>;
  const of = (code: RefusalCode, facts?: Facts, suffix = ''): Problem => ({ code, pointer: at(suffix), facts });
  // As JSON Schema compares, but written as people do.
  const bound = `${String(params['comparison']).replace('>=', '≥').replace('<=', '≤')} ${params['limit']}`;
  switch (error.keyword) {
    case 'required':
      return of('REQUIRED', undefined, `/${escapePointer(String(params['missingProperty']))}`);
    case 'additionalProperties': {
      const code = isBody(place) ? 'UNKNOWN_FIELD' : 'UNKNOWN_PARAMETER';
      return of(code, undefined, `/${escapePointer(String(params['additionalProperty']))}`);
    }
    case 'type':
      return of('INVALID_TYPE', { expected: String(params['type']) });
    case 'enum':
      return of('INVALID_VALUE', { allowed: (error.params as { allowedValues: string[] }).allowedValues.join(', ') });
    case 'format':
      if (params['format'] === 'uuid') return of('INVALID_ID');
      if (params['format'] === 'line') return of('LINE_BREAK');
      return of('INVALID_FORMAT', { format: formWords[String(params['format'])] ?? String(params['format']) });
    case 'pattern':
      return of('INVALID_FORMAT', { format: String(params['pattern']) });
    case 'decimals':
      return of('TOO_MANY_DECIMALS', { limit: params['limit']! });
    case 'maxLength':
      return of('TOO_LONG', { limit: params['limit']! });
    case 'minLength':
    case 'filled':
      return of('TOO_SHORT', { limit: params['limit']! });
    case 'maxItems':
      return of('TOO_MANY', { limit: params['limit']! });
    case 'minItems':
      return of('TOO_FEW', { limit: params['limit']! });
    case 'minimum':
    case 'exclusiveMinimum':
      return of('TOO_SMALL', { limit: bound });
    case 'maximum':
    case 'exclusiveMaximum':
      return of('TOO_LARGE', { limit: bound });
    default:
      throw new Error(`a schema uses the keyword ${error.keyword}, which has no sentence`);
  }
}

type Judge = (text: string) => Wrong | undefined;

/** Whether nothing is wrong with any text in it, which is soon known: what is wrong needs a path and a place to tell it to. */
function isPlain(value: unknown, judge: Judge): boolean {
  if (typeof value === 'string') return judge(value) === undefined;
  if (value === null || typeof value !== 'object') return true;
  for (const name of Object.keys(value)) if (!isPlain((value as Record<string, unknown>)[name], judge)) return false;
  return true;
}

/** Tells the pointer of each text and what is wrong with it until `found` wants no more. False: it wanted none. `path`: where `value` stands. */
function findWrong(
  value: unknown,
  path: string[],
  judge: Judge,
  found: (pointer: string, wrong: Wrong) => boolean,
): boolean {
  if (typeof value === 'string') {
    const wrong = judge(value);
    return wrong === undefined || found(path.map((name) => `/${escapePointer(name)}`).join(''), wrong);
  }
  if (value === null || typeof value !== 'object') return true;
  for (const [name, member] of Object.entries(value)) {
    path.push(name);
    if (!findWrong(member, path, judge, found)) return false;
    path.pop();
  }
  return true;
}
