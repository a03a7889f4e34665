/** Which copy of a document a print says it is: one original, whatever paper, template or state is asked for later. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { printSeal } from '../../src/fiscal/seal.ts';
import { eventually } from '../eventually.ts';
import { textOf } from '../golden/print-reading.ts';
import type { TransportJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { addTemplate, changeTemplate } from './template-row.ts';

let service: Service;
let A: TestCompany;
beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: new Date('2026-03-02T10:00:00Z') });
  A = service.companies.A;
  service.startReports();
});
afterAll(() => service.stop());

const notValid = 'Cópia de documento não válida para os fins previstos no regime de bens em circulação';

interface Print {
  readonly bytes: Buffer;
  /** What the paper says of which copy it is. */
  readonly copy: string | undefined;
  readonly text: string;
  readonly variant: string;
}

async function printed(path: string): Promise<Print> {
  const { status, json } = await A.get<{ url: string }>(path);
  expect([path, status]).toEqual([path, 200]);
  const { bytes } = await service.open(json.url);
  const text = await textOf(bytes);
  const copy = /^(?:.* \| )?(Original|Duplicado|Triplicado|2\.ª via|Cópia)$/m.exec(text)?.[1];
  return { bytes, copy, text: text.replaceAll('\n', ' '), variant: /\/([^/?]+)\?/.exec(json.url)![1]! };
}
const invoicePdf = (id: string, query = '') => printed(`/invoices/${id}/pdf${query}`);
const guidePdf = (id: string, query = '') => printed(`/transport-documents/${id}/pdf${query}`);
const invoice = async () => (await A.issue(await A.draft())).id;
/** Once the AT has told its code. */
async function guide(): Promise<string> {
  const { id } = await A.issueTransport(await A.transport());
  await accepted(id);
  return id;
}
const accepted = (id: string) =>
  eventually(async () => {
    const { syncWithAt } = (await A.get<TransportJson>(`/transport-documents/${id}`)).json;
    expect(syncWithAt.status).toBe('ACCEPTED');
  });
const cancel = async (path: string) => expect((await A.post(`${path}/cancel`)).status).toBe(200);
const own = (footer: string, more?: Record<string, unknown>) => addTemplate(service, A, footer, more);
const sameBytes = (one: Print, other: Print) => one.bytes.equals(other.bytes);

const sealOf = (id: string, variant: string, { bytes }: Print) =>
  printSeal(service.app.world.seal, id, variant, createHash('sha256').update(bytes).digest());

/** The file as an older layout's: under its name, with its seal. */
async function asOlder(id: string, print: Print): Promise<string> {
  const older = print.variant.replace(/\.v\d+/, '.v4');
  await service.owner.query(
    'update certo.renditions set variant = $3, seal = $4 where document_id = $1 and variant = $2',
    [id, print.variant, older, sealOf(id, older, print)],
  );
  return older;
}

