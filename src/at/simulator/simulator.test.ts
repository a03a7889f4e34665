// The gateway's real code against the simulator over real TLS: every operation, there and back.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Issued } from '../../fiscal/document.ts';
import type { AtWorld } from '../fixtures/at-world.ts';
import { openAtWorld, registered } from '../fixtures/at-world.ts';
import * as s from '../fixtures/samples.ts';
import { startSimulator } from './simulator.ts';

let world: AtWorld;
beforeAll(async () => {
  world = await openAtWorld();
});
afterAll(() => world.close());

const accepted = { kind: 'done', code: '0', message: 'Operação efetuada com sucesso.' };
const register = (series: string, more = {}) =>
  world.gateway.registerSeries(s.credentials, {
    series,
    documentCode: 'FT',
    firstNumber: 1,
    startDate: '2026-11-21',
    certificateNumber: 9999,
    ...more,
  });

describe('series', () => {
  it('registers, lists, finalises and annuls', async () => {
    const outcome = await register('S1');
    expect(outcome).toMatchObject({
      kind: 'done',
      code: '2001',
      series: { series: 'S1', state: 'A', documentClass: 'SI', firstNumber: '1' },
    });
    if (outcome.kind !== 'done') return;
    const { validationCode } = outcome.series;
    expect(validationCode).toMatch(/^[A-Z0-9]{8}$/);
    const key = { series: 'S1', documentCode: 'FT' as const, validationCode };
    expect(await world.gateway.listSeries(s.credentials, { series: 's1' })).toMatchObject({
      kind: 'done',
      code: '2002',
      series: [{ validationCode }],
    });
    expect(await world.gateway.listSeries(s.credentials, { series: 'none' })).toMatchObject({
      kind: 'done',
      series: [],
    });
    expect(await world.gateway.finalizeSeries(s.credentials, { ...key, lastNumber: 1 })).toMatchObject({
      kind: 'done',
      code: '2004',
    });
    expect(await world.gateway.listSeries(s.credentials, { state: 'F' })).toMatchObject({
      series: [{ series: 'S1', state: 'F', lastNumber: '1' }],
    });
    expect(await world.gateway.finalizeSeries(s.credentials, { ...key, lastNumber: 1 })).toMatchObject({
      kind: 'refused',
      code: '4005',
      reason: 'inspect',
    });
    expect(await world.gateway.annulSeries(s.credentials, key)).toMatchObject({
      kind: 'refused',
      code: '4004',
      reason: 'inspect',
    });
    // A finalised series keeps its identifier for ever.
    expect(await register('S1')).toMatchObject({ kind: 'refused', code: '4001' });
    const other = await registered(world.gateway, 'FT', 'S2');
    expect(
      await world.gateway.annulSeries(s.credentials, { ...key, series: 'S2', validationCode: other }),
    ).toMatchObject({ code: '2003' });
    // An annulled communication frees its identifier; the new one has a code of its own.
    expect(await registered(world.gateway, 'FT', 'S2')).not.toBe(other);
  });

  it('lists active series alone where so many ended that all of them are a longer answer than is read', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'certo-at-'));
    const ended = Array.from({ length: 3_000 }, (_, i) => ({
      nif: '500000000',
      series: `ENDED${i}`,
      kind: 'N',
      documentClass: 'SI',
      documentCode: 'FT',
      firstNumber: 1,
      startDate: '2026-11-21',
      processing: 'PI',
      certificateNumber: '9999',
      validationCode: `AAAA${i + 1000}`,
      registeredOn: '2026-11-21',
      state: 'F',
      stateAt: '2026-11-21T12:00:00',
      lastNumber: 1,
    }));
    const lines = ended.map((series) => `${JSON.stringify({ series })}\n`);
    writeFileSync(join(directory, 'ledger.jsonl'), lines.join(''));
    const old = await openAtWorld({ directory });
    const validationCode = await registered(old.gateway, 'FT', 'LIVE');
    expect(await old.gateway.listSeries(s.credentials, {})).toMatchObject({
      kind: 'unknown',
      problem: 'the reply is too large',
    });
    expect(await old.gateway.listSeries(s.credentials, { state: 'A' })).toMatchObject({
      kind: 'done',
      series: [{ series: 'LIVE', validationCode }],
    });
    await old.close();
    rmSync(directory, { recursive: true });
  });

  it('refuses doubles whatever the case, and wrong facts', async () => {
    await registered(world.gateway, 'FT', 'Dup');
    expect(await register('DUP')).toMatchObject({ kind: 'refused', code: '4001', reason: 'inspect' });
    expect(await register('DUP', { documentCode: 'NC' })).toMatchObject({ kind: 'done' });
    expect(await register('ATX')).toMatchObject({ kind: 'refused', code: '4003', reason: 'data' });
    expect(await register('S/1')).toMatchObject({ code: '4003' });
    expect(await register('S3', { startDate: '2026-11-20' })).toMatchObject({
      kind: 'refused',
      code: '4049',
      reason: 'data',
    });
    expect(await register('S3', { kind: 'X' })).toMatchObject({ code: '4003' });
    expect(
      await world.gateway.listSeries(s.credentials, { registeredFrom: '2026-12-01', registeredTo: '2026-11-01' }),
    ).toMatchObject({ code: '4048' });
  });

  it('annuls and finalises only what fits the documents', async () => {
    const validationCode = await registered(world.gateway, 'FT', 'Used');
    const key = { series: 'Used', documentCode: 'FT' as const, validationCode };
    const place = { series: 'Used', validationCode, sequence: 2 };
    expect(await world.gateway.reportInvoice(s.credentials, s.sales('INVOICE', {}, place))).toMatchObject(accepted);
    expect(await world.gateway.annulSeries(s.credentials, key)).toMatchObject({ code: '4004' });
    expect(await world.gateway.finalizeSeries(s.credentials, { ...key, lastNumber: 1 })).toMatchObject({
      code: '4005',
    });
    const ledger = (await world.control('GET', '/__ledger?nif=500000000')) as {
      series: { series: string; gaps: unknown; highest: number }[];
    };
    expect(ledger.series.find((e) => e.series === 'Used')).toMatchObject({ highest: 2, documents: 1, gaps: [[1, 1]] });
    expect(await world.gateway.finalizeSeries(s.credentials, { ...key, lastNumber: 2 })).toMatchObject({
      code: '2004',
    });
    // What was issued before the end may still be told; what comes after may not.
    expect(
      await world.gateway.reportInvoice(s.credentials, s.sales('INVOICE', {}, { ...place, sequence: 1 })),
    ).toMatchObject(accepted);
    expect(
      await world.gateway.reportInvoice(s.credentials, s.sales('INVOICE', {}, { ...place, sequence: 3 })),
    ).toMatchObject({ kind: 'refused', code: '-1', reason: 'data' });
  });
});

