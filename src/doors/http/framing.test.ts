import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openServer } from './framing.ts';

const answered: ServerResponse[] = [];
const server = openServer(
  (_request, response) => {
    answered.push(response);
    response.writeHead(400, { connection: 'close' }).end('no');
  },
  { deadline_ms: 60_000, render: () => ({ text: '', headers: {} }) },
);
let caller: Socket;

beforeEach(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  caller = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
});
afterEach(async () => {
  caller.destroy();
  await once(server.close(), 'close');
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
  // It is over as soon as the caller ends its side.
  const closed = once(connection, 'close');
  caller.end();
  await closed;
});