describe('of an invoice', () => {
  test('the first print is the original; other paper has a second copy, and the original stays what it was', async () => {
    const id = await invoice();
    const first = await invoicePdf(id, '?format=RECEIPT');
    expect(first.copy).toBe('Original');
    for (const format of ['A4', 'RECEIPT_58']) expect((await invoicePdf(id, `?format=${format}`)).copy).toBe('2.ª via');
    expect((await invoicePdf(id, '?isDuplicate=true')).copy).toBe('Duplicado');
    expect(sameBytes(await invoicePdf(id, '?format=RECEIPT'), first)).toBe(true);
    expect(sameBytes(await invoicePdf(id), await invoicePdf(id))).toBe(true);
    expect(await service.findings()).toEqual([]);
  });

  test('a duplicate that is printed first leaves the original to come', async () => {
    const id = await invoice();
    expect((await invoicePdf(id, '?isDuplicate=true')).copy).toBe('Duplicado');
    expect((await invoicePdf(id)).copy).toBe('Original');
  });

  test('a changed template, or another, makes a second copy where it is named; else the original is given', async () => {
    const look = await own('Antes', { is_default: true });
    const id = await invoice();
    const first = await invoicePdf(id);
    expect([first.copy, first.text]).toEqual(['Original', expect.stringContaining('Antes')]);
    expect(sameBytes(await invoicePdf(id, `?templateId=${look}`), first)).toBe(true);
    await changeTemplate(service, A, look, `footer = 'Depois'`);
    const changed = await invoicePdf(id, `?templateId=${look}`);
    expect([changed.copy, changed.text]).toEqual(['2.ª via', expect.stringContaining('Depois')]);
    expect(sameBytes(await invoicePdf(id), first)).toBe(true);
    // Other paper has no original: there it is the template as it is by now.
    expect((await invoicePdf(id, '?format=RECEIPT')).text).toContain('Depois');
    await changeTemplate(service, A, look, 'is_default = false');
    expect(sameBytes(await invoicePdf(id), first)).toBe(true);
    for (const other of [await own('Outro'), '00000000-0000-7000-8000-000000000001'])
      expect((await invoicePdf(id, `?templateId=${other}`)).copy).toBe('2.ª via');
  });

  test('paid and credited it is the same file; cancelled it is a second copy, or the original where none was', async () => {
    const [paid, printedBefore, notBefore] = [await invoice(), await invoice(), await invoice()];
    const [first, before] = [await invoicePdf(paid), await invoicePdf(printedBefore)];
    expect((await A.post(`/invoices/${paid}/pay`, {})).status).toBe(200);
    expect(sameBytes(await invoicePdf(paid), first)).toBe(true);
    for (const id of [printedBefore, notBefore]) await cancel(`/invoices/${id}`);
    const after = await invoicePdf(printedBefore);
    expect([after.copy, after.text]).toEqual(['2.ª via', expect.stringContaining('ANULADO')]);
    expect([before.copy, before.text.includes('ANULADO')]).toEqual(['Original', false]);
    expect((await invoicePdf(notBefore)).copy).toBe('Original');
    expect((await invoicePdf(notBefore, '?format=RECEIPT')).copy).toBe('2.ª via');
  });

  test('the original of an older layout is given as it was, also where its template is named', async () => {
    const look = await own('Papel');
    for (const query of ['', `?templateId=${look}`]) {
      const id = await invoice();
      const first = await invoicePdf(id, query);
      const older = await asOlder(id, first);
      const again = await invoicePdf(id, query);
      expect([again.variant, sameBytes(again, first)]).toEqual([older, true]);
      expect((await invoicePdf(id, '?format=RECEIPT')).copy).toBe('2.ª via');
    }
    expect(await service.findings()).toEqual([]);
  });

  test('of prints that are asked for at once on different paper, one is the original', async () => {
    const id = await invoice();
    const { print } = service.app.world;
    const printing = print.render;
    const render = vi.spyOn(print, 'render');
    // None is stored before all are being made: each finds that there is no original yet.
    const all = new Promise<void>((begin) => {
      render.mockImplementation(async (input, ticket) => {
        if (render.mock.calls.length === 3) begin();
        await all;
        return printing(input, ticket);
      });
    });
    const asked = ['A4', 'RECEIPT', 'RECEIPT_58'].map((format) => `?format=${format}`);
    const prints = await Promise.all(asked.map((query) => invoicePdf(id, query)));
    expect(render.mock.calls.map(([input]) => input.copy).sort()).toEqual([
      ...['2.ª via', '2.ª via', 'Original', 'Original', 'Original'],
    ]);
    render.mockRestore();
    expect(prints.map(({ copy }) => copy).sort()).toEqual(['2.ª via', '2.ª via', 'Original']);
    for (const [index, query] of asked.entries())
      expect(sameBytes(await invoicePdf(id, query), prints[index]!)).toBe(true);
  });
});

test('of a pro forma there is one original too', async () => {
  const { id } = await A.proposal();
  expect((await printed(`/proposals/${id}/pdf`)).copy).toBe('Original');
  expect((await printed(`/proposals/${id}/pdf?templateId=${await own('Outra')}`)).copy).toBe('2.ª via');
});

