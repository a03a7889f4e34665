import { Type } from 'typebox';
import { statement } from '../../db/transact.ts';
import { closed, oneOf } from '../fields.ts';
import { defineRead } from '../operation.ts';
import { builtIn, paperFormats } from './template.ts';

const TemplateReply = closed({
  id: Type.String({ description: 'Use it as templateId.' }),
  name: Type.String(),
  isDefault: Type.Boolean({ description: 'Used when neither the request nor the document names a template.' }),
  formats: Type.Array(oneOf(paperFormats, 'Paper.'), { description: 'What it can be used for.' }),
});

const readTemplates = statement(
  'templates_list',
  `select id, name, is_default, formats from certo.templates
   where company_id = certo.current_company() and not is_archived order by lower(name), id`,
);

export const listTemplates = defineRead({
  name: 'listTemplates',
  route: 'GET /templates',
  tag: 'Company',
  summary: 'PDF templates',
  description:
    'The built-in template comes first; it is the default where the company has made none of its own the default.',
  reply: [200, Type.Array(TemplateReply)],
  access: { key: true },
  refuses: [],
  load: (tx) => tx.query(readTemplates),
  show: (rows) => [
    { ...builtIn, isDefault: rows.every((row) => row['is_default'] !== true) },
    ...rows.map((row) => ({
      id: row['id'],
      name: row['name'],
      isDefault: row['is_default'],
      formats: row['formats'],
    })),
  ],
});
