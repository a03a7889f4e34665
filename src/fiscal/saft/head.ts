/** The file's beginning: declaration, root element and Header. */

import { unknown } from '../buyer.ts';
import { cut } from '../cut.ts';
import type { SaftEncoding } from './encode.ts';
import type { SaftHeader } from './source.ts';
import { group, leaf, optional, plain, whole } from './xml-text.ts';

/** Root namespace of version 1.04_01. */
export const namespace = 'urn:OECD:StandardAuditFile-Tax:PT_1.04_01';

/** Everything before MasterFiles. */
export function fileHead(header: SaftHeader, encoding: SaftEncoding): string {
  return `<?xml version="1.0" encoding="${encoding}"?>\n<AuditFile xmlns="${namespace}">\n${headerXml(header)}`;
}

function headerXml({ company, from, to, created, program, comment }: SaftHeader): string {
  const nif = company.taxpayerNumber ?? '';
  return group(
    'Header',
    plain('AuditFileVersion', '1.04_01') +
      leaf('CompanyID', nif) +
      leaf('TaxRegistrationNumber', nif) +
      // Invoicing: sales, transport and working documents, and receipts; no ledger.
      plain('TaxAccountingBasis', 'F') +
      leaf('CompanyName', cut(company.name, 100)) +
      group('CompanyAddress', addressXml(company, 'PT')) +
      plain('FiscalYear', from.slice(0, 4)) +
      plain('StartDate', from) +
      plain('EndDate', to) +
      plain('CurrencyCode', 'EUR') +
      plain('DateCreated', created) +
      plain('TaxEntity', 'Global') +
      leaf('ProductCompanyTaxID', program.producerTaxId) +
      plain('SoftwareCertificateNumber', String(program.certificateNumber)) +
      leaf('ProductID', program.productId) +
      leaf('ProductVersion', cut(program.version, 30)) +
      optional('HeaderComment', comment, 255) +
      whole('Telephone', company.phone, 20) +
      whole('Email', company.email, 254) +
      whole('Website', company.website, 60),
  );
}

/** AddressDetail, City, PostalCode and Country, which the schema asks for whether or not they are known. */
export function addressXml(
  place: {
    readonly address?: string | undefined;
    readonly city?: string | undefined;
    readonly postalCode?: string | undefined;
  },
  country: string,
): string {
  return (
    leaf('AddressDetail', cut(place.address || unknown, 210)) +
    leaf('City', cut(place.city || unknown, 50)) +
    leaf('PostalCode', cut(place.postalCode || unknown, 20)) +
    leaf('Country', country)
  );
}