describe('invoices', () => {
  it.each(['INVOICE', 'SIMPLIFIED_INVOICE', 'INVOICE_RECEIPT', 'CREDIT_NOTE', 'DEBIT_NOTE'] as const)(
    '%s, again, cancelled, again',
    async (type) => {
      const report = s.sales(type);
      const code = report.issued.number.slice(0, 2) as 'FT';
      const validationCode = await registered(world.gateway, code, `I${code}`);
      const place = { series: `I${code}`, validationCode };
      const placed = s.sales(type, {}, place);
      expect(await world.gateway.reportInvoice(s.credentials, placed)).toMatchObject(accepted);
      expect(await world.gateway.reportInvoice(s.credentials, placed)).toMatchObject({ kind: 'done', code: '-10' });
      expect(await world.gateway.reportInvoice(s.credentials, { ...placed, status: 'A' })).toMatchObject({
        kind: 'refused',
        code: '-2',
        reason: 'inspect',
      });
      const cancel = s.change(type, 'A', place);
      expect(await world.gateway.changeInvoiceStatus(s.credentials, cancel)).toMatchObject(accepted);
      expect(await world.gateway.changeInvoiceStatus(s.credentials, cancel)).toMatchObject({
        kind: 'refused',
        code: '-12',
        reason: 'data',
      });
      expect(await world.gateway.changeInvoiceStatus(s.credentials, { ...cancel, resent: true })).toMatchObject({
        kind: 'done',
        code: '-12',
      });
      const ledger = (await world.control(
        'GET',
        `/__ledger?nif=500000000&number=${encodeURIComponent(placed.issued.number)}`,
      )) as { documents: object[] };
      expect(ledger.documents).toMatchObject([
        { number: placed.issued.number, status: 'A', history: [{ status: 'N' }, { status: 'A' }] },
      ]);
    },
  );

  it('tells other values, unknown series and wrong numbers apart', async () => {
    const validationCode = await registered(world.gateway, 'FT', 'V');
    const place = { series: 'V', validationCode };
    const report = s.sales('INVOICE', {}, place);
    const send = (more: object, issued: object = {}) =>
      world.gateway.reportInvoice(s.credentials, { ...report, ...more, issued: { ...report.issued, ...issued } });
    expect(await send({})).toMatchObject(accepted);
    expect(await send({ content: s.content('INVOICE', { input: [s.line('1')] }) })).toMatchObject({
      kind: 'refused',
      code: '-3',
      reason: 'inspect',
    });
    expect(await send({}, { number: 'FT V/2', atcud: 'ZZZZZZZZ-2' })).toMatchObject({ code: '-1', reason: 'data' });
    expect(await send({}, { number: 'FT V/2', atcud: `${validationCode}-3` })).toMatchObject({ code: '-1' });
    expect(await send({}, { number: 'FT W/2', atcud: `${validationCode}-2` })).toMatchObject({ code: '-1' });
    expect(await send({}, { number: 'FT V/2', atcud: `${validationCode}-2`, date: '2026-11-22' })).toMatchObject({
      code: '-4',
    });
    expect(
      await send({}, { number: 'FT V/2', atcud: `${validationCode}-2`, systemEntry: '2026-11-21T12:06:00' }),
    ).toMatchObject({ code: '-4' });
    expect(
      await send({ statusDate: '2026-11-21T12:06:00' }, { number: 'FT V/2', atcud: `${validationCode}-2` }),
    ).toMatchObject({ code: '-6' });
    expect(
      await send({}, { number: 'FT V/2', atcud: `${validationCode}-2`, certificateNumber: 0, shortHash: 'abcd' }),
    ).toMatchObject(accepted);
    const invoice = s.sales('SIMPLIFIED_INVOICE', {}, place);
    expect(
      await world.gateway.reportInvoice(s.credentials, {
        ...invoice,
        issued: { ...invoice.issued, number: 'FT V/4', atcud: `${validationCode}-4` },
      }),
    ).toMatchObject({ code: '-5' });
    expect(
      await world.gateway.changeInvoiceStatus(s.credentials, s.change('INVOICE', 'A', { ...place, sequence: 9 })),
    ).toMatchObject({ code: '-11', reason: 'inspect' });
    const changed = s.change('INVOICE', 'A', place);
    expect(
      await world.gateway.changeInvoiceStatus(s.credentials, {
        ...changed,
        issued: { ...changed.issued, date: '2026-11-20' },
      }),
    ).toMatchObject({ code: '-31' });
  });

  it('finds totals that do not tie, missing exemption codes and notes without reference', async () => {
    const validationCode = await registered(world.gateway, 'FT', 'T');
    const content = s.content('INVOICE');
    const send = (changed: object) =>
      world.gateway.reportInvoice(
        s.credentials,
        s.sales('INVOICE', { content: { ...content, ...changed } }, { series: 'T', validationCode }),
      );
    expect(await send({ books: { ...content.books, tax: '9.99' } })).toMatchObject({
      kind: 'refused',
      code: '-7',
      reason: 'data',
    });
    expect(await send({ books: { ...content.books, gross: '1.00' } })).toMatchObject({ code: '-7' });
    const off = { ...content.books, tax: '10.63', gross: '272.30' };
    expect(await send({ books: off })).toMatchObject({ code: '-7' });
    const withoutCode = content.lines.map((line) => ({ ...line, exemptionCode: undefined }));
    expect(await send({ lines: withoutCode })).toMatchObject({ code: '-8' });
    const ended = content.lines.map((line) => ({
      ...line,
      exemptionCode: line.exemptionCode === 'M07' ? 'M26' : line.exemptionCode,
    }));
    expect(await send({ lines: ended })).toMatchObject({ code: '-8' });
    expect(await send({ customer: { ...s.business, taxpayerNumber: '511234561' } })).toMatchObject({ code: '-28' });
    const code = await registered(world.gateway, 'NC', 'T');
    const note = s.sales('CREDIT_NOTE', { content: s.content('CREDIT_NOTE') }, { series: 'T', validationCode: code });
    expect(await world.gateway.reportInvoice(s.credentials, note)).toMatchObject({ code: '-50' });
    expect(await send({})).toMatchObject(accepted);
  });

  it('takes only documents of its own taxpayer', async () => {
    const validationCode = await registered(world.gateway, 'FT', 'N');
    const report = s.sales('INVOICE', {}, { series: 'N', validationCode });
    const others = { ...report, content: { ...report.content, issuer: { ...s.issuer, taxpayerNumber: '511234562' } } };
    expect(await world.gateway.reportInvoice(s.credentials, others)).toMatchObject({
      kind: 'refused',
      code: '-16',
      reason: 'configuration',
    });
  });
});

