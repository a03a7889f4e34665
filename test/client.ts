/**
 * A small HTTP client for tests: sends exactly the bytes it is given over a loopback connection, so that a test can be
 * as wrong as a caller can be, and hands back exactly what came.
 */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface Sent {
  readonly method: string;
  /** Path and query, as it goes over the wire. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer | undefined;
}

export interface Answer<T = Refused> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body parsed, when it is JSON; else undefined. */
  readonly json: T;
}

/** A problem+json body. */
export interface Refused {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: string;
  readonly requestId: string;
  readonly errors?: readonly { readonly pointer: string; readonly code: string; readonly message: string }[];
  readonly message: string;
  readonly statusCode: number;
  readonly currentUpdatedAt?: string;
  readonly reasons?: readonly string[];
}

export interface Wire {
  send<T = Refused>(sent: Sent): Promise<Answer<T>>;
  close(): void;
}

/**
 * Without a limit of its own on connections that rest, Node's agent passes over the server's (`Keep-Alive: timeout`), and may
 * send on one that the server is just closing.
 */
const longest_rest_ms = 3_600_000;

/** A client of one loopback port, with so many connections at most. */
export function openWire(port: number, connections = 128): Wire {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, timeout: longest_rest_ms });
  return {
    send: <T>(sent: Sent) => exchange<T>(agent, port, sent),
    close: () => agent.destroy(),
  };
}

function exchange<T>(agent: Agent, port: number, sent: Sent): Promise<Answer<T>> {
  return new Promise((resolve, reject) => {
    let answered = false;
    const length = sent.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(sent.body)) };
    const outgoing = request(
      { host: '127.0.0.1', port, agent, method: sent.method, path: sent.path, headers: { ...length, ...sent.headers } },
      (incoming) => {
        answered = true;
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks);
          resolve(answerOf<T>(incoming.statusCode ?? 0, incoming.headers, bytes));
        });
      },
    );
    // A server that refuses a large body answers while it is still being sent: what breaks after that is no failure.
    outgoing.on('error', (error) => {
      if (!answered) reject(error);
    });
    outgoing.end(sent.body);
  });
}

function answerOf<T>(status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer<T> {
  const text = bytes.toString('utf8');
  const isJson = /^application\/(problem\+)?json/.test(headers['content-type'] ?? '') && text !== '';
  return { status, headers, bytes, text, json: (isJson ? JSON.parse(text) : undefined) as T };
}
