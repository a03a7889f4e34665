import { Type } from 'typebox';
import { statement } from '../../db/transact.ts';
import type { DocumentType } from '../../fiscal/document.ts';
import { documentTypes } from '../../fiscal/document.ts';
import { startOfDay } from '../../fiscal/time.ts';
import { closed, dateTime, oneOf } from '../fields.ts';
import { defineRead } from '../operation.ts';

const SeriesReply = closed({
  id: Type.String({ description: 'Use it as seriesId.' }),
  name: Type.String({ description: 'The identifier registered at the AT.' }),
  documentType: oneOf(Object.keys(documentTypes) as DocumentType[], 'What the series numbers.'),
  status: oneOf(['ACTIVE'], 'Only active series are listed.'),
  validationCode: Type.String({ description: 'Assigned by the AT; first part of the ATCUD.' }),
  isDefault: Type.Boolean({
    description:
      'Used when a draft names no series. Of two, the one with cashVat takes what falls under the cash VAT scheme.',
  }),
  kind: oneOf(
    ['NORMAL', 'TRAINING'],
    'Documents of a training series are practice: signed and recorded, and told to nobody.',
  ),
  cashVat: Type.Boolean({ description: 'For documents under the cash VAT scheme.' }),
  lastNumber: Type.Integer({ description: '0 before the first document.' }),
  lastDate: Type.Optional(dateTime('Date of the last document; absent before the first.')),
});

const readSeries = statement(
  'series_list',
  `select id, code, document_type, status, validation_code, is_default, kind, cash_vat, last_number, last_date
   from certo.series where company_id = certo.current_company() and status = 'ACTIVE' and kind <> 'R'
   order by document_type, cash_vat, is_default desc, code`,
);

export const listSeries = defineRead({
  name: 'listSeries',
  route: 'GET /series',
  tag: 'Company',
  summary: 'Active document series',
  reply: [200, Type.Array(SeriesReply)],
  access: { key: true, oauth: ['company.read'] },
  quick: true,
  refuses: [],
  tool: 'list_series',
  load: (tx) => tx.query(readSeries),
  show: (rows, asked) =>
    rows.map((row) => ({
      id: row['id'],
      name: row['code'],
      documentType: row['document_type'],
      status: row['status'],
      validationCode: row['validation_code'],
      isDefault: row['is_default'],
      kind: row['kind'] === 'F' ? 'TRAINING' : 'NORMAL',
      cashVat: row['cash_vat'],
      lastNumber: row['last_number'],
      ...(row['last_date'] === null
        ? {}
        : { lastDate: startOfDay(row['last_date'] as string, asked.principal.region) }),
    })),
});
