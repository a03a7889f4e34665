/** Templates over the wire: which one a print gets, and that what was printed stays as it was. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPdf, pagesOf, textOf } from '../golden/print-reading.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { addTemplate, changeTemplate } from './template-row.ts';

const builtIn = '00000000-0000-7000-8000-000000000001';
let service: Service;
let A: TestCompany;
let B: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
  ({ A, B } = service.companies);
});
afterAll(() => service.stop());

const template = (company: TestCompany, footer: string, more?: Record<string, unknown>) =>
  addTemplate(service, company, footer, more);
const set = (id: string, change: string) => changeTemplate(service, A, id, change);

const code = (reply: { status: number; json: unknown }) => [reply.status, (reply.json as { code?: string }).code];

async function printed(path: string): Promise<{ text: string; url: string }> {
  const { status, json } = await A.get<{ url: string }>(path);
  expect(status).toBe(200);
  const file = await service.open(json.url);
  expect(file.status).toBe(200);
  return { text: await textOf(file.bytes), url: json.url };
}
const pdf = (id: string, query = '') => printed(`/invoices/${id}/pdf${query}`);

describe('GET /templates', () => {
  test('the built-in one always, first; a company sees its own', async () => {
    expect((await A.get('/templates')).json).toEqual([
      { id: builtIn, name: 'Certo', isDefault: true, formats: ['A4', 'RECEIPT', 'RECEIPT_58'] },
    ]);
    const id = await template(B, 'De B', { is_default: true, formats: ['A4'] });
    expect((await B.get('/templates')).json).toEqual([
      { id: builtIn, name: 'Certo', isDefault: false, formats: ['A4', 'RECEIPT', 'RECEIPT_58'] },
      { id, name: 'De B', isDefault: true, formats: ['A4'] },
    ]);
    expect((await A.get('/templates')).json).toHaveLength(1);
    const issued = await A.issue(await A.draft());
    expect(code(await A.get(`/invoices/${issued.id}/pdf?templateId=${id}`))).toEqual([404, 'TEMPLATE_NOT_FOUND']);
  });
});

describe('a print', () => {
  test('has the template that is asked for, else the document’s, else the default, else the built-in one', async () => {
    const [asked, own, byDefault] = [
      await template(A, 'Pedido'),
      await template(A, 'Próprio'),
      await template(A, 'Habitual'),
    ];
    const plain = await A.issue(await A.draft());
    const named = await A.issue(await A.draft({ templateId: own }));
    expect((await pdf(plain.id)).text).not.toMatch(/Pedido|Próprio|Habitual/);
    await set(byDefault, 'is_default = true');
    expect((await pdf(plain.id, '?isDuplicate=true')).text).toContain('Habitual');
    expect((await pdf((await A.issue(await A.draft())).id)).text).toContain('Habitual');
    expect((await pdf(named.id)).text).toContain('Próprio');
    expect((await pdf(named.id, `?templateId=${asked.toUpperCase()}`)).text).toContain('Pedido');
    expect((await pdf(named.id, `?templateId=${builtIn}`)).text).not.toMatch(/Pedido|Próprio|Habitual/);
    await set(own, 'is_archived = true');
    expect((await pdf(named.id)).text).toContain('Próprio');
    expect(code(await A.get(`/invoices/${named.id}/pdf?templateId=${own}`))).toEqual([404, 'TEMPLATE_NOT_FOUND']);
    await set(byDefault, 'is_default = false');
  });

  test('stays as it was when its template changes; a new one is made beside it', async () => {
    const id = await template(A, 'Antes');
    const { id: invoice } = await A.issue(await A.draft({ templateId: id }));
    const before = await pdf(invoice);
    await set(id, `footer = 'Depois', language = 'en', colour = '#7c3aed'`);
    const named = `?templateId=${id}`;
    const after = await pdf(invoice, named);
    expect(after.text).toContain('Depois');
    expect(after.text).toContain('Issue date');
    expect(await textOf((await service.open(before.url)).bytes)).toBe(before.text);
    expect(before.text).toContain('Antes');
    const [again, once] = [await pdf(invoice, named), await service.open(after.url)];
    expect(Buffer.compare((await service.open(again.url)).bytes, once.bytes)).toBe(0);
  });

  test('of a paper that the template is not made for: refused when asked for, else the built-in one', async () => {
    const id = await template(A, 'Só A4', { formats: ['A4'] });
    const { id: invoice } = await A.issue(await A.draft({ templateId: id }));
    expect((await pdf(invoice)).text).toContain('Só A4');
    expect((await pdf(invoice, '?format=RECEIPT')).text).not.toContain('Só A4');
    expect(code(await A.get(`/invoices/${invoice}/pdf?format=RECEIPT&templateId=${id}`))).toEqual([
      400,
      'TEMPLATE_FORMAT',
    ]);
  });

  test('on a roll is as wide as the roll', async () => {
    const { id } = await A.issue(await A.draft());
    for (const [format, millimetres] of [
      ['A4', 210],
      ['RECEIPT', 80],
      ['RECEIPT_58', 58],
    ] as const) {
      const { url } = await pdf(id, `?format=${format}`);
      const document = await openPdf((await service.open(url)).bytes);
      const [page] = await pagesOf(document);
      expect((page!.view[2]! * 25.4) / 72).toBeCloseTo(millimetres, 1);
      await document.destroy();
    }
  });

  test('of transport documents and pro formas has templates too', async () => {
    const id = await template(A, 'Para todos');
    const transport = await A.issueTransport(await A.transport());
    expect((await printed(`/transport-documents/${transport.id}/pdf?templateId=${id}`)).text).toContain('Para todos');
    const proposal = await A.proposal();
    expect((await printed(`/proposals/${proposal.id}/pdf?templateId=${id}`)).text).toContain('Para todos');
    for (const wrong of [uuidv7(), 'nonsense'])
      expect(code(await A.get(`/proposals/${proposal.id}/pdf?templateId=${wrong}`))).toEqual([
        404,
        'TEMPLATE_NOT_FOUND',
      ]);
  });
});

describe('a draft', () => {
  const problem = (reply: { json: unknown }) =>
    (reply.json as { errors?: { pointer: string; code: string }[] }).errors?.[0];

  test('takes a template of its company, or the built-in one; another or an archived one is told by its place', async () => {
    const [own, archived] = [await template(A, 'De rascunho'), await template(A, 'Arquivado', { is_archived: true })];
    const foreign = await template(B, 'Alheio');
    await A.draft({ templateId: builtIn });
    const draft = await A.draft({ templateId: own });
    for (const templateId of [archived, foreign, uuidv7()]) {
      const reply = await A.call('PATCH', `/invoices/${draft.id}`, { body: { templateId } });
      expect([reply.status, problem(reply)]).toMatchObject([400, { pointer: '/templateId', code: 'UNKNOWN_TEMPLATE' }]);
    }
    // What it had before it was archived it keeps.
    await set(own, 'is_archived = true');
    const kept = await A.call<InvoiceJson>('PATCH', `/invoices/${draft.id}`, { body: { notes: 'Outra' } });
    expect(kept.status).toBe(200);
  });
});
