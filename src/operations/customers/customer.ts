/** Customers: fields, rules on the body alone, row and reply. */

import type { Static } from 'typebox';
import { Type } from 'typebox';
import type { Call, Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { Party } from '../../fiscal/document.ts';
import { isPostalCode } from '../../fiscal/identifiers.ts';
import { checkTaxId, withoutPrefix } from '../../fiscal/nif.ts';
import type { Problem } from '../../fiscal/refusal.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { closed, dateTime, line, text } from '../fields.ts';

/** Characters of a name as documents show it. */
const longest_name = 100;

/** An empty text on update clears the field. */
export const customerFields = {
  name: Type.Optional(line(longest_name, 'Name as printed. Or give firstName and lastName, or companyName.')),
  firstName: Type.Optional(line(100, 'First name of a person.')),
  lastName: Type.Optional(line(100, 'Last name of a person.')),
  companyName: Type.Optional(line(100, 'Name of a company.')),
  companyPosition: Type.Optional(line(100, 'Position of the contact in the company.')),
  taxpayerNumber: Type.Optional(
    line(
      30,
      'NIF with a right check digit for PT; VIES form (without prefix) in the EU; free elsewhere.',
      0,
      '508025095',
    ),
  ),
  email: Type.Optional(line(254, 'E-mail address.', 0, 'maria@example.pt')),
  // As long as SAF-T takes one: a longer one would be missing there.
  website: Type.Optional(line(60, 'Website.')),
  description: Type.Optional(text(2000, 'Internal description.')),
  address: Type.Optional(line(210, 'Street and number.')),
  postalCode: Type.Optional(line(20, 'Postal code; NNNN-NNN for PT.', 0, '1000-001')),
  city: Type.Optional(line(50, 'City.')),
  country: Type.Optional(Type.String({ format: 'country', description: 'ISO 3166-1 alpha-2.', examples: ['PT'] })),
  phone: Type.Optional(line(20, 'Telephone.')),
  fax: Type.Optional(line(20, 'Fax.')),
  mobile: Type.Optional(line(20, 'Mobile telephone.')),
};
const marks = {
  isArchived: Type.Optional(
    Type.Boolean({ description: 'Left out of lists; false brings an archived customer back.' }),
  ),
  system: Type.Optional(Type.Boolean({ description: 'Only false: there is one final consumer, and it is built in.' })),
};
export const CustomerBody = closed({
  ...customerFields,
  ...marks,
  country: Type.String({ format: 'country', description: 'ISO 3166-1 alpha-2.', examples: ['PT'] }),
});
/** As the body, but nothing is required: an empty text takes a field away. */
export const CustomerPatch = closed({ ...customerFields, ...marks });
export type CustomerValues = Static<typeof CustomerPatch>;

export const CustomerReply = closed({
  id: Type.String(),
  ...customerFields,
  // There are longer ones from before it had a bound.
  website: Type.Optional(line(254, 'Website.')),
  name: Type.String({ description: 'Name as documents show it.' }),
  country: Type.String(),
  system: Type.Boolean({ description: 'The built-in final consumer.' }),
  isArchived: Type.Boolean(),
  createdAt: dateTime('Creation of the record.'),
  updatedAt: dateTime('Last change of the record.'),
});

/** API name → column, for the plain text fields. */
export const customerColumns = {
  name: 'name',
  firstName: 'first_name',
  lastName: 'last_name',
  companyName: 'company_name',
  companyPosition: 'company_position',
  taxpayerNumber: 'taxpayer_number',
  email: 'email',
  website: 'website',
  description: 'description',
  address: 'address',
  postalCode: 'postal_code',
  city: 'city',
  country: 'country',
  phone: 'phone',
  fax: 'fax',
  mobile: 'mobile',
} as const;
type FieldName = keyof typeof customerColumns;
const fieldNames = Object.keys(customerColumns) as FieldName[];

const columnList = `id, shown_name, system, is_archived, used, created_at, updated_at, ${Object.values(customerColumns).join(', ')}`;
export const customerListColumns = columnList;

/** $1 the id. */
export const readCustomer = statement(
  'customer_read',
  `select ${columnList} from certo.customers where company_id = certo.current_company() and id = $1`,
);
/** The same, locked until the commit, with the tax identities that documents have shown. */
export const lockCustomer = statement(
  'customer_lock',
  `select ${columnList}, tax_identities from certo.customers where company_id = certo.current_company() and id = $1 for update`,
);

/** The values of a record, by API name; absent ones are left out. */
export type CustomerRecord = Partial<Record<FieldName, string>>;

/** The fields that are set, by their names in the API. */
export function recordOf(row: Row): CustomerRecord {
  const record: CustomerRecord = {};
  for (const name of fieldNames) {
    const value = row[customerColumns[name]];
    if (typeof value === 'string') record[name] = value;
  }
  return record;
}

/** The record after a body is laid over it; an empty text (or only white space) removes. */
export function overlay(record: CustomerRecord, values: CustomerValues): CustomerRecord {
  const result: CustomerRecord = { ...record };
  for (const name of fieldNames) {
    const value = values[name];
    if (value === undefined) continue;
    if (value.trim() === '') delete result[name];
    else result[name] = value;
  }
  // SAF-T and the QR code carry foreign numbers without the country prefix that VIES shows.
  if (result.country !== undefined && result.taxpayerNumber !== undefined) {
    result.taxpayerNumber = withoutPrefix(result.country, result.taxpayerNumber);
  }
  return result;
}

/** The name that documents show, or undefined when the record has none. */
export function shownName(record: CustomerRecord): string | undefined {
  if (record.name !== undefined) return record.name;
  if (record.companyName !== undefined) return record.companyName;
  if (record.firstName !== undefined && record.lastName !== undefined) return `${record.firstName} ${record.lastName}`;
  return undefined;
}

/** Whether documents show first and last name. */
const isJoined = ({ name, companyName }: CustomerRecord): boolean => name === undefined && companyName === undefined;

/** Rules on a record as a whole; tolerant of values of a wrong type, which the schema names. */
export function customerProblems(values: Record<string, unknown>): Problem[] {
  const problems: Problem[] = [...markProblems(values)];
  const record = overlay({}, onlyText(values));
  const shown = shownName(record);
  if (shown === undefined && !isMistyped(values)) problems.push({ code: 'REQUIRED', pointer: '/name' });
  // Nothing of what documents show is cut away. Put together, two names may be longer than each of them.
  if (shown !== undefined && isJoined(record) && [...shown].length > longest_name)
    problems.push({ code: 'TOO_LONG', pointer: '/name', facts: { limit: longest_name } });
  const country = record.country;
  if (record.taxpayerNumber !== undefined && country !== undefined) {
    const code = checkTaxId(country, record.taxpayerNumber);
    if (code !== undefined) problems.push({ code, pointer: '/taxpayerNumber', facts: { country } });
  }
  if (country === 'PT' && record.postalCode !== undefined && !isPostalCode(record.postalCode)) {
    problems.push({ code: 'INVALID_FORMAT', pointer: '/postalCode', facts: { format: 'NNNN-NNN' } });
  }
  if (record.email !== undefined && !/^[^\s@]+@[^\s@]+$/.test(record.email)) {
    problems.push({ code: 'INVALID_FORMAT', pointer: '/email', facts: { format: 'name@example.pt' } });
  }
  return problems;
}

/** A name is given, but is no text. */
const isMistyped = (values: Record<string, unknown>): boolean =>
  nameParts.some((name) => values[name] !== undefined && typeof values[name] !== 'string');
const nameParts = ['name', 'firstName', 'lastName', 'companyName'] as const;

/** What nobody can ask for. */
export function markProblems({ system }: Record<string, unknown>): Problem[] {
  return system === true ? [{ code: 'SYSTEM_RESERVED', pointer: '/system' }] : [];
}

function onlyText(values: Record<string, unknown>): CustomerValues {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'string')) as CustomerValues;
}

