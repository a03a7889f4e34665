/** Answers that nobody takes: what callers keep of memory in this way is bounded, and takes nothing from anyone else. */
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../service.ts';

const mebibyte = 2 ** 20;
let service: Service;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
});
afterAll(() => service.stop());

/** Sends the request on so many connections, at once, and reads nothing of the answers. */
async function neverRead(connections: number, request: string): Promise<Socket[]> {
  const { port } = service.app.http.server.address() as AddressInfo;
  const opened = Array.from({ length: connections }, async () => {
    const socket = connect(port, '127.0.0.1');
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
