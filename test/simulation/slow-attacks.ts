/** Callers that take their time, or all connections. The service waits for each so long and no longer. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, ask, intruder } from './attacks.ts';

/** Attacks that never get to their end: byte after byte, or half of it and silence. */
export function slowAttacks(key: string): Attack[] {
  const json = 'Content-Type: application/json';
  const post = (headers: readonly string[], body: string): string =>
    ask('POST /customers', [key, json, ...headers], body);
  const late = [['408 REQUEST_TIMEOUT']];
  const endless = 'x'.repeat(2000);
  const slow = (name: string, bytes: string): Attack => ({
    name,
    bytes,
    answers: late,
    connection: 'closed',
    pace_ms: 20,
  });
  return [
    slow('headers, byte by byte', ask('GET /company', [key, `X: ${endless}`])),
    slow('a header each moment', `GET /company HTTP/1.1\r\n${'X: y\r\n'.repeat(1000)}`),
    slow('a body, byte by byte', post([`Content-Length: ${endless.length}`], endless)),
    slow('chunks, byte by byte', post(['Transfer-Encoding: chunked'], '1\r\n \r\n'.repeat(1000))),
    { ...slow('half a request line', 'GET /comp'), pace_ms: 0 },
    { ...slow('half the headers', `GET /company HTTP/1.1\r\n${key}\r\n`), pace_ms: 0 },
    { ...slow('half a body', post([`Content-Length: ${intruder.length}`], intruder.slice(0, 9))), pace_ms: 0 },
    {
      ...slow('half a second request', `${ask('GET /company', [key])}GET /com`),
      answers: [['200'], ...late],
      pace_ms: 0,
    },
    {
      ...slow('a body on GET that does not come', ask('GET /company', [key, 'Content-Length: 10'])),
      answers: [['200']],
      pace_ms: 0,
    },
  ];
}

/** Asks for large answers and reads none of them: how many bytes it gets in the end, and whether it was hung up on. */
export async function neverReads(
  port: number,
  requests: number,
  silence_ms: number,
  patience_ms: number,
): Promise<{ bytes: number; closed: boolean }> {
  const socket = await open(port);
  socket.pause();
  socket.write(ask('GET /-json').repeat(requests), 'latin1');
  await sleep(silence_ms);
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const closed = await endOf(socket.resume(), patience_ms);
  socket.destroy();
  return { bytes, closed };
}

/** Opens connections, says nothing, and waits: how many of them were closed in the time. */
export async function idle(
  port: number,
  connections: number,
  during: () => Promise<void>,
  patience_ms: number,
): Promise<number> {
  const sockets: Socket[] = [];
  for (let i = 0; i < connections; i += 100)
    sockets.push(...(await Promise.all(Array.from({ length: Math.min(100, connections - i) }, () => open(port)))));
  const ends = sockets.map((socket) => endOf(socket.resume(), patience_ms));
  await during();
  const closed = (await Promise.all(ends)).filter(Boolean).length;
  for (const socket of sockets) socket.destroy();
  return closed;
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(socket));
    socket.on('error', reject);
  });
}

function endOf(socket: Socket, patience_ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const late = setTimeout(() => resolve(false), patience_ms);
    const end = (): void => {
      clearTimeout(late);
      resolve(true);
    };
    socket.once('end', end);
    socket.once('close', end);
  });
}
