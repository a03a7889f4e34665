/** Values that a schema allows, made by chance from the schema alone and from what earlier answers told. */
import type { Chance } from '../chance.ts';
import type { Schema } from './description.ts';
import type { Known, Memory } from './memory.ts';

export interface Maker {
  readonly chance: Chance;
  readonly memory: Memory;
  /** The record that the request is about. */
  subject: Known | undefined;
  /** A text was made where the description only shows an example: it may be wrong. */
  guessed: boolean;
}

const hour_ms = 3_600_000;
const alphabet = [...'abcdefghij klmnop QRSTUVWXYZ 0123456789', ...'áçãéõ€–ß漢か', ...'&<>"\'/\\%$#{}[]|`^~;:='];

export function rightValue(schema: Schema, name: string, maker: Maker): unknown {
  const { chance } = maker;
  if (schema.enum !== undefined) return chance.one(schema.enum);
  switch (schema.type) {
    case 'integer':
      return chance.whole(schema.minimum ?? 0, Math.min(schema.maximum ?? 100, 100));
    case 'number':
      return rightNumber(schema, chance);
    case 'boolean':
      return chance.next() < 0.5;
    case 'array':
      return Array.from({ length: Math.max(schema.minItems ?? 0, chance.one([1, 1, 1, 2, 3])) }, () =>
        rightValue(schema.items ?? {}, name, maker),
      );
    case 'object':
      return rightObject(schema, maker);
    default:
      return rightText(schema, name, maker);
  }
}

/** What is required, seldom a little more: many optional fields at once do not fit together. */
export function rightObject(schema: Schema, maker: Maker): Record<string, unknown> {
  const { chance } = maker;
  const { properties = {}, required = [] } = schema;
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const few = chance.one([0, 0, 0, 1, 1, 2, 4]);
  const chosen = new Set(Array.from({ length: optional.length === 0 ? 0 : few }, () => chance.one(optional)));
  // Who or what it is, is seldom left out, and a change without a field is none.
  if ('name' in properties && chance.next() < 0.95) chosen.add('name');
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(properties))
    if (required.includes(name) || chosen.has(name)) members.push([name, rightValue(member, name, maker)]);
  return Object.fromEntries(members);
}

function rightNumber(schema: Schema, chance: Chance): number {
  const decimals = schema.multipleOf === undefined ? 2 : Math.round(-Math.log10(schema.multipleOf));
  const most = schema.maximum ?? 1e6;
  const least = (schema.minimum ?? 0) + (schema.exclusiveMinimum === true ? 10 ** -decimals : 0);
  const edge = schema.exclusiveMaximum === true ? most - 1 : most;
  const usual = Math.max(least, Math.min(edge, chance.whole(1, 20_000) / 100));
  return chance.one([usual, usual, usual, usual, usual, usual, chance.whole(1, 9), chance.one([least, edge])]);
}

function rightText(schema: Schema, name: string, maker: Maker): string {
  const { chance, memory } = maker;
  if (schema.format === 'uuid') return idFor(name, schema, maker);
  if (schema.format === 'date-time') {
    // "…UpdatedAt" asks for the revision that was seen.
    if (/updatedAt$/i.test(name) && maker.subject?.updatedAt !== undefined) return maker.subject.updatedAt;
    return new Date(Date.now() + chance.whole(1, 72) * hour_ms).toISOString();
  }
  const known = memory.values(name);
  if (known.length > 0) return chance.one(known);
  if (typeof schema.example === 'string') {
    if (/^\d{4}-\d{2}-\d{2}$/.test(schema.example)) return dayNear(chance);
    if (chance.next() < 0.9) return schema.example;
    maker.guessed = true;
  }
  const oneLine = schema.pattern === undefined ? ['\n'] : [];
  const { minLength = 0, maxLength = 100 } = schema;
  const length = chance.one([Math.min(12, maxLength), Math.min(12, maxLength), minLength, maxLength]);
  const letters = Array.from({ length: Math.max(length, minLength) }, () => chance.one(alphabet));
  const text = letters.map((letter, at) => (at % 9 === 8 ? chance.one([...oneLine, letter]) : letter)).join('');
  // Spaces around a text are not part of it.
  return text.replace(/^\s|\s$/g, 'x');
}

function dayNear(chance: Chance): string {
  const days = chance.one([0, 0, 0, 0, 0, 0, -1, 1, 30, -400]);
  return new Date(Date.now() + days * 24 * hour_ms).toISOString().slice(0, 10);
}

/** The kind stands in the name: "customerId", "parentInvoiceId"; a plain id is one of a line's, or of an item. */
function idFor(name: string, schema: Schema, maker: Maker): string {
  const { chance, memory } = maker;
  if (name === 'items' || name === 'id') {
    if (/\bline\b/.test(schema.description ?? '') && maker.subject !== undefined && maker.subject.lines.length > 0)
      return chance.one(maker.subject.lines);
    return memory.pick('items', chance)?.id ?? anyId(chance);
  }
  const word = name.replace(/Id$/, '').toLowerCase();
  const kind = memory.collections().find((collection) => word.endsWith(collection.replace(/(?<!serie)s$/, '')));
  const record = kind === undefined ? undefined : memory.pick(kind, chance);
  if (/^parent/.test(name)) maker.subject = record;
  return record?.id ?? anyId(chance);
}

/** An id that nobody has. */
export function anyId(chance: Chance): string {
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => chance.whole(0, 15).toString(16)).join('');
  return `01900000-${hex(4)}-7${hex(3)}-8${hex(3)}-${hex(12)}`;
}
