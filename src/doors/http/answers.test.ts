import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, onTestFinished, test } from 'vitest';
import { sendFile, sendProblem } from './answers.ts';
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
