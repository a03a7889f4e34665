import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { Bodies } from './bodies.ts';

const mebibyte = 2 ** 20;

/** One body in pieces of one byte, but for its last chunk; what it takes of memory then, and what is read of it. */
async function inSmallPieces(bytes: number): Promise<{ readonly taken: number; readonly body: Buffer | undefined }> {
  const bodies = new Bodies({ largest: mebibyte, room: { ofOne: mebibyte, together: mebibyte, little: 0 } });
  let arrived = 0;
  let body: Buffer | undefined;
  const server = createServer((request, response) => {
    bodies.read(request, response, 'here', (_error, whole) => {
      body = whole;
      response.end();
    });
    request.on('data', (piece: Buffer) => {
      arrived += piece.length;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const before = process.memoryUsage().rss;
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  for (let at = 0; at < bytes; at += 1024) {
    const pieces = Array.from({ length: 1024 }, (_, i) => `1\r\n${String.fromCharCode(97 + ((at + i) % 26))}\r\n`);
    if (!socket.write(pieces.join(''))) await once(socket, 'drain');
  }
  while (arrived < bytes) await new Promise((resolve) => setImmediate(resolve));
  const taken = process.memoryUsage().rss - before;
  socket.write('0\r\n\r\n');
  await once(socket, 'data');
  socket.destroy();
  server.close();
  return { taken, body };
}

test('a body in many small pieces takes of memory what it is long, not what its pieces take', async () => {
  // What Node takes and gives back of pieces on their way is taken by the first.
  await inSmallPieces(mebibyte / 8);
  const { taken, body } = await inSmallPieces(mebibyte / 2);
  expect(body).toHaveLength(mebibyte / 2);
  expect(body!.toString('latin1')).toBe('abcdefghijklmnopqrstuvwxyz'.repeat(mebibyte / 26).slice(0, mebibyte / 2));
  expect(taken).toBeLessThan(50 * mebibyte);
});

test('a body that is refused gives back what it held at once, and no more when it has been answered', async () => {
  const bodies = new Bodies({ largest: 10, room: { ofOne: 100, together: 100, little: 0 } });
  const held = [bodies.room.held('here')];
  const server = createServer((request, response) => {
    bodies.read(request, response, 'here', (refusal) => {
      held.push(bodies.room.held('here'));
      response.once('close', () => held.push(bodies.room.held('here')));
      response.writeHead(refusal!.status, { connection: 'close' }).end();
    });
    request.on('data', () => held.push(bodies.room.held('here')));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n3\r\n901\r\n5\r\n23456\r\n0\r\n\r\n',
  );
  const answer = (await socket.setEncoding('latin1').toArray()).join('');
  await once(server.close(), 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(held).toEqual([0, 8, 0, 0, 0, 0]);
});
