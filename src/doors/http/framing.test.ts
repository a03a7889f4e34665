import { type EventEmitter, errorMonitor, once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { openServer } from './framing.ts';

const answered: ServerResponse[] = [];
const refuse: RequestListener = (_request, response) => {
  response.writeHead(400, { connection: 'close' }).end('no');
};
let answer: RequestListener;
/** Requests that Node has made of what it read. */
let read = 0;
const server = openServer(
  (request, response) => {
    answered.push(response);
    answer(request, response);
  },
  { deadline_ms: 60_000, render: () => ({ text: '', headers: {} }) },
);
server.on('request', () => {
  read += 1;
});
let caller: Socket;

beforeEach(async () => {
  answer = refuse;
  answered.length = 0;
  read = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  caller = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
});
afterEach(async () => {
  caller.destroy();
  const closed = once(server.close(), 'close');
  server.closeAllConnections();
  await closed;
});

test('a caller that sends more after its connection was refused still gets to read why; what it sends is not heard', async () => {
  const failures: Error[] = [];
  caller.on('error', (error) => failures.push(error));
  const [connection] = (await once(server, 'connection')) as [Socket];
  const asked = once(server, 'request') as Promise<[unknown, ServerResponse]>;
  caller.write('GET / HTTP/1.1\r\n\r\n');
  const [, response] = await asked;
  if (!response.writableFinished) await once(response, 'finish');
  for (let i = 0; i < 50; i++) {
    caller.write('GET / HTTP/1.1\r\n\r\n');
    await turn();
  }
  const heard = (await caller.setEncoding('latin1').toArray()).join('');
  expect(heard).toMatch(/^HTTP\/1\.1 400 [\s\S]*no\r\n0\r\n\r\n$/);
  expect(failures).toEqual([]);
  expect(answered).toHaveLength(1);
  expect(read).toBe(1);
  // It is over as soon as the caller ends its side.
  const closed = once(connection, 'close');
  caller.end();
  await closed;
});

test('a body that comes too late is refused as its request is, and nothing that is none', async () => {
  const slow = openServer(() => undefined, {
    deadline_ms: 200,
    render: ({ code }, request) => ({ text: `<${code} ${request?.url}>`, headers: {} }),
  });
  await once(slow.listen(0, '127.0.0.1'), 'listening');
  const heard = async (bytes: string): Promise<string> => {
    const late = connect((slow.address() as AddressInfo).port, '127.0.0.1').setEncoding('latin1');
    late.write(bytes);
    return (await late.toArray()).join('');
  };
  const body = 'POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n1';
  const [inBody, inHead] = await Promise.all([heard(body), heard('POST /late HTTP/1.1\r\nHo')]);
  expect(inBody).toMatch(/^HTTP\/1\.1 408 [\s\S]*<REQUEST_TIMEOUT \/late>/);
  expect(inHead).toMatch(/^HTTP\/1\.1 408 [\s\S]*<REQUEST_TIMEOUT undefined>/);
  await once(slow.close(), 'close');
});

test('a body that breaks after its request was answered is answered no more, and its connection ends', async () => {
  answer = (_request, response) => void response.end('<>');
  let heard = '';
  caller.setEncoding('latin1').on('data', (piece) => {
    heard += piece;
  });
  caller.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  await eventually(() => expect(heard).toContain('<>'));
  const ended = once(caller, 'end');
  caller.write('zz\r\n');
  await ended;
  expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
});

test('a caller that never ends its side after its last answer is let go of all the same', async () => {
  const [connection] = (await once(server, 'connection')) as [Socket];
  const closed = once(connection, 'close');
  caller.resume().write('HELLO\r\n\r\n');
  await closed;
});

/** One read of Node's takes at most so much off a connection. */
const longest_read = 64 * 1024;
const get = (path: number) => `GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const getLast = 'GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
/** Those that came in the same read as the one that was too many wait, too. */
const few = 16 + longest_read / get(1).length;

test('of requests behind each other few wait, however many are sent; all are answered, in order', async () => {
  const paths = Array.from({ length: 8_000 }, (_, i) => i);
  let mostWaiting = 0;
  answer = async ({ url }, response) => {
    mostWaiting = Math.max(mostWaiting, read - answered.length);
    await turn();
    response.end(`<${url}>`);
  };
  caller.write(paths.map(get).join('') + getLast);
  const heard = (await caller.setEncoding('latin1').toArray()).join('');
  expect(heard.match(/<[^>]+>/g)?.join('')).toBe([...paths.map((path) => `</${path}>`), '</last>'].join(''));
  expect(mostWaiting).toBeLessThan(few);
});

test('while they wait nothing more is read, also not when the caller has gone', async () => {
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const asked = new Promise<void>((resolve) => {
    answer = () => resolve();
  });
  caller.write(get(1).repeat(100_000));
  const [connection] = await connected;
  await asked;
  for (let i = 0; i < 50; i++) await turn();
  expect(connection.isPaused()).toBe(true);
  answer = refuse;
  const closed = new Promise((resolve) => connection.once('close', resolve));
  caller.destroy();
  answered[0]!.end();
  await closed;
  expect(read).toBeLessThan(few);
});

test('what waits is bounded for all connections of a network: further ones are closed, the others answered as ever', async () => {
  answer = () => undefined;
  const { port } = server.address() as AddressInfo;
  const all = [caller, ...Array.from({ length: 4 }, () => connect(port, '127.0.0.1'))];
  const closed: Socket[] = [];
  for (const one of all) one.on('error', () => undefined).once('close', () => closed.push(one));
  for (const one of all) one.write(get(1).repeat(longest_read / get(1).length));
  await eventually(() => expect(closed).toHaveLength(4));

  const left = all.find((one) => !closed.includes(one))!;
  answer = (_request, response) => void response.end('<>');
  for (const response of answered) response.end('<>');
  left.write(getLast);
  const heard = (await left.setEncoding('latin1').toArray()).join('');
  expect(heard.match(/<>/g)).toHaveLength(Math.floor(longest_read / get(1).length) + 1);
  // Of those that waited nothing is counted any more.
  const next = connect(port, '127.0.0.1');
  next.write(get(1).repeat(2_000) + getLast);
  expect((await next.setEncoding('latin1').toArray()).join('').match(/<>/g)).toHaveLength(2_001);
});

test('a body behind many requests arrives whole in its turn', async () => {
  const bodies: string[] = [];
  answer = async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('latin1')) body += piece;
    if (body !== '') bodies.push(body);
    await turn();
    response.end();
  };
  const long = 'x'.repeat(300_000);
  const post = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${long.length}\r\n\r\n${long}`;
  caller.write(`${get(1).repeat(500)}${post}`.repeat(3) + getLast);
  const heard = (await caller.setEncoding('latin1').toArray()).join('');
  expect(heard.match(/HTTP\/1\.1 200/g)).toHaveLength(1504);
  expect(bodies.map((body) => body === long)).toEqual([true, true, true]);
});