describe('working documents, receipts, transport', () => {
  it('pro forma: reported, billed, never changed again', async () => {
    const validationCode = await registered(world.gateway, 'PF');
    const place = { validationCode };
    const report = s.sales('PROFORMA', { eac: '10711' }, place);
    expect(await world.gateway.reportWork(s.credentials, report)).toMatchObject(accepted);
    expect(await world.gateway.reportWork(s.credentials, report)).toMatchObject({ kind: 'done', code: '-22' });
    const billed = s.change('PROFORMA', 'F', place);
    expect(
      await world.gateway.changeWorkStatus(s.credentials, { ...billed, statusDate: '2026-11-21T09:00:00' }),
    ).toMatchObject({ code: '-43' });
    expect(await world.gateway.changeWorkStatus(s.credentials, billed)).toMatchObject(accepted);
    expect(await world.gateway.changeWorkStatus(s.credentials, { ...billed, status: 'A' })).toMatchObject({
      code: '-37',
      reason: 'data',
    });
    expect(await world.gateway.changeWorkStatus(s.credentials, { ...billed, resent: true })).toMatchObject({
      kind: 'done',
      code: '-37',
    });
    expect(
      await world.gateway.changeWorkStatus(s.credentials, s.change('PROFORMA', 'F', { ...place, sequence: 5 })),
    ).toMatchObject({ code: '-19' });
  });

  it('cash VAT receipt', async () => {
    const validationCode = await registered(world.gateway, 'RC');
    const report = s.payment({ validationCode });
    expect(await world.gateway.reportPayment(s.credentials, report)).toMatchObject(accepted);
    expect(await world.gateway.reportPayment(s.credentials, report)).toMatchObject({ kind: 'done', code: '-25' });
    const wrong = {
      ...s.payment({ validationCode, sequence: 2 }),
      totals: { net: '110.00', tax: '5.00', gross: '115.00' },
    };
    expect(await world.gateway.reportPayment(s.credentials, wrong)).toMatchObject({ code: '-23' });
    const cancel = { ...report, status: 'A' as const, statusDate: '2026-11-21T11:00:00' };
    expect(await world.gateway.changePaymentStatus(s.credentials, cancel)).toMatchObject(accepted);
    const again = { ...cancel, resent: true };
    expect(await world.gateway.changePaymentStatus(s.credentials, again)).toMatchObject({ kind: 'done', code: '-26' });
    expect(await world.gateway.changePaymentStatus(s.credentials, cancel)).toMatchObject({ kind: 'refused' });
  });

  it('transport: code of the AT, late, twice, cancelled before the start only', async () => {
    const validationCode = await registered(world.gateway, 'GR');
    const place = { validationCode };
    const report = s.transport({}, place);
    const outcome = await world.gateway.reportTransport(s.credentials, report);
    expect(outcome).toMatchObject({ kind: 'done', code: '0', atDocCode: expect.stringMatching(/^\d{10}$/) });
    const atDocCode = outcome.kind === 'done' ? outcome.atDocCode : undefined;
    expect(await world.gateway.reportTransport(s.credentials, report)).toMatchObject({
      kind: 'refused',
      code: '-3',
      reason: 'inspect',
    });
    const resent = await world.gateway.reportTransport(s.credentials, { ...report, resent: true });
    expect(resent).toMatchObject({ kind: 'done', code: '-3' });
    expect(resent).not.toHaveProperty('atDocCode', atDocCode);

    const late = s.transport({ start: '2026-11-21T11:00:00' }, { ...place, sequence: 2 });
    const warned = await world.gateway.reportTransport(s.credentials, late);
    expect(warned).toMatchObject({ kind: 'done', code: '-100', atDocCode: expect.any(String) });
    const lateCode = warned.kind === 'done' ? warned.atDocCode : undefined;
    expect(
      await world.gateway.reportTransport(s.credentials, { ...late, status: 'A', atDocCode: lateCode }),
    ).toMatchObject({ code: '-13', reason: 'data' });

    expect(
      await world.gateway.reportTransport(s.credentials, { ...report, status: 'A', atDocCode: '1' }),
    ).toMatchObject({ code: '-8' });
    const cancel = { ...report, status: 'A' as const, atDocCode };
    expect(await world.gateway.reportTransport(s.credentials, cancel)).toMatchObject({
      kind: 'done',
      code: '0',
      atDocCode,
    });
    expect(await world.gateway.reportTransport(s.credentials, cancel)).toMatchObject({ kind: 'refused', code: '-4' });
    expect(await world.gateway.reportTransport(s.credentials, { ...cancel, resent: true })).toMatchObject({
      kind: 'done',
      code: '-4',
    });

    const far = { ...place, sequence: 3 };
    expect(
      await world.gateway.reportTransport(s.credentials, s.transport({ start: '2027-03-21T11:00:00' }, far)),
    ).toMatchObject({ code: '-21' });
    expect(
      await world.gateway.reportTransport(s.credentials, s.transport({ start: '2026-08-01T11:00:00' }, far)),
    ).toMatchObject({ code: '-17' });
    expect(
      await world.gateway.reportTransport(s.credentials, s.transport({}, { ...far, validationCode: 'ZZZZZZZZ' })),
    ).toMatchObject({ code: '-23' });
    expect(
      await world.gateway.reportTransport(s.credentials, s.transport({}, { ...far, series: 'other' })),
    ).toMatchObject({ code: '-20007' });
    const others = { ...report, content: { ...report.content, issuer: { ...s.issuer, taxpayerNumber: '511234562' } } };
    expect(await world.gateway.reportTransport(s.credentials, others)).toMatchObject({
      code: '-7',
      reason: 'configuration',
    });
  });
});