describe('of a transport document', () => {
  const kinds = ['ORIGINAL', 'DUPLICATE', 'TRIPLICATE', 'FURTHER'];

  test('there are three copies, and further ones that say they are none', async () => {
    const id = await guide();
    const prints = [];
    for (const kind of kinds) prints.push(await guidePdf(id, `?copy=${kind}`));
    expect(prints.map(({ copy, text }) => [copy, text.includes(notValid)])).toEqual([
      ['Original', false],
      ['Duplicado', false],
      ['Triplicado', false],
      ['Cópia', true],
    ]);
    for (const [query, index] of [
      ['', 0],
      ['?isDuplicate=false', 0],
      ['?isDuplicate=true', 1],
      ['?isDuplicate=true&copy=DUPLICATE', 1],
      ['?isDuplicate=false&copy=TRIPLICATE', 2],
      ['?copy=FURTHER', 3],
    ] as const)
      expect([query, sameBytes(await guidePdf(id, query), prints[index]!)]).toEqual([query, true]);
  });

  test('each of the three is given as it was; on another template it is a further one', async () => {
    const id = await guide();
    const look = await own('Outra guia');
    for (const kind of kinds.slice(0, 3)) {
      const first = await guidePdf(id, `?copy=${kind}`);
      const other = await guidePdf(id, `?copy=${kind}&templateId=${look}`);
      expect([kind, other.copy, other.text.includes(notValid)]).toEqual([kind, 'Cópia', true]);
      expect(sameBytes(await guidePdf(id, `?copy=${kind}`), first)).toBe(true);
    }
    const further = await guidePdf(id, `?copy=FURTHER&templateId=${look}`);
    expect(sameBytes(further, await guidePdf(id, `?templateId=${look}`))).toBe(true);
  });

  /** One that the AT does not have; and what makes it known there. */
  async function untold(): Promise<readonly [id: string, tell: () => Promise<void>]> {
    await service.control('PUT', '/__fault', { kind: 'refused' });
    const { id } = await A.issueTransport(await A.transport());
    const tell = async () => {
      await service.control('DELETE', '/__fault');
      await service.setClock(new Date(service.now().getTime() + 600_000));
      await accepted(id);
    };
    return [id, tell];
  }
  const says = ({ copy, text }: Print) => [
    copy,
    ...['Código AT', 'ANULADO', notValid].map((one) => text.includes(one)),
  ];

  test('with the code of the AT the three are printed anew; cancelled they are further ones', async () => {
    const [id, tell] = await untold();
    expect(says(await guidePdf(id))).toEqual(['Original', false, false, false]);
    await tell();
    const coded = await guidePdf(id);
    expect(says(coded)).toEqual(['Original', true, false, false]);
    expect(sameBytes(await guidePdf(id), coded)).toBe(true);
    await cancel(`/transport-documents/${id}`);
    expect(says(await guidePdf(id))).toEqual(['Cópia', true, true, true]);
  });

  test('what is cancelled before its code has no original with it', async () => {
    const [id, tell] = await untold();
    expect(says(await guidePdf(id))).toEqual(['Original', false, false, false]);
    await cancel(`/transport-documents/${id}`);
    expect(says(await guidePdf(id))).toEqual(['Cópia', false, true, true]);
    expect(says(await guidePdf(id, '?copy=DUPLICATE'))).toEqual(['Duplicado', false, true, false]);
    await tell();
    for (const query of ['', '?copy=DUPLICATE'])
      expect(says(await guidePdf(id, query))).toEqual(['Cópia', true, true, true]);
  });

  test.each([
    ['isDuplicate=true&copy=ORIGINAL', 'COPY_CONTRADICTED'],
    ['isDuplicate=true&copy=TRIPLICATE', 'COPY_CONTRADICTED'],
    ['copy=FURTHER&isDuplicate=true', 'COPY_CONTRADICTED'],
    ['isDuplicate=false&copy=DUPLICATE', 'COPY_CONTRADICTED'],
    ['copy=QUADRUPLICATE', 'INVALID_VALUE'],
    ['copy=original', 'INVALID_VALUE'],
  ])('%s is refused', async (query, code) => {
    const answer = await A.get(`/transport-documents/${await guide()}/pdf?${query}`);
    expect([answer.status, answer.json.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(answer.json.errors?.map((one) => [one.pointer, one.code])).toEqual([['?copy', code]]);
  });
});

test('of books from before, the first original of a document is its original', async () => {
  const [one, other] = [await invoice(), await invoice()];
  const first = await invoicePdf(one);
  const older = await asOlder(one, first);
  // Each paper had an original.
  const onRoll = older.replace('A4', 'RECEIPT');
  await service.owner.query(
    `insert into certo.renditions (company_id, document_id, variant, bytes, seal, created_at)
     select company_id, document_id, $2, bytes, $3, created_at + interval '1 second' from certo.renditions where document_id = $1`,
    [one, onRoll, sealOf(one, onRoll, first)],
  );
  await invoicePdf(other, '?isDuplicate=true');
  // There were no triplicates then.
  const listed = `select variant, exemplar from certo.renditions where variant not like '%.triplicate.%' order by 1, 2`;
  const kept = async () => (await service.owner.query(listed)).rows;
  const before = await kept();
  const migration = readFileSync(new URL('../../src/db/migrations/0035_one_original.sql', import.meta.url), 'utf8');
  const client = await service.owner.connect();
  try {
    await client.query('begin; alter table certo.renditions drop column exemplar');
    await client.query(`${migration}; commit`);
  } finally {
    client.release(true);
  }
  expect(await kept()).toEqual(before);
});