test('what waits behind the last answer of its connection is not begun', async () => {
  caller.write(get(1) + get(2));
  const heard = (await caller.setEncoding('latin1').toArray()).join('');
  expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
  expect([read, answered.length]).toEqual([2, 1]);
});

test('a request whose body breaks while it waits is refused in its turn, and not begun', async () => {
  answer = () => undefined;
  caller.write(`${get(1)}POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`);
  await eventually(() => expect([read, answered.length]).toEqual([2, 1]));
  answered[0]!.end('<>');
  const heard = (await caller.setEncoding('latin1').toArray()).join('');
  expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  expect(answered).toHaveLength(1);
});

test('what is no request, behind one that is being answered, is refused behind its answer', async () => {
  answer = () => undefined;
  const broken = once(server, 'clientError');
  caller.write(`${get(1)}HELLO\r\n\r\n`);
  await broken;
  answered[0]!.end('<>');
  const heard = (await caller.setEncoding('latin1').toArray()).join('');
  expect(heard.match(/HTTP\/1\.1 \d+|<>/g)).toEqual(['HTTP/1.1 200', '<>', 'HTTP/1.1 400']);
});

test('a request that expects what it does not get has one answer, also where its body is broken', async () => {
  caller.write('POST / HTTP/1.1\r\nHost: x\r\nExpect: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
  const heard = (await caller.setEncoding('latin1').toArray()).join('');
  expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 417']);
  expect(answered).toEqual([]);
});

test('after the last answer its caller is heard out, also where many of its requests waited', async () => {
  const [connection] = (await once(server, 'connection')) as [Socket];
  caller.write(get(1).repeat(20));
  expect((await caller.setEncoding('latin1').toArray()).join('')).toMatch(/^HTTP\/1\.1 400 /);
  expect(read).toBe(20);
  expect(connection.isPaused()).toBe(false);
});

test('whose a connection was is known when it has closed, too', async () => {
  const [connection] = (await once(server, 'connection')) as [Socket];
  const closed = new Promise((resolve) => connection.once('close', resolve));
  connection.on('error', () => undefined);
  caller.resetAndDestroy();
  await closed;
  expect(connection.remoteAddress).toBe('127.0.0.1');
});

test.each([
  ['at once', ''],
  ['while it waits behind another request', get(1)],
])('a caller that asks for a tunnel and resets its connection, %s, ends no more than that', async (_, before) => {
  answer = () => undefined;
  const [connection] = (await once(server, 'connection')) as [Socket];
  const failures: unknown[] = [];
  (connection as EventEmitter).on(errorMonitor, ({ code }) => failures.push(code));
  const closed = new Promise((resolve) => connection.once('close', resolve));
  const asked = once(server, 'connect');
  caller.write(`${before}CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n`);
  await asked;
  caller.resetAndDestroy();
  await closed;
  expect(failures).toEqual(['ECONNRESET']);
});