describe('the first day of a series', () => {
  const dated = <T extends { readonly issued: Issued }>(report: T, date: string): T => ({
    ...report,
    issued: { ...report.issued, date },
  });
  const placeIn = async (series: string, documentCode: string, kind = 'N') => {
    const outcome = await register(series, { documentCode, kind });
    if (outcome.kind !== 'done') throw new Error(`not registered: ${JSON.stringify(outcome)}`);
    return { series, validationCode: outcome.series.validationCode };
  };

  it('no document is dated before it', async () => {
    const { gateway } = world;
    const invoice = s.sales('INVOICE', {}, await placeIn('START', 'FT'));
    expect(await gateway.reportInvoice(s.credentials, dated(invoice, '2026-11-20'))).toMatchObject({
      code: '-4',
      reason: 'data',
    });
    expect(await gateway.reportInvoice(s.credentials, invoice)).toMatchObject(accepted);
    const work = s.sales('PROFORMA', {}, await placeIn('START', 'PF'));
    expect(await gateway.reportWork(s.credentials, dated(work, '2026-11-20'))).toMatchObject({
      code: '-21',
      reason: 'data',
    });
    const payment = s.payment(await placeIn('START', 'RC'));
    expect(await gateway.reportPayment(s.credentials, dated(payment, '2026-11-20'))).toMatchObject({
      code: '-24',
      reason: 'data',
    });
    const transport = s.transport({}, await placeIn('START', 'GR'));
    expect(await gateway.reportTransport(s.credentials, dated(transport, '2026-11-20'))).toMatchObject({
      code: '-20006',
      reason: 'data',
    });
  });

  it('what is recovered is older than its series', async () => {
    const recovered = s.sales('INVOICE', {}, await placeIn('OLDER', 'FT', 'R'));
    expect(await world.gateway.reportInvoice(s.credentials, dated(recovered, '2023-11-20'))).toMatchObject(accepted);
  });

  it('in the first hour of a day it is the day before on the Azores', async () => {
    const noon = world.clock;
    world.clock = new Date('2026-11-21T00:30:00Z');
    const place = await placeIn('ISLANDS', 'FT');
    world.clock = noon;
    const report = s.sales('INVOICE', {}, place);
    const send = (date: string) => world.gateway.reportInvoice(s.credentials, dated(report, date));
    expect(await send('2026-11-19')).toMatchObject({ code: '-4' });
    expect(await send('2026-11-20')).toMatchObject(accepted);
  });
});

