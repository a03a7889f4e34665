/** One constraint of a schema broken, and only that: each way there is in a value, so that chance can take one. */
import type { Schema } from './description.ts';

export interface Break {
  /** What is wrong, for whoever reads the report. */
  readonly what: string;
  /** The whole value, with it. */
  readonly value: unknown;
}

/** Every way to break a valid value once. */
export function breaksOf(schema: Schema, value: unknown): Break[] {
  return found(schema, value, '').map(([what, broken]) => ({ what, value: broken }));
}

type Found = readonly [what: string, value: unknown];

function found(schema: Schema, value: unknown, at: string): Found[] {
  const own: Found[] = wrongTypes(schema).map((wrong) => [`${at} is ${JSON.stringify(wrong)}`, wrong]);
  if (schema.enum !== undefined && typeof value === 'string') {
    own.push([`${at} in lower case`, value.toLowerCase()], [`${at} is unknown`, `${value}X`], [`${at} is empty`, '']);
    return own.filter(([, wrong]) => !schema.enum!.includes(wrong as string));
  }
  if (schema.type === 'object') return [...own, ...inObject(schema, value as Record<string, unknown>, at)];
  if (schema.type === 'array') return [...own, ...inArray(schema, value as unknown[], at)];
  if (schema.type === 'string') return [...own, ...texts(schema, at)];
  if (schema.type === 'number' || schema.type === 'integer') return [...own, ...numbers(schema, at)];
  return own;
}

function wrongTypes({ type }: Schema): unknown[] {
  const others: Readonly<Record<string, unknown>> = {
    string: '1',
    number: 1,
    boolean: true,
    array: [],
    object: {},
    null: null,
  };
  const same = type === 'integer' ? 'number' : type;
  return Object.entries(others)
    .filter(([name]) => name !== same)
    .map(([, other]) => other);
}

function inObject(schema: Schema, value: Record<string, unknown>, at: string): Found[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  const missing = required.map((name): Found => {
    const { [name]: _, ...rest } = value;
    return [`${at}/${name} is missing`, rest];
  });
  const more: Found[] =
    additionalProperties === false
      ? ['nonsense', '', '__proto', 'Id', '$ref'].map((name) => [`${at}/${name} is too much`, { ...value, [name]: 1 }])
      : [];
  const inside = Object.entries(value).flatMap(([name, member]) =>
    found(properties[name] ?? {}, member, `${at}/${name}`).map(
      ([what, wrong]): Found => [what, { ...value, [name]: wrong }],
    ),
  );
  return [...missing, ...more, ...inside];
}

function inArray({ items = {}, minItems = 0, maxItems }: Schema, value: unknown[], at: string): Found[] {
  const counts: Found[] = minItems > 0 ? [[`${at} is empty`, []]] : [];
  if (maxItems !== undefined) counts.push([`${at} is too many`, Array(maxItems + 1).fill(value[0] ?? null)]);
  const inside = value.flatMap((entry, i) =>
    found(items, entry, `${at}/${i}`).map(([what, wrong]): Found => [what, value.with(i, wrong)]),
  );
  return [...counts, ...inside];
}

function texts({ minLength = 0, maxLength, pattern, format }: Schema, at: string): Found[] {
  const wrong: Found[] = [];
  if (maxLength !== undefined && format === undefined) wrong.push([`${at} is too long`, 'x'.repeat(maxLength + 1)]);
  if (minLength > 0) wrong.push([`${at} is too short`, 'x'.repeat(minLength - 1)]);
  const forms =
    format === 'uuid'
      ? ['x', '', '00000000-0000-0000-0000-00000000000g']
      : format === 'date-time'
        ? ['2026-02-30T10:00:00Z', '2026-01-01T10:00:00', '1', '']
        : [];
  for (const text of ['a\nb', '\n', 'pt', '2026-13-01', 'P'])
    if (pattern !== undefined && !new RegExp(pattern, 'u').test(text)) forms.push(text);
  // What no text may hold, in this service (its description says so).
  forms.push('\u0000', 'a\u0007b', '\ud800');
  return [...wrong, ...forms.map((text): Found => [`${at} is ${JSON.stringify(text)}`, text])];
}

function numbers(
  { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf, type }: Schema,
  at: string,
): Found[] {
  const wrong: number[] = [];
  if (minimum !== undefined) wrong.push(exclusiveMinimum === true ? minimum : minimum - 1, -1e9);
  if (maximum !== undefined) wrong.push(exclusiveMaximum === true ? maximum : maximum + 1, 1e300);
  if (multipleOf !== undefined) wrong.push(1 + multipleOf / 10);
  if (type === 'integer') wrong.push(1.5);
  return wrong.map((number) => [`${at} is ${number}`, number]);
}
