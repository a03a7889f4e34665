/**
 * The wire under the HTTP door: deadlines for slow callers, and what is no proper HTTP refused as a problem. Each
 * request has exactly one answer, in order, whatever comes behind it; where one ends is in doubt the connection ends.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { networkOf } from '../../engine/network.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { Room, type RoomLimits } from './room.ts';

export interface Framing {
  /** Longest time for a request to arrive whole, in milliseconds. */
  readonly deadline_ms: number;
  /** The refusal as the text and the headers of an answer. Without a request: none came, or not the whole of its head. */
  readonly render: (
    refusal: Refusal,
    request?: IncomingMessage,
  ) => { readonly text: string; readonly headers: Record<string, string> };
}

/** Connections that did nothing for so long are closed; longer than load balancers keep theirs. */
const longest_idle_ms = 72_000;
/** A caller that still sends gets so long to read the last answer; closed at once, it would be lost (RFC 9112, 9.6). */
const linger_ms = 1_000;

/** On a connection: what answers its last request. A member, since a WeakMap's are work for the collector of garbage. */
const latest = Symbol('the answer to its last request');
/** On a connection: those of its requests that wait for the answer to the one before. */
const waiting = Symbol('its requests that wait');
interface Line extends Socket {
  [latest]?: ServerResponse;
  [waiting]?: Queue;
}

/**
 * While so many wait, nothing is read: Node itself stops for answers that are not taken, never for requests. What has
 * come in the same read waits too, some thousands of the shortest: the parser can't be stopped within it.
 */
const most_waiting = 16;

/**
 * Requests that wait, of one network and of all together: what one read has brought, and four times as much. Each is some
 * kilobytes, and takes Node ten microseconds to let go of: of a hundred connections with a read each it was 460 MB and three
 * seconds. Nobody who waits for answers has more than a few.
 */
const waiting_limits: RoomLimits = { ofOne: 4_000, together: 16_000, little: 100 };

