/** Recovery: documents of printed forms and copies of lost ones, in series of their own. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { summarise } from '../../src/at/line-summary.ts';
import { validate } from '../../src/engine/validate.ts';
import type { Settled } from '../../src/fiscal/document.ts';
import { quotedNumber } from '../../src/fiscal/recovery.ts';
import type { Problem } from '../../src/fiscal/refusal.ts';
import { type Planned, planRecovery } from '../../src/operations/recovery/plan.ts';
import { recoverDocument } from '../../src/operations/recovery/recover.ts';
import { RecoveredBody, recoveryProblems } from '../../src/operations/recovery/recovered-document.ts';
import { type RegisteredSeries, registerSeries } from '../../src/operations/series/registration.ts';
import { eventually } from '../eventually.ts';
import { textOf } from '../golden/print-reading.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { saftOf } from './saft-of.ts';

let service: Service;
let A: TestCompany;
let series: RegisteredSeries;
let customerId: string;
let itemId: string;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'], clock: new Date('2026-03-31T10:00:00Z') });
  ({ A } = service.companies);
  series = await registerSeries(service.world, A.id, { documentType: 'INVOICE', code: 'R2026', kind: 'R' });
  for (const documentType of ['SIMPLIFIED_INVOICE', 'DEBIT_NOTE'] as const) {
    await registerSeries(service.world, A.id, { documentType, code: 'R2026', kind: 'R' });
  }
  customerId = (await A.customer({ name: 'Cliente, SA', taxpayerNumber: '501442600' })).id;
  itemId = (await A.item({ unitPrice: 100 })).id;
  service.startReports();
});
afterAll(() => service.stop());

function body(original: string, over: Partial<RecoveredBody> = {}): RecoveredBody {
  const items = [{ id: itemId, quantity: 1 }];
  return {
    kind: 'M',
    original,
    type: 'INVOICE',
    cae: '62010',
    customerId,
    items,
    date: '2026-03-02',
    total: 123,
    ...over,
  };
}

const fileOf = (documents: readonly RecoveredBody[], digest = JSON.stringify(documents), seriesCode?: string) => ({
  companyId: A.id,
  digest,
  documents,
  seriesCode,
});

async function problemsOf(documents: readonly RecoveredBody[], seriesCode?: string): Promise<string[]> {
  try {
    await planRecovery(service.db, service.app.world, fileOf(documents, 'problems', seriesCode));
    return [];
  } catch (error) {
    return (error as { problems: Problem[] }).problems.map(({ pointer, code }) => `${pointer} ${code}`);
  }
}

async function recover(documents: readonly RecoveredBody[], digest?: string) {
  const file = fileOf(documents, digest);
  const plan = await planRecovery(service.db, service.app.world, file);
  const done = [];
  for (const planned of plan) done.push(await recoverDocument(service.db, service.app.world, file, planned));
  return done;
}

const read = async (id: string) => (await A.get<InvoiceJson>(`/invoices/${id}`)).json;
const lastOf = async () => {
  const { rows } = await service.owner.query('select last_number::int as last from certo.series where id = $1', [
    series.id,
  ]);
  return rows[0].last as number;
};

test('dated as the original, signed now, in order of date whatever the order of the file', async () => {
  const [first, second] = await recover([
    body('abc/00002', { date: '2026-03-05' }),
    body('abc/00001', { date: '2026-03-02' }),
  ]);
  expect([first!.number, second!.number]).toEqual(['FT R2026/1', 'FT R2026/2']);
  const { date, issuedAt, signature, atcud, summary, status } = await read(first!.id);
  expect(date).toBe('2026-03-02T00:00:00.000+00:00');
  expect(issuedAt).toMatch(/^2026-03-31T/);
  expect(signature?.text).toMatch(/^2026-03-02;2026-03-31T\d\d:\d\d:\d\d;FT R2026\/1;123\.00;$/);
  expect(atcud).toBe(`${series.validationCode}-1`);
  expect([summary.total, status]).toEqual([123, 'ISSUED']);
});

test('the AT is told of a form, and not of what it knows by its original number', async () => {
  const [known] = await recover([body('FT A2025/7', { kind: 'D', date: '2026-03-05' })]);
  expect((await read(known!.id)).syncWithAt.status).toBe('NOT_APPLICABLE');
  const { rows } = await service.owner.query(
    `select number from certo.documents where company_id = $1 and recovered_key like 'FTM %' order by sequence`,
    [A.id],
  );
  const told = async () => {
    const { documents } = await service.control<{ documents: { number: string }[] }>(
      'GET',
      `/__ledger?nif=${A.taxpayerNumber}`,
    );
    return documents.map(({ number }) => number);
  };
  await eventually(async () => expect(await told()).toEqual(rows.map(({ number }) => number)));
  const canceled = await A.post<InvoiceJson>(`/invoices/${known!.id}/cancel`);
  expect(canceled.json.syncWithAt.status).toBe('NOT_APPLICABLE');
});

test('F19: the same original a second time is refused, however it is spelled, and changes nothing', async () => {
  const before = await lastOf();
  for (const original of ['abc/00001', 'ABC/1', 'Abc/0001', '\uff41bc/1']) {
    expect(await problemsOf([body(original, { date: '2026-03-06' })])).toEqual([
      '/documents/0/original RECOVERED_ALREADY',
    ]);
  }
  expect(await problemsOf([body('new/1', { date: '2026-03-06' }), body('NEW/01', { date: '2026-03-06' })])).toEqual([
    '/documents/1/original RECOVERED_TWICE',
  ]);
  expect(await lastOf()).toBe(before);
});

test('a copy of a lost document is entered once, whatever type it is entered as', async () => {
  const lost = body('FT L2025/0012', { kind: 'D', date: '2026-03-06' });
  const asSimplified = { ...lost, type: 'SIMPLIFIED_INVOICE' as const, original: 'ft l2025/12', total: 61.5 };
  const half = { ...asSimplified, items: [{ id: itemId, quantity: 0.5 }] };
  expect(await problemsOf([lost, half])).toEqual(['/documents/1/original RECOVERED_TWICE']);
  const [done] = await recover([lost]);
  expect(await problemsOf([half])).toEqual(['/documents/0/original RECOVERED_ALREADY']);
  // Planned before it was there.
  const plan = await planRecovery(service.db, service.app.world, fileOf([{ ...half, original: 'FT L2025/13' }]));
  const other = fileOf([half], 'other');
  const planned: Planned = { ...plan[0]!, key: 'D FT L2025/12' };
  await expect(recoverDocument(service.db, service.app.world, other, planned)).rejects.toMatchObject({
    code: 'RECOVERED_ALREADY',
    facts: { number: done!.number },
  });
});

test('so is one from before, whose key in the books has its type', async () => {
  const lost = body('FT L2024/7', { kind: 'D', date: '2026-03-06' });
  const file = fileOf([lost], 'before');
  const [planned] = await planRecovery(service.db, service.app.world, file);
  const old = { ...planned!, key: 'FTD FT L2024/7' };
  const { number } = await recoverDocument(service.db, service.app.world, file, old);
  expect(await problemsOf([lost])).toEqual(['/documents/0/original RECOVERED_ALREADY']);
  await expect(recoverDocument(service.db, service.app.world, fileOf([lost], 'now'), planned!)).rejects.toMatchObject({
    code: 'RECOVERED_ALREADY',
    facts: { number },
  });
  // The same file may be run again.
  expect((await planRecovery(service.db, service.app.world, file))[0]!.before).toMatchObject({ number });
});

test('also by two at once, in one series or in two', async () => {
  const other = await registerSeries(service.world, A.id, { documentType: 'INVOICE', code: 'R2026-B', kind: 'R' });
  const documents = [body('race/1', { date: '2026-03-06' })];
  const plans = await Promise.all(
    ['one', 'two', 'three'].map(async (digest) => {
      const file = fileOf(documents, digest, 'R2026');
      const [planned] = await planRecovery(service.db, service.app.world, file);
      return { file, planned: planned! };
    }),
  );
  plans[2] = { ...plans[2]!, planned: { ...plans[2]!.planned, seriesId: other.id } };
  const outcomes = await Promise.allSettled(
    plans.map(({ file, planned }) => recoverDocument(service.db, service.app.world, file, planned)),
  );
  const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  expect(refused.map(({ reason }) => reason.code)).toEqual(['RECOVERED_ALREADY', 'RECOVERED_ALREADY']);
  expect(refused.every(({ reason }) => /^FT R2026/.test(reason.facts.number))).toBe(true);
  const { rows } = await service.owner.query(
    `select count(*)::int as n from certo.documents where recovered_key = 'FTM RACE/1' and number is not null`,
  );
  expect(rows[0].n).toBe(1);
  // With two series the operator says which.
  expect(await problemsOf([body('two/1', { date: '2026-03-06' })])).toEqual(['/documents/0/type NO_RECOVERY_SERIES']);
  expect(await problemsOf([body('two/1', { date: '2026-03-06' })], 'r2026-b')).toEqual([]);
  await service.owner.query(`update certo.series set status = 'FINALIZED' where id = $1`, [other.id]);
});

test('a file that broke off goes on where it stopped; run again it changes nothing', async () => {
  const documents = Array.from({ length: 6 }, (_, i) => body(`crash/${i + 1}`, { date: '2026-03-07' }));
  const file = fileOf(documents, 'crash');
  const plan = await planRecovery(service.db, service.app.world, file);
  for (const planned of plan.slice(0, 3)) await recoverDocument(service.db, service.app.world, file, planned);
  const last = await lastOf();
  const again = await planRecovery(service.db, service.app.world, file);
  expect(again.map(({ before }) => before !== undefined)).toEqual([true, true, true, false, false, false]);
  const done = await recover(documents, 'crash');
  expect(await lastOf()).toBe(last + 3);
  expect(done.map(({ before }) => before)).toEqual([true, true, true, false, false, false]);
  // Two runs of the same file side by side: each document once.
  const more = [...documents, body('crash/7', { date: '2026-03-07' })];
  const side = fileOf(more.slice(6), 'side');
  const [planned] = await planRecovery(service.db, service.app.world, side);
  const both = await Promise.all([1, 2].map(() => recoverDocument(service.db, service.app.world, side, planned!)));
  expect(both[0]!.number).toBe(both[1]!.number);
  expect(both.map(({ before }) => before).sort()).toEqual([false, true]);
  expect(await lastOf()).toBe(last + 4);
});

test('a cancelled recovery may be done again', async () => {
  const [wrong] = await recover([body('wrong/1', { date: '2026-03-08' })]);
  expect((await A.post(`/invoices/${wrong!.id}/cancel`)).status).toBe(200);
  const [right] = await recover([body('WRONG/1', { date: '2026-03-08' })]);
  expect(right!.number).not.toBe(wrong!.number);
});

test('everything wrong with a file is told at once, and nothing is written', async () => {
  const before = await lastOf();
  const real = await A.issue(await A.draft());
  expect(
    await problemsOf([
      body('fine/1', { date: '2026-03-09' }),
      body('fine/2', { date: '2026-03-09', total: 122.99 }),
      body('fine/3', { date: '2026-03-01' }),
      body('fine/4', { date: '2026-04-01' }),
      body('fine/5', { date: '2026-03-09', customerId: itemId }),
      body('fine/6', { date: '2026-03-09', type: 'INVOICE_RECEIPT' }),
      body('fine/7', {
        date: '2026-03-09',
        type: 'SIMPLIFIED_INVOICE',
        items: [{ id: itemId, quantity: 2 }],
        total: 246,
      }),
      body('fine/8', { date: '2026-03-09', type: 'DEBIT_NOTE' }),
      body(real.number!.toLowerCase(), { kind: 'D', date: '2026-03-09' }),
      body('fine/10', { date: '0026-03-09', taxPointDate: '2026-03-09' }),
    ]),
  ).toEqual([
    '/documents/1/total RECOVERED_TOTAL',
    '/documents/2 DATE_GOES_BACK',
    '/documents/3 DATE_IN_FUTURE',
    '/documents/4/customerId UNKNOWN_CUSTOMER',
    '/documents/5/type NO_RECOVERY_SERIES',
    '/documents/6 SIMPLIFIED_LIMIT',
    '/documents/7 PARENT_REQUIRED',
    '/documents/8/original RECOVERED_STANDS',
    '/documents/9/date DATE_TOO_EARLY',
  ]);
  expect(await lastOf()).toBe(before);
});

test('a recovery series is for recovery alone: drafts, payments and notes cannot name it', async () => {
  const draft = await A.post('/invoices', {
    type: 'INVOICE',
    cae: '62010',
    customerId,
    items: [{ id: itemId, quantity: 1 }],
    seriesId: series.id,
  });
  expect([draft.status, draft.json.errors?.[0]?.code]).toEqual([400, 'UNKNOWN_SERIES']);
  const listed = await A.get<{ id: string }[]>('/series');
  expect(listed.json.some(({ id }) => id === series.id)).toBe(false);
  const [planned] = await planRecovery(
    service.db,
    service.app.world,
    fileOf([body('other/1', { date: '2026-03-10' })]),
  );
  const elsewhere: Planned = { ...planned!, seriesId: A.series.INVOICE.id };
  await expect(
    recoverDocument(service.db, service.app.world, { companyId: A.id, digest: 'x' }, elsewhere),
  ).rejects.toMatchObject({ code: 'SERIES_NOT_ACTIVE' });
});

test('it is paid, corrected and exported like any other: SAF-T says what it stands for, and notes quote the original', async () => {
  const [one] = await recover([body('note/0042', { date: '2026-03-11' })]);
  const note = await A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId: one!.id, reason: 'Devolução' });
  expect(note.status).toBe(201);
  const debit = await A.draft({ type: 'DEBIT_NOTE', customerId, parentInvoiceId: one!.id, reason: 'Preço' });
  await A.issue(debit);
  const [paid] = await recover([body('paid/1', { date: '2026-03-11' })]);
  expect((await A.post(`/invoices/${paid!.id}/pay`)).status).toBe(200);
  expect((await read(paid!.id)).status).toBe('PAID');

  const { xml: text } = await saftOf(service, A, '2026-03-01', '2026-03-31');
  const of = (number: string) =>
    text.match(/<Invoice>[\s\S]*?<\/Invoice>/g)!.find((xml) => xml.includes(`>${number}<`))!;
  expect(of(one!.number)).toMatch(/<SourceBilling>M<[\s\S]*<HashControl>1-FTM note\/0042</);
  expect(text).toMatch(/<HashControl>1-FTD FT A2025\/7</);
  expect(of(note.json.number!)).toMatch(/<Reference>FTM note\/0042</);
});

test('the AT is told the original too, where a note refers to it', async () => {
  const { rows } = await service.owner.query(
    `select content -> 'parent' ->> 'original' as original from certo.documents
     where company_id = $1 and type in ('CREDIT_NOTE', 'DEBIT_NOTE') and number is not null`,
    [A.id],
  );
  expect(rows.map(({ original }) => original)).toEqual(['FTM note/0042', 'FTM note/0042']);
});

test('a note prints the original that it refers to', async () => {
  const [one] = await recover([body('papel/0007', { date: '2026-03-11' })]);
  const note = (await A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId: one!.id })).json;
  const { url } = (await A.get<{ url: string }>(`/invoices/${note.id}/pdf`)).json;
  const text = await textOf((await service.open(url)).bytes);
  expect(text.replace(/\s+/g, ' ')).toContain('FTM papel/0007');
  expect(text).not.toContain(one!.number);
  expect(note.parentInvoiceNumber).toBe(one!.number);
});

test.each([
  ['a form', 'M', 'quote/0042', 'FTM quote/0042'],
  ['a lost document', 'D', 'FT Q2025/0042', 'FT Q2025/0042'],
] as const)('notes and receipts of %s name it alike, wherever they are read', async (_what, kind, original, quoted) => {
  const items = [{ id: itemId, quantity: 3 }];
  const [one] = await recover([body(original, { kind, date: '2026-03-11', items, total: 369 })]);
  const lineId = (await read(one!.id)).items[0]!.id;
  const note = { parentInvoiceId: one!.id, reason: 'Devolução', items: [{ id: lineId, quantity: 1 }] };
  const credit = (await A.post<InvoiceJson>('/invoices/credit-notes', note)).json;
  const debit = await A.issue(
    await A.draft({ type: 'DEBIT_NOTE', customerId, parentInvoiceId: one!.id, reason: 'Preço' }),
  );
  const { receipt } = (await A.post<{ receipt: { id: string; number: string } }>(`/invoices/${one!.id}/pay`)).json;
  const { xml } = await saftOf(service, A, '2026-03-01', '2026-03-31');
  const of = (number: string) =>
    xml.match(/<(Invoice|Payment)>\n[\s\S]*?<\/\1>/g)!.find((part) => part.includes(`>${number}<`))!;
  expect(/<HashControl>1-(.*)</.exec(of(one!.number))?.[1]).toBe(`FT${kind} ${original}`);
  for (const number of [credit.number!, debit.number!]) expect(/<Reference>(.*)</.exec(of(number))?.[1]).toBe(quoted);
  expect(/<OriginatingON>(.*)</.exec(of(receipt.number))?.[1]).toBe(quoted);
  for (const id of [credit.id, debit.id, receipt.id]) {
    const { rows } = await service.owner.query('select content from certo.documents where id = $1', [id]);
    const { content } = rows[0];
    if (id === receipt.id)
      expect(content.settles.map((part: Settled) => quotedNumber(part.document))).toEqual([quoted]);
    // What the AT is told.
    else expect(new Set(summarise(content, '2026-03-31').map(({ reference }) => reference))).toEqual(new Set([quoted]));
    for (const format of ['A4', 'RECEIPT']) {
      const { url } = (await A.get<{ url: string }>(`/invoices/${id}/pdf?format=${format}`)).json;
      const text = (await textOf((await service.open(url)).bytes)).replace(/\s+/g, ' ');
      expect(text).toContain(quoted);
      expect(text).not.toContain(one!.number);
      expect(text).not.toContain('FTD');
    }
  }
  // Here it has its own number.
  expect([credit.parentInvoiceNumber, (await read(receipt.id)).parentInvoiceNumber]).toEqual([
    one!.number,
    one!.number,
  ]);
});

test('of the longest original SAF-T says all; a longer one is refused with how long it may be', async () => {
  const longest = `${'S'.repeat(51)}/0042`;
  const [one] = await recover([body(longest, { date: '2026-03-11' })]);
  const note = await A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId: one!.id });
  expect(note.status).toBe(201);
  const { xml } = await saftOf(service, A, '2026-03-01', '2026-03-31');
  expect(xml).toContain(`<Reference>FTM ${longest}<`);
  expect(xml).toContain(`<HashControl>1-FTM ${longest}<`);
  const longer = body(`S${longest}`, { date: '2026-03-11' });
  expect(validate(RecoveredBody, longer, 'file')).toEqual([
    { code: 'TOO_LONG', pointer: '/original', facts: { limit: 56 } },
  ]);
  expect(recoveryProblems(longer)).toEqual([]);
  // As SAF-T counts, in characters: these are 58 and 110 units.
  const [formless, widest] = [body('𝔸'.repeat(29)), body(`${'𝔸'.repeat(54)}/1`)];
  for (const one of [formless, widest]) expect(validate(RecoveredBody, one, 'file')).toEqual([]);
  expect(recoveryProblems(formless)).toEqual([
    { code: 'INVALID_FORMAT', pointer: '/original', facts: { format: 'abc/00001' } },
  ]);
  expect(recoveryProblems(widest)).toEqual([]);
});
