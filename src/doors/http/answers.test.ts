import { errorMonitor, once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { observeEnd, sendFile, sendProblem } from './answers.ts';
import { Exchange } from './exchange.ts';

const made = { newId: () => 'made', isEnding: () => false };

/** What comes back of an answer that `act` gives: its head, and its body, or that the connection broke. */
async function received(act: (exchange: Exchange) => void): Promise<{ head: IncomingMessage; body: string }> {
  const server = createServer((request, response) =>
    act(new Exchange(request, response, request.socket.remoteAddress, made)),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const asked = get({ port, host: '127.0.0.1', agent: false });
  const [head] = (await once(asked, 'response')) as [IncomingMessage];
  let body = '';
  head.setEncoding('latin1').on('data', (piece) => {
    body += piece;
  });
  const end = await finished(head).then(
    () => '',
    () => ' broke',
  );
  return { head, body: body + end };
}

const file = (content: Readable) => ({ name: 'saft.xml', media: 'application/xml', size: 4, content });

/** Gives the pieces, and fails behind them. */
function failing(...pieces: string[]): Readable {
  const left = [...pieces];
  return new Readable({
    read() {
      const next = left.shift();
      if (next === undefined) this.destroy(new Error('the disk is gone'));
      else setImmediate(() => this.push(next));
    },
  });
}

test('a file goes out with its name and length', async () => {
  const { head, body } = await received((exchange) =>
    sendFile(exchange, file(Readable.from([Buffer.from('<a/>')])), {}, () => expect.unreachable()),
  );
  expect([head.statusCode, body]).toEqual([200, '<a/>']);
  expect(head.headers).toMatchObject({
    'content-type': 'application/xml',
    'content-length': '4',
    'content-disposition': 'attachment; filename="saft.xml"',
    'cache-control': 'no-store',
    'x-request-id': 'made',
  });
});

test('a file of which nothing can be read is refused like anything else, and without its fields', async () => {
  const { head, body } = await received((exchange) =>
    sendFile(exchange, file(failing()), { rate: { limit: 9, remaining: 8, resetSeconds: 7, exceeded: false } }, () =>
      sendProblem(exchange, { status: 500, text: '{}', more: [] }, {}),
    ),
  );
  expect([head.statusCode, body, head.headers['content-length']]).toEqual([500, '{}', '2']);
  expect(head.headers).not.toHaveProperty('content-disposition');
  expect(head.headers).not.toHaveProperty('ratelimit');
});

test('a file that breaks off in the middle breaks the connection', async () => {
  const { head, body } = await received((exchange) =>
    sendFile(exchange, file(failing('<a')), {}, () => expect.unreachable()),
  );
  expect([head.statusCode, body]).toEqual([200, '<a broke']);
});

test('where the request has been answered already the file is let go, and nothing is said twice', async () => {
  const content = Readable.from([Buffer.from('<a/>')]);
  const { head, body } = await received((exchange) => {
    sendProblem(exchange, { status: 408, text: '{}', more: [] }, {});
    sendFile(exchange, file(content), {}, () => expect.unreachable());
    sendProblem(exchange, { status: 500, text: '{"a":1}', more: [] }, {});
  });
  expect([head.statusCode, body, content.destroyed]).toEqual([408, '{}', true]);
});

test('the length of a refusal is that of its bytes, not of its characters', async () => {
  const { head, body } = await received((exchange) =>
    sendProblem(exchange, { status: 400, text: '{"title":"Pedido inválido"}', more: [] }, {}),
  );
  expect(Buffer.from(body, 'latin1').toString()).toBe('{"title":"Pedido inválido"}');
  expect(head.headers['content-length']).toBe(String(body.length));
});

test('what its file still brings behind the answer to a broken request ends nothing', async () => {
  const errors: unknown[] = [];
  const { head, body } = await received((exchange) => {
    observeEnd(exchange, '/', () => undefined);
    exchange.response.on(errorMonitor, ({ code }) => errors.push(code));
    sendFile(exchange, file(Readable.from([Buffer.from('<a/>')])), {}, () => expect.unreachable());
    exchange.response.writeHead(400, { 'content-length': '2' }).end('{}');
  });
  expect([head.statusCode, body]).toEqual([400, '{}']);
  await vi.waitFor(() => expect(errors).toEqual(['ERR_STREAM_WRITE_AFTER_END']));
});

test('an answer is counted when it is out, by its route and status; one that broke off is not', async () => {
  const counted: unknown[] = [];
  const count = (route: string, status: number, seconds: number) => counted.push([route, status, seconds > 0]);
  const broken = received((exchange) => {
    observeEnd(exchange, '/broken', count);
    exchange.response.destroy();
  });
  await expect(broken).rejects.toThrow('socket hang up');
  await received((exchange) => {
    observeEnd(exchange, '/things/:id', count);
    sendProblem(exchange, { status: 404, text: '{}', more: [] }, {});
  });
  await vi.waitFor(() => expect(counted).toEqual([['/things/:id', 404, true]]));
});
