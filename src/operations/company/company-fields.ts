/** What a company says of itself on documents and in SAF-T: its fields, with the bounds of its customers', and rules on them. */
import { Type } from 'typebox';
import { isCae } from '../../fiscal/identifiers.ts';
import { isOwnNif } from '../../fiscal/nif.ts';
import type { Problem } from '../../fiscal/refusal.ts';
import { customerFields, customerProblems } from '../customers/customer.ts';
import { closed } from '../fields.ts';

const { name, address, postalCode, city, email, phone, website } = customerFields;

/** The form of what is given, for `validate`; an empty text is none. */
export const CompanyFields = closed({
  name,
  address,
  postalCode,
  city,
  email,
  phone,
  website,
  cae: Type.Optional(Type.Array(Type.String(), { description: 'Activity codes.' })),
});

export interface CompanyValues {
  readonly name?: string | undefined;
  readonly cae?: readonly string[] | undefined;
  readonly address?: string | undefined;
  readonly postalCode?: string | undefined;
  readonly city?: string | undefined;
  readonly email?: string | undefined;
  readonly phone?: string | undefined;
  readonly website?: string | undefined;
}

/** Rules on a company as a whole, beside the form of its fields. */
export function companyProblems({ cae = [], ...fields }: CompanyValues): Problem[] {
  const problems = customerProblems({ ...fields, country: 'PT' });
  if (cae.length === 0) problems.push({ code: 'REQUIRED', pointer: '/cae' });
  for (const [i, code] of cae.entries()) {
    if (!isCae(code)) problems.push({ code: 'INVALID_FORMAT', pointer: `/cae/${i}`, facts: { format: '62010' } });
  }
  return problems;
}

/** The same of a new one, whose NIF is for good. */
export function newCompanyProblems(company: CompanyValues & { readonly taxpayerNumber: string }): Problem[] {
  const { taxpayerNumber, ...fields } = company;
  const nif: Problem[] = isOwnNif(taxpayerNumber) ? [] : [{ code: 'NIF_INVALID', pointer: '/taxpayerNumber' }];
  return [...nif, ...companyProblems(fields)];
}
