/** The company as the API shows it, and what its readiness is judged by. */
import { Type } from 'typebox';
import type { Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { Party } from '../../fiscal/document.ts';
import type { ReadinessFacts } from '../../fiscal/readiness.ts';
import { closed, oneOf } from '../fields.ts';

export const CompanyReply = closed({
  id: Type.String(),
  name: Type.String(),
  taxpayerNumber: Type.String(),
  cae: Type.String({ description: "The company's activity codes, joined by commas." }),
  readiness: closed({
    ready: Type.Boolean(),
    reasons: Type.Array(
      closed({
        code: oneOf(['AT_CREDENTIALS_REQUIRED', 'AT_SYNC_REQUIRED', 'SERIES_REQUIRED'], 'Why it is not ready.'),
        actionUrl: Type.String({ description: 'The page that fixes it.' }),
      }),
    ),
    actionUrl: Type.Optional(Type.String({ description: 'The page that fixes the first reason.' })),
  }),
});

/** Columns that readiness needs, wherever a statement joins the company as `c`. */
export const readinessColumns = (company = 'c.id') => `c.at_state, c.at_synced_at, c.at_series_differ,
  exists (select 1 from certo.series s where s.company_id = ${company} and s.document_type = 'INVOICE' and s.status = 'ACTIVE' and s.kind = 'N') as has_invoice_series`;

/** With what readiness is judged by. */
export const readCompany = statement(
  'company_read',
  `select c.id, c.name, c.taxpayer_number, c.cae, ${readinessColumns('certo.current_company()')} from certo.companies c where c.id = certo.current_company()`,
);

/** What a row with `readinessColumns` says. */
export function readinessFacts(row: Row): ReadinessFacts {
  const state = row['at_state'];
  return {
    credentials: state === 'NONE' ? 'none' : state === 'WRONG' ? 'wrong' : 'ok',
    synced: row['at_synced_at'] !== null,
    seriesDiffer: row['at_series_differ'] === true,
    activeInvoiceSeries: row['has_invoice_series'] === true,
  };
}

/** Columns of the company (joined as `c`) that documents show as their issuer. */
export const issuerColumns =
  'c.id, c.name, c.taxpayer_number, c.address, c.postal_code, c.city, c.email, c.phone, c.website';

/** The issuer as documents carry it, from `issuerColumns`. */
export function issuerOf(company: Row): Party {
  const text = (name: string) => (company[name] === null ? undefined : String(company[name]));
  return {
    id: String(company['id']),
    name: String(company['name']),
    taxpayerNumber: String(company['taxpayer_number']),
    address: text('address'),
    postalCode: text('postal_code'),
    city: text('city'),
    country: 'PT',
    email: text('email'),
    phone: text('phone'),
    website: text('website'),
  };
}