/** The reply: `name` is the one that documents show. */
export function showCustomer(row: Row): Record<string, unknown> {
  return {
    id: row['id'],
    ...recordOf(row),
    name: row['shown_name'],
    system: row['system'],
    isArchived: row['is_archived'],
    createdAt: (row['created_at'] as Date).toISOString(),
    updatedAt: (row['updated_at'] as Date).toISOString(),
  };
}

/** The customer as documents carry it. */
export function partyOf(row: Row): Party {
  const record = recordOf(row);
  const { taxpayerNumber, address, postalCode, city, country, email, phone, mobile, website } = record;
  return {
    id: String(row['id']),
    name: String(row['shown_name']),
    ...(row['system'] === true ? { finalConsumer: true } : {}),
    taxpayerNumber,
    address,
    postalCode,
    city,
    country: row['system'] === true ? undefined : country,
    email,
    phone,
    mobile,
    website,
  };
}

/** Loads a customer to change it, locked until the commit, after what else has to be locked before it. */
export async function customerToChange(tx: Tx, id: string, before: readonly Call[] = []): Promise<Row> {
  const row = (await tx.batch([...before, [lockCustomer, [id]]])).at(-1)?.[0];
  if (row === undefined) throw new Refusal('CUSTOMER_NOT_FOUND');
  if (row['system'] === true) throw new Refusal('SYSTEM_CUSTOMER');
  return row;
}

/** As parameters, in the order of the columns; null for what is not set. */
export const customerValues = (record: CustomerRecord): (string | null)[] =>
  fieldNames.map((name) => record[name] ?? null);