describe('the simulator itself', () => {
  it('keeps its files to itself and its ledger over a restart', async () => {
    const validationCode = await registered(world.gateway, 'FT', 'Keep');
    const place = { series: 'Keep', validationCode };
    await world.gateway.reportInvoice(s.credentials, s.sales('INVOICE', {}, place));
    const keys = join(world.directory, 'keys');
    expect(statSync(keys).mode & 0o777).toBe(0o700);
    for (const name of ['server.key', 'client.key', 'at-private.key'])
      expect(statSync(join(keys, name)).mode & 0o777).toBe(0o600);
    expect(statSync(join(world.directory, 'ledger.jsonl')).mode & 0o777).toBe(0o600);

    const first = await openAtWorld();
    const code = await registered(first.gateway, 'FT', 'Keep');
    const report = s.sales('INVOICE', {}, { series: 'Keep', validationCode: code });
    await first.gateway.reportInvoice(s.credentials, report);
    await first.gateway.changeInvoiceStatus(
      s.credentials,
      s.change('INVOICE', 'A', { series: 'Keep', validationCode: code }),
    );
    const before = await first.control('GET', '/__ledger');
    const { directory } = first;
    await first.simulator.close();
    // A crash in the middle of a line.
    const ledgerFile = join(directory, 'ledger.jsonl');
    appendFileSync(ledgerFile, '{"document":{"nif":"5000');
    const second = await openAtWorld({ directory });
    expect(await second.control('GET', '/__ledger')).toEqual(before);
    expect(await second.gateway.reportInvoice(s.credentials, report)).toMatchObject({ kind: 'done', code: '-10' });
    await second.gateway.reportInvoice(
      s.credentials,
      s.sales('INVOICE', {}, { series: 'Keep', validationCode: code, sequence: 2 }),
    );
    expect(
      readFileSync(ledgerFile, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toHaveLength(4);
    await second.close();
    first.gateway.close();
    expect(existsSync(directory)).toBe(true);
    rmSync(directory, { recursive: true });
  });

  it('gives the same validation codes for the same seed', async () => {
    const [one, two] = await Promise.all([openAtWorld({ seed: 'x' }), openAtWorld({ seed: 'x' })]);
    expect(await registered(one.gateway, 'FT')).toBe(await registered(two.gateway, 'FT'));
    expect(await registered(one.gateway, 'NC')).not.toBe(await registered(two.gateway, 'FS'));
    await Promise.all([one.close(), two.close()]);
  });

  it('says that a port is taken, and leaves nothing open', async () => {
    const taken = Number(new URL(world.simulator.url).port);
    const directory = mkdtempSync(join(tmpdir(), 'certo-taken-'));
    const more = { directory, now: () => world.clock, random: Math.random };
    await expect(startSimulator({ ...more, port: taken, controlPort: 0 })).rejects.toThrow(/EADDRINUSE/);
    const control = Number(new URL(world.simulator.controlUrl).port);
    await expect(startSimulator({ ...more, port: 0, controlPort: control })).rejects.toThrow(/EADDRINUSE/);
    const third = await startSimulator({ ...more, port: 0, controlPort: 0 });
    await third.close();
    await third.close();
    rmSync(directory, { recursive: true });
  });

  it('logs outcomes without passwords', async () => {
    await world.gateway.listSeries({ ...s.credentials, password: 'hunter2-hunter2' }, {});
    const log = await world.control('GET', '/__log?limit=1');
    expect(log).toMatchObject([{ operation: 'listSeries', username: '500000000/1', code: '2002' }]);
    expect(JSON.stringify(await world.control('GET', '/__log?limit=1000'))).not.toContain('hunter2');
  });

  it('answers only this machine, and no web page', async () => {
    const { controlUrl } = world.simulator;
    expect((await fetch(`${controlUrl}/__health`)).status).toBe(200);
    expect((await fetch(`${controlUrl}/__health`, { headers: { Origin: 'https://evil.example' } })).status).toBe(403);
    expect((await fetch(`${controlUrl}/nowhere`)).status).toBe(404);
    for (const wrong of [
      {},
      { kind: 'nonsense' },
      { kind: 'html', count: 0 },
      { kind: 'reset', operation: 'reportWork' },
      { kind: 'html', more: 1 },
      [],
    ]) {
      expect(await world.control('PUT', '/__fault', wrong)).toHaveProperty('error');
    }
  });
});
