/** Answers that nobody takes: what callers keep of memory in this way is bounded, and takes nothing from anyone else. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

const mebibyte = 2 ** 20;
let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  ({ A } = service.companies);
});
afterAll(() => service.stop());

/** Sends the request on so many connections, at once, and reads nothing of the answers. */
async function neverRead(
  connections: number,
  request: string,
  from = '127.0.0.1',
  { app }: Pick<Service, 'app'> = service,
): Promise<Socket[]> {
  const { port } = app.http.server.address() as AddressInfo;
  const opened = Array.from({ length: connections }, async () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.on('error', () => undefined);
    return socket.pause();
  });
  const sockets = await Promise.all(opened);
  for (const socket of sockets) socket.write(request);
  return sockets;
}

test('what anybody may ask for is in memory once, however many take nothing of it', async () => {
  const path = '/docs/static/swagger-ui-bundle.js';
  const whole = await service.call('GET', path);
  expect([whole.status, whole.bytes.length > mebibyte]).toEqual([200, true]);
  const before = process.memoryUsage().arrayBuffers;
  const sockets = await neverRead(100, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await sleep(1_000);
  const held = process.memoryUsage().arrayBuffers - before;
  for (const socket of sockets) socket.destroy();
  expect(held).toBeLessThan(20 * mebibyte);
});

/** What comes first of the answer, and is all that is read of it: its status, or that there is none. */
function statusOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (piece: Buffer) => {
      socket.pause();
      resolve(piece.toString('latin1', 9, 12));
    });
    socket.once('close', () => resolve('hung up'));
    socket.resume();
  });
}

/** What is to be answered to so many callers that have hung up by now. */
async function begunAndGone(callers: number, request: string, from: string): Promise<ServerResponse[]> {
  const { server } = service.app.http;
  const begun: ServerResponse[] = [];
  const note = (_: unknown, response: ServerResponse) => void begun.push(response);
  server.on('request', note);
  const sockets = await neverRead(callers, request, from);
  await eventually(() => expect(begun.length).toBe(callers));
  server.off('request', note);
  for (const socket of sockets) socket.destroy();
  await eventually(() => expect(begun.filter(({ closed }) => !closed)).toEqual([]));
  return begun;
}

/** Of each; then they are let go. */
async function statusesOf(sockets: readonly Socket[]): Promise<string[]> {
  const statuses = await Promise.all(sockets.map(statusOf));
  for (const socket of sockets) socket.destroy();
  return statuses;
}

/** One request from an address of this machine, and its answer. */
async function ask(from: string, request: string): Promise<string> {
  const [socket] = await neverRead(1, request, from);
  return statusOf(socket!).finally(() => socket!.destroy());
}

const get = (path: string, { key } = A) => `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\n\r\n`;
const post = (path: string, body: unknown, idempotencyKey: string) => {
  const json = JSON.stringify(body);
  const fields = `X-Api-Key: ${A.key}\r\nIdempotency-Key: ${idempotencyKey}\r\nContent-Type: application/json`;
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${fields}\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
};

/** A thousand lines of an item that says as much as it may: some 50 kB that are asked for, and 7 MB that are answered. */
async function manyLines(company = A): Promise<Record<string, unknown>> {
  const { id } = await company.item({ name: '漢'.repeat(200), description: '漢'.repeat(2000), type: 'PRODUCT' });
  const customerId = (await company.customer()).id;
  return {
    type: 'INVOICE',
    cae: '62010',
    customerId,
    items: Array.from({ length: 1000 }, () => ({ id, quantity: 1 })),
  };
}

test('answers that a caller takes nothing of are kept for it up to 64 MiB; others are answered, and it too, when it has let go', async () => {
  const body = await manyLines();
  const create = post('/invoices', body, 'one');
  const draft = await A.post<InvoiceJson>('/invoices', body, { headers: { 'idempotency-key': 'one' } });
  expect([draft.status, draft.bytes.length > 6 * mebibyte]).toEqual([201, true]);
  const read = get(`/invoices/${draft.json.id}`);
  const room = Math.floor((64 * mebibyte) / draft.bytes.length);

  const readers = await neverRead(room + 2, read, '127.0.0.2');
  await eventually(async () => expect(await ask('127.0.0.2', read)).toBe('503'));
  expect(await ask('127.0.0.2', post('/customers', { name: 'Não começada', country: 'PT' }, 'two'))).toBe('503');
  expect((await A.get('/customers?search=come%C3%A7ada')).json).toEqual([]);
  expect(await ask('127.0.0.3', read)).toBe('200');
  expect((await A.get('/company')).status).toBe(200);
  expect((await statusesOf(readers)).sort()).toEqual([...Array(room).fill('200'), '503', '503']);

  // Who has gone before its answer was made is given none.
  const locker = await service.owner.connect();
  await locker.query('begin; lock table certo.documents in access exclusive mode');
  const begun = await begunAndGone(room + 2, read, '127.0.0.5').finally(() => locker.query('rollback'));
  locker.release();
  await eventually(() => expect(begun.filter(({ writableEnded }) => !writableEnded)).toEqual([]));
  expect(await ask('127.0.0.5', read)).toBe('200');

  // All are begun before any of them has its answer: what was done is not undone, and told when there is room.
  const writers = await neverRead(room + 2, create, '127.0.0.4');
  const statuses = await statusesOf(writers);
  expect(statuses.filter((status) => status === '201').length).toBeLessThanOrEqual(room);
  expect(new Set(statuses)).toEqual(new Set(['201', 'hung up']));
  await eventually(async () => expect(await ask('127.0.0.4', create)).toBe('201'));
});

test('a caller that takes nothing for so long is let go, whether it asked for JSON, for files or pages, or is refused', async () => {
  const brief = await startService({ companies: ['A'], httpDeadline_seconds: 3 });
  try {
    const company = brief.companies.A;
    const { id } = await company.issue(await company.draft(await manyLines(company)));
    const year = new Date().getFullYear();
    const ends: Promise<unknown>[] = [];
    brief.app.http.server.on('connection', (socket) => ends.push(once(socket, 'close')));
    // A file of it is shorter than what the system takes for the caller: some behind each other are not.
    const file = get(`/saft?fromDate=${year}-01-01&toDate=${year}-12-31`, company);
    const page = get('/docs/static/swagger-ui-bundle.js', company);
    const unknown = get(`/items?${Array.from({ length: 50 }, (_, i) => `unknown${i}=`).join('&')}`, company);
    const asked = [get(`/invoices/${id}`, company), file.repeat(10), page.repeat(10), unknown.repeat(2_000)];
    const sockets = await Promise.all(asked.map((requests) => neverRead(1, requests, '127.0.0.1', brief)));
    expect(await Promise.all(sockets.flat().map(statusOf))).toEqual(['200', '200', '200', '400']);
    await eventually(() => expect(ends.length).toBe(asked.length));
    await Promise.all(ends);
    for (const socket of sockets.flat()) socket.destroy();
  } finally {
    await brief.stop();
  }
});
