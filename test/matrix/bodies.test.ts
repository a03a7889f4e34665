/** Bodies of callers that nobody knows yet: what they hold is bounded, and they take nothing from anyone else. */
import { randomBytes } from 'node:crypto';
import { type ClientRequest, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Db } from '../../src/db/transact.ts';
import { mintToken } from '../../src/identity/tokens.ts';
import { eventually } from '../eventually.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

const mebibyte = 2 ** 20;
let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  ({ A } = service.companies);
});
afterAll(() => service.stop());

interface Slow {
  readonly request: ClientRequest;
  /** Status, code and Retry-After, when it is answered. */
  readonly answer: Promise<readonly [number | undefined, string, string | undefined]>;
}

/** Announces a mebibyte and sends all but its last byte, from an address of this machine. */
function begin(from: string, key = 'svc_sk_nobody'): Slow {
  const { port } = service.app.http.server.address() as AddressInfo;
  const sent = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: '/customers',
    localAddress: from,
    headers: { 'content-type': 'application/json', 'content-length': mebibyte, 'x-api-key': key },
  });
  const answer = new Promise<readonly [number | undefined, string, string | undefined]>((resolve) => {
    sent.once('response', async (response) => {
      let text = '';
      for await (const piece of response) text += piece;
      resolve([response.statusCode, JSON.parse(text).code, response.headers['retry-after']]);
    });
    // Whoever is refused early may find the connection closed.
    sent.on('error', () => resolve([undefined, 'hung up', undefined]));
  });
  sent.write(Buffer.alloc(mebibyte - 1, ' '));
  return { request: sent, answer };
}

const answeredFirst = (all: readonly Slow[]): Promise<readonly unknown[]> => Promise.race(all.map((one) => one.answer));

test('one network holds 64 MiB at a time; another is heard, and when it lets go so is it', async () => {
  const flood = Array.from({ length: 70 }, () => begin('127.0.0.2'));
  expect(await answeredFirst(flood)).toEqual([503, 'UNAVAILABLE', '1']);

  const other = begin('127.0.0.3');
  other.request.end('x');
  expect((await other.answer)[0]).toBe(401);
  expect((await A.post('/customers', { name: 'Ana', country: 'PT' })).status).toBe(201);

  for (const { request: sent } of flood) sent.destroy();
  await eventually(async () => {
    const later = begin('127.0.0.2');
    later.request.end('x');
    expect((await later.answer).slice(0, 2)).toEqual([401, 'UNAUTHENTICATED']);
  });
});

test('what is answered holds nothing any more, whatever the answer was', async () => {
  for (let round = 0; round < 3; round++) {
    const all = Array.from({ length: 30 }, (_, i) => begin('127.0.0.4', i % 2 === 0 ? A.key : undefined));
    for (const { request: sent } of all) sent.end('x');
    const codes = new Set((await Promise.all(all.map(({ answer }) => answer))).map(([, code]) => code));
    expect([...codes].sort()).toEqual(['MALFORMED_JSON', 'UNAUTHENTICATED']);
  }
});

test('who hangs up at once is no fault of ours', async () => {
  const { port } = service.app.http.server.address() as AddressInfo;
  const head = 'POST /customers HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Api-Key: svc_sk_nobody\r\n';
  const before = service.logs.length;
  const hangUp = (length: number) =>
    new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(`${head}Content-Length: ${length}\r\n\r\n{}`, () => socket.resetAndDestroy());
      });
      socket.once('close', () => resolve());
    });
  for (let round = 0; round < 20; round++) await Promise.all([2, 2, 2, 5, 5].map(hangUp));
  expect((await A.post('/customers', { name: 'Rui', country: 'PT' })).status).toBe(201);
  expect(service.logs.slice(before).filter((line) => line.includes('"level":50'))).toEqual([]);
});

test('a read whose body breaks is answered once, and what it would have been told is no fault of ours', async () => {
  const { port } = service.app.http.server.address() as AddressInfo;
  const before = service.logs.length;
  const head = `GET /company HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${A.key}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  for (let round = 0; round < 5; round++) {
    const socket = connect(port, '127.0.0.1').end(`${head}no chunk\r\n`);
    let text = '';
    for await (const piece of socket) text += piece;
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
    expect((await A.get('/company')).status).toBe(200);
  }
  // What the first test's flood left out of the log may be counted there meanwhile: a line about nobody's request.
  expect(service.logs.slice(before).filter((line) => !line.includes('"more":'))).toEqual([]);
});

test('a long body is read once it is known who sent it', async () => {
  const long = `{"name":"${'x'.repeat(100_000)}","name":1}`;
  const post = (key: string) => service.call('POST', '/customers', { key, raw: long });
  expect((await post('svc_sk_nobody')).status).toBe(401);
  expect((await post(A.key)).json.errors).toEqual([
    { pointer: '/name', code: 'DUPLICATE_FIELD', message: expect.any(String) },
  ]);
});

test('one of more than 4 KiB is read ahead only for a credential that this process has met', async () => {
  const parse = vi.spyOn(JSON, 'parse');
  const readOf = (raw: string) => parse.mock.calls.filter(([text]) => text === raw).length;
  const padded = (bytes: number) => '{"name":"Ana","country":"PT"}'.padEnd(bytes);
  const small = padded(4096);
  const larger = padded(4097);
  const stranger = mintToken('svc_sk_', randomBytes(32));
  for (const raw of [small, larger])
    expect((await service.call('POST', '/customers', { key: stranger, raw })).status).toBe(401);
  expect([readOf(small), readOf(larger)]).toEqual([1, 0]);

  // Who was known is a stranger again once the database has said so.
  const { key, revoke } = await A.anotherKey();
  expect((await service.call('POST', '/customers', { key, raw: small })).status).toBe(201);
  await revoke();
  const [next, last] = [padded(4098), padded(4099)];
  for (const raw of [next, last]) expect((await service.call('POST', '/customers', { key, raw })).status).toBe(401);
  expect([readOf(next), readOf(last)]).toEqual([1, 0]);
  parse.mockRestore();

  let asked = 0;
  const counted = (db: Db): Db => ({
    ...db,
    read(entry, how) {
      asked += 1;
      return db.read(entry, how);
    },
  });
  const other = await service.another(counted);
  const trips: number[] = [];
  for (const raw of [larger, larger, small]) {
    asked = 0;
    expect((await other.call('POST', '/customers', { key: A.key, raw })).status).toBe(201);
    trips.push(asked);
  }
  const [first, second, third] = trips;
  expect([first, second]).toEqual([third! + 1, third]);
  await other.stop();
});

test('a media type without a length is no body at all', async () => {
  const { id } = await A.issue(await A.draft());
  const { port } = service.app.http.server.address() as AddressInfo;
  const cancel = async (key: string): Promise<string> => {
    const lines = ['Host: x', `X-Api-Key: ${key}`, 'Content-Type: application/json', 'Connection: close'];
    const socket = connect(port, '127.0.0.1');
    socket.write(`POST /invoices/${id}/cancel HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    let text = '';
    for await (const piece of socket) text += piece;
    return text.split('\r\n', 1)[0]!;
  };
  expect(await cancel('svc_sk_nobody')).toBe('HTTP/1.1 401 Unauthorized');
  expect(await cancel(A.key)).toBe('HTTP/1.1 200 OK');
});
