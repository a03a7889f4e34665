/** HTTP by hand: any bytes over a socket, at any pace, and every answer that comes back, taken apart strictly. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case; two of one name are a fault of the answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Heard {
  /** In the order in which they came, without interim ones (1xx). */
  readonly answers: readonly RawAnswer[];
  /** Bytes behind the last whole answer. */
  readonly rest: Buffer;
  /** Whether the server ended the connection within the time. */
  readonly closed: boolean;
}

export interface Spoken {
  /** Sent one after the other. */
  readonly pieces: readonly (string | Buffer)[];
  /** Milliseconds between two pieces. */
  readonly pace_ms?: number;
  /** Over as soon as an answer carries this X-Request-Id. */
  readonly last?: string;
  /** Answers that have no body although they tell its length, by their place: those to HEAD. */
  readonly bodiless?: readonly number[];
  /** Over at the latest. */
  readonly patience_ms: number;
}

/** Says it over a connection of its own and listens until the server closes, the last answer is there or time is up. */
export async function speak(
  port: number,
  { pieces, pace_ms = 0, last, bodiless, patience_ms }: Spoken,
): Promise<Heard> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const chunks: Buffer[] = [];
  let over = false;
  let closed = false;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      over = true;
      clearTimeout(late);
      resolve();
    };
    const late = setTimeout(end, patience_ms);
    const hungUp = (): void => {
      closed ||= !over;
      end();
    };
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (last !== undefined && chunk.includes(`x-request-id: ${last}\r\n`)) setTimeout(end, settling_ms);
    });
    // A refused caller may be cut off while it still speaks.
    socket.on('error', () => undefined);
    socket.once('end', hungUp);
    socket.once('close', hungUp);
    socket.once('connect', () => void say(socket, pieces, pace_ms, () => over));
  });
  socket.destroy();
  return { ...answersIn(Buffer.concat(chunks), bodiless), closed };
}

/** After the last answer no other may come. */
const settling_ms = 20;

async function say(
  socket: Socket,
  pieces: readonly (string | Buffer)[],
  pace_ms: number,
  over: () => boolean,
): Promise<void> {
  for (const [at, piece] of pieces.entries()) {
    if (over() || !socket.writable) return;
    socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
    if (at + 1 < pieces.length) await (pace_ms > 0 ? sleep(pace_ms) : new Promise(setImmediate));
  }
}

/** Takes a stream of answers apart. Every answer of ours says its length. */
export function answersIn(bytes: Buffer, bodiless: readonly number[] = []): { answers: RawAnswer[]; rest: Buffer } {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const head = /^HTTP\/1\.1 (\d{3}) [^\r]*\r\n/.exec(rest.subarray(0, end + 4).toString('latin1'));
    if (end < 0 || head === null) return { answers, rest };
    const headers: Record<string, string> = {};
    for (const line of rest.subarray(head[0].length, end).toString('latin1').split('\r\n')) {
      const [, name, value] = /^([\w-]+): ?(.*)$/.exec(line) ?? [];
      // What is no header, or one given twice, makes the rest unreadable: it is told as such.
      if (line !== '' && (name === undefined || name.toLowerCase() in headers)) return { answers, rest };
      if (name !== undefined) headers[name.toLowerCase()] = value!;
    }
    const length = bodiless.includes(answers.length) ? 0 : Number(headers['content-length'] ?? 0);
    const whole = end + 4 + length;
    if (rest.length < whole) return { answers, rest };
    const status = Number(head[1]);
    if (status >= 200) answers.push({ status, headers, body: rest.subarray(end + 4, whole) });
    rest = rest.subarray(whole);
  }
}
