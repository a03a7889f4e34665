/**
 * The schemas of fields that many operations share, with the bounds of SAF-T (Portaria 302/2016) and of contract decisions 1.
 * Custom words: `decimals` (most decimals a number may have), `filled` (least characters of a text, but for blanks around
 * it), `lowered` (it is put in small letters) and the formats `uuid`,
 * `line` (no line break), `day` (ISO date-time with zone, or YYYY-MM-DD), `instant` (ISO date-time with zone), `country`,
 * `currency`.
 */

import type { Static, TSchema } from 'typebox';
import { Type } from 'typebox';
import { earliest_day } from '../fiscal/dates.ts';

/**
 * A UUID, in either case. Operations see it in small letters, as the books write it: documents are sealed under theirs,
 * and replies repeat it.
 */
export const id = (description: string) => Type.String({ format: 'uuid', lowered: true, description });

/** An id where the contract has no 400: what is no UUID is the id of nothing. */
export const anyId = (description: string) => Type.String({ lowered: true, description });

/**
 * One printed line of text: no line breaks, at most `maxLength` characters. What has to be there is not blank. `example`
 * where not every text will do.
 */
export const line = (maxLength: number, description: string, minLength = 0, example?: string) =>
  Type.String({
    format: 'line',
    minLength,
    maxLength,
    ...(minLength === 0 ? {} : { filled: minLength }),
    description,
    ...(example === undefined ? {} : { examples: [example] }),
  });

/** Text that may hold line breaks. */
export const text = (maxLength: number, description: string) => Type.String({ maxLength, description });

/** Money: at most 2 decimals, below 10^13, never negative. */
export const money = (description: string) =>
  Type.Number({ minimum: 0, exclusiveMaximum: 1e13, decimals: 2, description });

/** Money that is something: above 0. */
export const moneyAboveZero = (description: string) =>
  Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1e13, decimals: 2, description });

/** A unit price or a quantity: at most 6 decimals, below 10^9, never negative. */
export const precise = (description: string) =>
  Type.Number({ minimum: 0, exclusiveMaximum: 1e9, decimals: 6, description });

/** A quantity on a line: above 0. */
export const quantity = (description: string) =>
  Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1e9, decimals: 6, description });

/** 0 to 100, at most 6 decimals. */
export const percent = (description: string) => Type.Number({ minimum: 0, maximum: 100, decimals: 6, description });

/** A civil day, or an instant that is taken as the company's day. */
export const day = (description: string) =>
  Type.String({ format: 'day', maxLength: 40, description, examples: ['2026-11-21'] });

/** A day that SAF-T tells; the law refuses one that it has no room for (src/fiscal/dates.ts). */
export const dayOfBooks = (description: string) => day(`${description} From ${earliest_day} on.`);

/** A date and time with its zone. */
export const instant = (description: string) =>
  Type.String({ format: 'instant', maxLength: 40, description, examples: ['2026-11-21T10:15:30.000Z'] });

/** A day or an instant as replies give it: a date-time with its zone; of a day, its start. */
export const dateTime = (description: string) => Type.String({ format: 'date-time', description });

/** A string enumeration as OpenAPI tools like it. */
export const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], description });

/** A closed object: unknown members are refused. */
export const closed = <T extends Record<string, TSchema>>(members: T, description?: string) =>
  Type.Object(members, { additionalProperties: false, ...(description === undefined ? {} : { description }) });

/**
 * A body, with one that the reference offers to be tried: it is taken as it stands, but for ids and revisions. Put together of
 * its members' bounds and patterns it would be refused, or unreadable.
 */
export const offering = <S extends TSchema>(body: S, example: Static<S>): S => ({ ...body, examples: [example] });

/** An id in such a body. */
export const someId = '019a20f8-0468-7f88-bc2c-9d6d1bbd56f1';

/** A reply value that the contract calls "or null": always present. */
export const nullable = (schema: TSchema) => Type.Unsafe<string | null>({ ...schema, nullable: true });

/** The path of one record: `{ id }`. */
export const idParams = (description: string) => closed({ id: id(description) });

/** Query of a paginated list; `fields` are the sort fields. */
export function listQuery<T extends Record<string, TSchema>>(fields: readonly string[], filters: T) {
  return closed({
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1e9, default: 0, description: 'Entries to skip.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Entries to return.' })),
    sort: Type.Optional(
      Type.Unsafe<string>({
        type: 'string',
        enum: fields.flatMap((field) => [`${field}:asc`, `${field}:desc`]),
        default: 'createdAt:desc',
        description: 'Field and order.',
      }),
    ),
    ...filters,
  });
}