/** A server for `handler`; what Node would answer without a body or not at all is answered here. */
export function openServer(handler: RequestListener, framing: Framing): Server {
  const server = createServer({
    requestTimeout: framing.deadline_ms,
    headersTimeout: framing.deadline_ms,
    connectionsCheckingInterval: Math.min(5_000, framing.deadline_ms / 4),
    keepAliveTimeout: longest_idle_ms,
    // Node's own refusal has no body: `isDoubtful` looks.
    requireHostHeader: false,
  });
  // Node drops headers beyond a count in silence; all together they have a size.
  server.maxHeadersCount = 0;
  const answer = (response: ServerResponse, refusal: Refusal): void => {
    const { text, headers } = framing.render(refusal, response.req);
    response.writeHead(refusal.status, { ...headers, connection: 'close' }).end(text);
  };
  const hangUp = (socket: Duplex, refusal: Refusal, request?: IncomingMessage): void => {
    if (!socket.writable) return void socket.destroy();
    const { text, headers } = framing.render(refusal, request);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    sayLast(
      socket,
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}connection: close\r\n\r\n${text}`,
    );
  };

  server.on('connection', (socket) => {
    // Node keeps it from the first time it is asked: who hangs up before the answer is known, and counted, all the same.
    void socket.remoteAddress;
    // An error that nobody listens to would end the process, and Node lets go of a connection that asks for a tunnel.
    socket.on('error', nobodyHears);
    // How Node ends a connection after its last answer.
    socket.destroySoon = () => sayLast(socket);
  });

  // What comes behind a request waits for its answer: they may not overtake each other (RFC 9112, section 9.3.2), and a
  // caller that asks for much and reads nothing costs one answer.
  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.socket.writable && !response.headersSent) handler(request, response);
  };
  const room = new Room(waiting_limits);
  server.on('request', (request, response) => {
    const line: Line = request.socket;
    const before = line[latest];
    line[latest] = response;
    if (before === undefined || before.closed) return begin(request, response);
    line[waiting] ??= new Queue(line, room);
    if (!line[waiting].add()) return void line.destroy();
    before.once('close', () => {
      line[waiting]!.leave();
      begin(request, response);
    });
  });
  server.on('checkExpectation', (request, response) => {
    (request.socket as Line)[latest] = response;
    answer(response, new Refusal('EXPECTATION_FAILED'));
  });
  // No proxy: whatever would follow is not read.
  server.on('connect', (request, socket) =>
    after((socket as Line)[latest], () => hangUp(socket, new Refusal('BAD_HTTP'), request)),
  );
  server.on('clientError', (error, socket) => {
    const last = (socket as Line)[latest];
    if (!socket.writable) return;
    // Inside the body of the last request, it is that request which is answered; else it is the next one, in its turn.
    if (last === undefined || last.req.complete) after(last, () => hangUp(socket, refusalOf(error)));
    else if (last.headersSent) after(last, () => sayLast(socket));
    else answer(last, refusalOf(error));
  });
  return server;
}

/** Requests of one connection that wait. */
class Queue {
  readonly #line: Line;
  readonly #room: Room;
  readonly #whose: string;
  #count = 0;
  #isOver = false;

  constructor(line: Line, room: Room) {
    this.#line = line;
    this.#room = room;
    this.#whose = networkOf(line.remoteAddress ?? 'gone');
    // Node tells nothing of those that wait when their connection closes.
    line.once('close', () => {
      this.#isOver = true;
      room.count(this.#whose, -this.#count);
    });
  }

  /** One more; false where it has no place, and its connection none any longer. */
  add(): boolean {
    if (this.#isOver || this.#line.destroyed || !this.#room.has(this.#whose, 1)) return false;
    this.#room.count(this.#whose, 1);
    this.#count += 1;
    if (this.#count === most_waiting) this.#line.on('resume', keepStill).pause();
    return true;
  }

  /** One less, as it is begun. */
  leave(): void {
    if (this.#isOver) return;
    this.#room.count(this.#whose, -1);
    this.#count -= 1;
    if (this.#count === most_waiting - 1) this.#line.off('resume', keepStill).resume();
  }
}

/** Node reads on at the end of each request, and whenever answers were taken. */
function keepStill(this: Duplex): void {
  this.pause();
}

/** Says the last, and closes when the caller does or a little later: until then what arrives is thrown away. */
function sayLast(socket: Duplex, words?: string): void {
  socket.end(words);
  // Node's parser would go on making requests of it, which nobody answers and which are let go of one by one at the end.
  socket.removeAllListeners('data').off('resume', keepStill).on('data', nobodyHears).resume();
  const late = setTimeout(() => socket.destroy(), linger_ms).unref();
  socket.once('close', () => clearTimeout(late));
}

function nobodyHears(): void {}

/** When the answer is out, or its connection gone. */
function after(response: ServerResponse | undefined, act: () => void): void {
  if (response === undefined || response.closed) act();
  else response.once('close', act);
}

function refusalOf(error: Error): Refusal {
  const { code, rawPacket } = error as NodeJS.ErrnoException & { rawPacket?: Buffer };
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Refusal(beginsTooLong(rawPacket) ? 'URI_TOO_LONG' : 'HEADERS_TOO_LARGE');
  return new Refusal(code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'REQUEST_TIMEOUT' : 'BAD_HTTP');
}

/** Octets of an address, path and query (RFC 9110, section 4.1, asks for at least 8,000). */
export const longest_address = 8192;

/** Whether it is the address of which there is too much: the first line does not end where it should have. */
function beginsTooLong(packet: Buffer | undefined): boolean {
  if (packet === undefined || !/^[A-Z]+ [/h]/.test(packet.toString('latin1', 0, 40))) return false;
  const end = packet.indexOf('\n');
  return end === -1 || end > longest_address;
}

/** RFC 3986, section 3.2: what a host and port may be made of. */
const hostText = /^[\w!$%&'()*+,;=:.~[\]-]*$/;
/** RFC 9112, section 3.2: a path, or the whole address; what follows a "#" is never sent. */
const targetText = /^(?:\/|https?:\/\/)[^#]*$/i;

/**
 * Whether a request that Node has read leaves open what is meant (RFC 9112): another version than 1.0 and 1.1, a target
 * that is none, percent signs that encode no text, a coding of the body beside chunks, no Host or two of them, or twice
 * what Node would silently take the first of.
 */
export function isDoubtful(request: IncomingMessage): boolean {
  const { httpVersion, headers, rawHeaders, url = '' } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return true;
  if (!targetText.test(url) || !isEncoded(url)) return true;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) return true;
  let hosts = 0;
  let types = 0;
  let credentials = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    else if (name.length === 12 && name.toLowerCase() === 'content-type') types += 1;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') credentials += 1;
  }
  if (hosts > 1 || types > 1 || credentials > 1) return true;
  return hosts === 0 ? httpVersion === '1.1' : !hostText.test(headers.host!);
}

function isEncoded(url: string): boolean {
  if (!url.includes('%')) return true;
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

/** The path of a target, which may be a whole address (RFC 9112, section 3.2.2). */
export function pathOf(url: string): string {
  return url.replace(/^https?:\/\/[^/?]*/i, '').split('?')[0] || '/';
}
