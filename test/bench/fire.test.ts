/** The one who fires: what it can't read or is refused must never count as an answer. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { part } from './part.ts';

const { fire, readAnswer, requestBytes } = await part('fire');
let server: Server;

async function serve(listener: RequestListener): Promise<number> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

const requests = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, i) =>
    requestBytes({ method: 'POST', path: `/${i}`, headers: { 'x-number': String(i) }, body: { text: `é${i}` } }),
  );

/** Takes them in turn, and keeps what was answered. */
function inTurn(all: Buffer[], answers: string[] = []) {
  let at = 0;
  return (_lane: number, answer?: { body: Buffer }) => {
    if (answer !== undefined) answers.push(answer.body.toString());
    return all[at++];
  };
}

test('every request is answered once, with so many on their way as asked', async () => {
  const [seen, answers]: [string[], string[]] = [[], []];
  let [running, most] = [0, 0];
  const port = await serve((request, response) => {
    most = Math.max(most, ++running);
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      seen.push(`${request.url} ${request.headers['x-number']} ${body}`);
      const text = `answer to ${request.url}`;
      setTimeout(() => {
        running -= 1;
        response.writeHead(200, { 'content-length': text.length }).end(text);
      }, 5);
    });
  });
  const { latencies, seconds } = await fire({ port, width: 4, next: inTurn(requests(20), answers) });
  expect(latencies).toHaveLength(20);
  expect(seconds).toBeGreaterThan(0);
  expect(seen.sort()).toEqual(Array.from({ length: 20 }, (_, i) => `/${i} ${i} {"text":"é${i}"}`).sort());
  expect(answers.sort()).toEqual(Array.from({ length: 20 }, (_, i) => `answer to /${i}`).sort());
  expect(most).toBe(4);
});

test('an answer in pieces is one answer', async () => {
  const port = await serve((_request, response) => {
    response.writeHead(201, { 'content-length': 6 });
    response.write('abc');
    setTimeout(() => response.end('def'), 5);
  });
  const answers: string[] = [];
  await fire({ port, width: 1, next: inTurn(requests(3), answers) });
  expect(answers).toEqual(['abcdef', 'abcdef', 'abcdef']);
});

test.each([409, 500, 302])('an answer of %s ends it with what was said', async (status) => {
  const port = await serve((request, response) => {
    const text = request.url === '/7' ? 'no, because' : 'yes';
    response.writeHead(request.url === '/7' ? status : 200, { 'content-length': text.length }).end(text);
  });
  await expect(fire({ port, width: 2, next: inTurn(requests(20)) })).rejects.toThrow(`answered ${status}: no, because`);
});

test('a connection that is closed instead of an answer ends it', async () => {
  const port = await serve((request) => request.socket.destroy());
  await expect(fire({ port, width: 1, next: inTurn(requests(1)) })).rejects.toThrow(/closed|ECONNRESET/);
});

test('bytes are read as one whole answer or not at all', () => {
  const whole = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  for (let end = 0; end < whole.length; end++) expect(readAnswer(whole.subarray(0, end))).toBeUndefined();
  expect(readAnswer(whole)).toMatchObject({ status: 200 });
  expect(() => readAnswer(Buffer.concat([whole, whole]))).toThrow('nobody asked');
  expect(() => readAnswer(Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'))).toThrow('length');
});
