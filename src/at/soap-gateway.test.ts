// Every fault the simulator can play, against the real client: the right outcome, though nothing comes, in bounded memory.

import { readFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../test/eventually.ts';
import type { AtWorld } from './fixtures/at-world.ts';
import { openAtWorld, registered } from './fixtures/at-world.ts';
import * as s from './fixtures/samples.ts';
import type { AtGateway, Operation, Outcome } from './gateway.ts';
import { calls_at_once, operations } from './gateway.ts';
import { connectionFaults, requestFaults } from './simulator/faults.ts';
import type { SoapGateway } from './soap-gateway.ts';

/** For what hangs; everything else gets ten seconds, which only a machine under great load needs. */
const deadline = 1_500;
/** An answer that is this late never comes: the test would have failed by then. */
const never = 3_600_000;
const hanging = ['silent-connection', 'no-answer', 'no-answer-after', 'slow', 'drip'];
let world: AtWorld;
let sequence = 0;
let invoiceCode = '';
beforeAll(async () => {
  world = await openAtWorld();
  invoiceCode = await registered(world.gateway, 'FT');
});
afterEach(() => world.control('DELETE', '/__fault'));
afterAll(() => world.close());

const nextInvoice = () => {
  sequence += 1;
  return s.sales('INVOICE', {}, { validationCode: invoiceCode, sequence });
};

const key = { series: 'B2026', documentCode: 'FT' as const, validationCode: 'CSDF7T5H' };
/** A call of each operation; what it names need not exist, since the fault answers. */
const calls: Record<Operation, (gateway: AtGateway, signal?: AbortSignal) => Promise<Outcome>> = {
  registerSeries: (g, signal) =>
    g.registerSeries(
      s.credentials,
      {
        series: `X${++sequence}`,
        documentCode: 'FT',
        firstNumber: 1,
        startDate: '2026-11-21',
        certificateNumber: 9999,
      },
      { signal },
    ),
  finalizeSeries: (g, signal) => g.finalizeSeries(s.credentials, { ...key, lastNumber: 1 }, { signal }),
  annulSeries: (g, signal) => g.annulSeries(s.credentials, key, { signal }),
  listSeries: (g, signal) => g.listSeries(s.credentials, { series: 'A2026' }, { signal }),
  reportInvoice: (g, signal) => g.reportInvoice(s.credentials, nextInvoice(), { signal }),
  changeInvoiceStatus: (g, signal) => g.changeInvoiceStatus(s.credentials, s.change('INVOICE', 'A'), { signal }),
  reportWork: (g, signal) => g.reportWork(s.credentials, s.sales('PROFORMA'), { signal }),
  changeWorkStatus: (g, signal) => g.changeWorkStatus(s.credentials, s.change('PROFORMA', 'F'), { signal }),
  reportPayment: (g, signal) => g.reportPayment(s.credentials, s.payment(), { signal }),
  changePaymentStatus: (g, signal) => g.changePaymentStatus(s.credentials, s.change('RECEIPT', 'A'), { signal }),
  reportTransport: (g, signal) => g.reportTransport(s.credentials, s.transport(), { signal }),
};

/** A gateway for one kind of fault. What hangs gets a short deadline, and connections made before: a handshake on a
 * loaded machine must not use the deadline up. */
async function gatewayFor(kind: string): Promise<SoapGateway> {
  if (!hanging.includes(kind)) return world.gatewayWith({ maxConnections: 16 });
  const gateway = world.gatewayWith({ maxConnections: 16, deadlineMilliseconds: deadline });
  // Not for what happens when a connection begins: there it must be a new one.
  for (let tries = 0; tries < 20 && kind in requestFaults; tries += 1) {
    const outcomes = await Promise.all(operations.map(() => calls.listSeries(gateway)));
    if (outcomes.every((outcome) => outcome.kind === 'done')) break;
  }
  return gateway;
}

/** Faults that leave the outcome open, with the sentence the operator reads. */
const open: Record<string, RegExp> = {
  refused: /refused the connection/,
  reset: /closed the connection|connection to the AT failed/,
  closed: /closed the connection|connection to the AT failed/,
  'not-tls': /^TLS/,
  'wrong-certificate': /^TLS/,
  'expired-certificate': /^TLS with the AT failed \(CERT_HAS_EXPIRED\)/,
  'unknown-authority': /^TLS with the AT failed \((?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)\)/,
  'silent-connection': /in time/,
  'no-answer': /in time/,
  'no-answer-after': /in time/,
  slow: /in time/,
  'reset-before': /closed the connection/,
  'reset-after': /closed the connection/,
  truncated: /ended early/,
  'truncated-xml': /not well-formed/,
  'http-500': /HTTP 500/,
  'http-503': /HTTP 503/,
  'http-503-after': /HTTP 503/,
  'wrong-status': /HTTP 500/,
  html: /something else than XML/,
  'malformed-xml': /not well-formed/,
  xxe: /not well-formed/,
  'billion-laughs': /not well-formed/,
  'deep-xml': /not well-formed/,
  huge: /too large/,
  endless: /too large/,
  'endless-headers': /not answer in HTTP/,
  drip: /in time/,
  'soap-fault': /SOAP fault/,
  'key-repeated': /code 1[23]/,
  'clock-apart': /code 1[01]/,
  'system-error': /try again later/,
  'other-document': /not an answer to this call/,
  'other-operation': /not an answer to this call/,
  'wrong-content-type': /something else than XML/,
  redirect: /redirects/,
  'gzip-bomb': /compressed/,
  'empty-body': /not well-formed/,
  'no-content': /HTTP 204/,
  'other-encoding': /not valid UTF-8|not well-formed/,
  'broken-encoding': /not valid UTF-8/,
  'two-lengths': /not answer in HTTP/,
  'bad-framing': /not answer in HTTP/,
  'not-http': /not answer in HTTP/,
};
const answered = ['wrong-credentials', 'series-unknown', 'document-refused', 'already-registered', 'two-replies'];

describe('faults', () => {
  it('the tables of this test are complete', () => {
    expect(Object.keys(open).concat(answered).sort()).toEqual(
      Object.keys({ ...connectionFaults, ...requestFaults }).sort(),
    );
    expect(Object.keys(open).length + answered.length).toBeGreaterThanOrEqual(24);
  });

  it.each(Object.entries(open))('%s leaves every operation unknown', async (kind, sentence) => {
    const gateway = await gatewayFor(kind);
    await world.control('PUT', '/__fault', { kind, ...(kind === 'slow' ? { milliseconds: never } : {}) });
    await Promise.all(
      operations.map(async (operation) => {
        const outcome = await calls[operation](gateway);
        // A list has no document: an empty list, or one of another series, still must not pass for an answer.
        expect({ operation, ...outcome }).toMatchObject({
          operation,
          kind: 'unknown',
          problem: expect.stringMatching(sentence),
        });
        const before = kind in connectionFaults;
        if (outcome.kind === 'unknown') expect(outcome.sent).toBe(!before);
      }),
    );
    gateway.close();
  });

  it('answers of the AT decide', async () => {
    const play = async (kind: string) => {
      await world.control('DELETE', '/__fault');
      await world.control('PUT', '/__fault', { kind });
    };
    await play('wrong-credentials');
    for (const operation of operations)
      expect(await calls[operation](world.gateway)).toMatchObject({
        kind: 'refused',
        reason: 'credentials',
        code: '99',
      });
    await play('document-refused');
    for (const operation of operations.filter((o) => !o.endsWith('Series'))) {
      expect(await calls[operation](world.gateway)).toMatchObject({ kind: 'refused', reason: 'data' });
    }
    await play('series-unknown');
    expect(await calls.reportInvoice(world.gateway)).toMatchObject({ kind: 'refused', reason: 'data', code: '-1' });
    expect(await calls.reportTransport(world.gateway)).toMatchObject({ kind: 'refused', reason: 'data', code: '-23' });
    await play('already-registered');
    expect(await calls.reportInvoice(world.gateway)).toMatchObject({ kind: 'done', code: '-10' });
    expect(await calls.registerSeries(world.gateway)).toMatchObject({
      kind: 'refused',
      code: '4001',
      reason: 'inspect',
    });
  });

  it.each(Object.keys({ ...connectionFaults, ...requestFaults }))(
    'after %s a second try ends with exactly one document',
    async (kind) => {
      const report = nextInvoice();
      const milliseconds = kind === 'slow' ? never : undefined;
      const gateway = await gatewayFor(kind);
      await world.control('PUT', '/__fault', kind === 'refused' ? { kind } : { kind, milliseconds, count: 1 });
      const first = await gateway.reportInvoice(s.credentials, report);
      await world.control('DELETE', '/__fault');
      if (first.kind === 'unknown') {
        const again = await gateway.reportInvoice(s.credentials, { ...report, resent: first.sent });
        expect(again).toMatchObject({ kind: 'done', code: expect.stringMatching(/^(?:0|-10)$/) });
        // Carried out before the fault means that the second try finds it there.
        if (kind in requestFaults)
          expect(again).toHaveProperty('code', requestFaults[kind as keyof typeof requestFaults] ? '-10' : '0');
        const { documents } = (await world.control(
          'GET',
          `/__ledger?number=${encodeURIComponent(report.issued.number)}`,
        )) as { documents: object[] };
        expect(documents).toHaveLength(1);
      } else expect(answered).toContain(kind);
    },
  );
});

/** The calls that the simulator has seen begin. */
const told = async () => ((await world.control('GET', '/__log?limit=1000')) as object[]).length;

describe('bounds', () => {
  it('a flood of huge replies does not fill memory', async () => {
    await world.control('PUT', '/__fault', { kind: 'huge' });
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 10; round += 1) await calls.listSeries(world.gateway);
    // 1 GB would have come in; server and client share this process.
    expect(process.memoryUsage().rss - before).toBeLessThan(150 << 20);
  });

  it('a slow answer within the deadline is an answer; one signal gives a call up at once', async () => {
    await world.control('PUT', '/__fault', { kind: 'slow', milliseconds: 100 });
    expect(await calls.reportInvoice(world.gateway)).toMatchObject({ kind: 'done' });
    await world.control('PUT', '/__fault', { kind: 'slow', milliseconds: never });
    const before = await told();
    const given = new AbortController();
    const underWay = calls.reportInvoice(world.gateway, given.signal);
    await eventually(async () => expect(await told()).toBe(before + 1));
    given.abort();
    expect(await underWay).toMatchObject({ kind: 'unknown', problem: 'given up', sent: true });
    expect(await calls.reportInvoice(world.gateway, AbortSignal.abort())).toEqual({
      kind: 'unknown',
      problem: 'given up',
      sent: false,
    });
  });

  it('a closed gateway gives up the call under way as its own doing, and makes no other', async () => {
    await world.control('PUT', '/__fault', { kind: 'slow', milliseconds: never });
    const gateway = world.gatewayWith({});
    const before = await told();
    const underWay = calls.reportInvoice(gateway);
    await eventually(async () => expect(await told()).toBe(before + 1));
    gateway.close();
    expect(await underWay).toEqual({ kind: 'unknown', problem: 'this program hung up', sent: true });
    await world.control('DELETE', '/__fault');
    expect(await calls.reportInvoice(gateway)).toEqual({
      kind: 'unknown',
      problem: 'this program hung up',
      sent: false,
    });
    expect(await told()).toBe(before + 1);
  });

  it('waiting for a free connection counts against the deadline', async () => {
    await world.control('PUT', '/__fault', { kind: 'no-answer', operation: 'listSeries' });
    const gateway = world.gatewayWith({ maxConnections: 1, deadlineMilliseconds: deadline });
    const [hung, waiting] = await Promise.all([calls.listSeries(gateway), calls.listSeries(gateway)]);
    expect(hung).toMatchObject({ kind: 'unknown', sent: true });
    // Its time was over when the connection became free.
    expect(waiting).toMatchObject({ kind: 'unknown', sent: false });
  });

  it('as many calls as the clock makes at once do not wait for each other', async () => {
    await world.control('PUT', '/__fault', { kind: 'no-answer', operation: 'reportInvoice' });
    const gateway = world.gatewayWith({});
    const patience = new AbortController();
    const hung = Array.from({ length: calls_at_once.reports }, () => calls.reportInvoice(gateway, patience.signal));
    const answered = await Promise.all(
      Array.from({ length: calls_at_once.series }, () => calls.listSeries(gateway, patience.signal)),
    );
    expect(answered.map(({ kind }) => kind)).toEqual(answered.map(() => 'done'));
    patience.abort();
    expect((await Promise.all(hung)).map(({ kind }) => kind)).toEqual(hung.map(() => 'unknown'));
    gateway.close();
  });

  it('a call that waited for its connection counts as sent too', async () => {
    await world.control('PUT', '/__fault', { kind: 'slow', milliseconds: 300, operation: 'listSeries' });
    await world.control('PUT', '/__fault', { kind: 'reset-after', operation: 'reportInvoice' });
    const gateway = world.gatewayWith({ maxConnections: 1 });
    const [before, waited] = await Promise.all([calls.listSeries(gateway), calls.reportInvoice(gateway)]);
    expect(before).toMatchObject({ kind: 'done' });
    expect(waited).toMatchObject({ kind: 'unknown', sent: true });
    gateway.close();
  });

  it('faults follow count, operation and probability', async () => {
    await world.control('PUT', '/__fault', { kind: 'http-503', operation: 'listSeries', count: 2 });
    expect(await calls.reportInvoice(world.gateway)).toMatchObject({ kind: 'done' });
    const kinds = [];
    for (let round = 0; round < 3; round += 1) kinds.push((await calls.listSeries(world.gateway)).kind);
    expect(kinds).toEqual(['unknown', 'unknown', 'done']);
    await world.control('DELETE', '/__fault');
    await world.control('PUT', '/__fault', { kind: 'http-503', probability: 0.5 });
    const seen = new Set<string>();
    for (let round = 0; round < 40; round += 1) seen.add((await calls.listSeries(world.gateway)).kind);
    expect([...seen].sort()).toEqual(['done', 'unknown']);
    await world.control('DELETE', '/__fault');
    await world.control('PUT', '/__fault', { kind: 'refused', milliseconds: 2_000 });
    expect(await calls.listSeries(world.gatewayWith({}))).toMatchObject({ kind: 'unknown', sent: false });
    await eventually(async () => expect(await calls.listSeries(world.gateway)).toMatchObject({ kind: 'done' }));
  });

  it('connections are kept and used again', async () => {
    let connections = 0;
    const target = Number(new URL(world.simulator.url).port);
    const proxy = createServer((socket) => {
      connections += 1;
      const onward = connect(target, '127.0.0.1');
      socket.pipe(onward).pipe(socket);
      for (const end of [socket, onward]) end.on('error', () => socket.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const gateway = world.gatewayWith({ simulatorUrl: `https://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
    for (let round = 0; round < 20; round += 1) expect(await calls.listSeries(gateway)).toMatchObject({ kind: 'done' });
    expect(connections).toBe(1);
    gateway.close();
    proxy.close();
  });
});

describe('encodings', () => {
  const answer =
    '<S:Envelope xmlns:S="http://schemas.xmlsoap.org/soap/envelope/"><S:Body><RegisterInvoiceResponse xmlns="http://factemi.at.min_financas.pt/documents">' +
    '<Response><CodigoResposta>-1</CodigoResposta><Mensagem>Operação inválida</Mensagem></Response></RegisterInvoiceResponse></S:Body></S:Envelope>';

  // The simulator writes UTF-8 alone: another server with its certificate answers here.
  it.each([
    ['its XML', '<?xml version="1.0" encoding="ISO-8859-1"?>', 'text/xml'],
    ['its header', '', 'text/xml; charset=iso-8859-15'],
    ['its XML, against its header,', "<?xml version='1.0' encoding='windows-1252'?>", 'text/xml; charset=utf-8'],
  ])('an answer in the Latin-1 that %s declares is an answer', async (_where, prolog, type) => {
    const file = (name: string) => readFileSync(join(world.directory, 'keys', name));
    const server = createHttpsServer({ cert: file('server.pem'), key: file('server.key') }, (_, response) => {
      response.writeHead(200, { 'Content-Type': type }).end(Buffer.from(prolog + answer, 'latin1'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const gateway = world.gatewayWith({ simulatorUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}` });
    expect(await calls.reportInvoice(gateway)).toEqual({
      kind: 'refused',
      code: '-1',
      message: 'Operação inválida',
      reason: 'data',
    });
    gateway.close();
    server.close();
  });
});

describe('nothing is told', () => {
  it('an outcome holds neither password nor what a stranger wrote', async () => {
    const outcomes: Outcome[] = [];
    for (const kind of ['html', 'not-http', 'redirect', 'http-500', 'wrong-credentials', 'not-tls']) {
      await world.control('PUT', '/__fault', { kind, count: 1 });
      outcomes.push(await world.gateway.listSeries({ ...s.credentials, password: 'hunter2' }, {}));
    }
    expect(JSON.stringify(outcomes)).not.toMatch(/hunter2|SSH|Serviço|elsewhere/);
  });
});
