/**
 * One HTTPS POST with mutual TLS to the AT, under one deadline for everything (waiting for a connection, TLS, reply).
 * Never throws for what the other side does: whatever is not a complete, plain, small XML reply becomes a problem.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Endpoint } from './endpoints.ts';

/**
 * `reply`: whole, whatever its status. `failed`: none came, or none that can be taken; `sent` false when nothing left
 * this machine.
 */
export type Reply =
  | { readonly kind: 'reply'; readonly status: number; readonly text: string }
  | { readonly kind: 'failed'; readonly problem: string; readonly sent: boolean };

export interface PostOptions {
  readonly deadlineMilliseconds: number;
  readonly signal?: AbortSignal | undefined;
  /** Of the gateway: once it is closed nothing leaves, and nothing is waited for. */
  readonly closed: AbortSignal;
}

/** Largest reply read: 1 MiB. An answer about one document has about 1 KB, a list of 1,000 series about 600 KB. */
const maxReplyBytes = 1 << 20;

/** Idle connections are closed after this time, before the server does, which would look like a lost reply. */
const idleMilliseconds = 4_000;

export interface TlsMaterial {
  readonly certPem: string;
  readonly keyPem: string;
  /** Root certificates to trust instead of the system's. */
  readonly caPem?: string | undefined;
}

/** Connections over TLS 1.2 or newer that show our certificate, `maxConnections` to one server at a time. */
export function openAgent(tls: TlsMaterial, maxConnections: number): Agent {
  return new Agent({
    cert: tls.certPem,
    key: tls.keyPem,
    ...(tls.caPem === undefined ? {} : { ca: tls.caPem }),
    minVersion: 'TLSv1.2',
    keepAlive: true,
    maxSockets: maxConnections,
    timeout: idleMilliseconds,
  });
}

/**
 * Always resolves. `sent` of a failure says whether anything left this machine: false is the only proof that the AT
 * has not got it.
 */
export function post(agent: Agent, endpoint: Endpoint, body: string, options: PostOptions): Promise<Reply> {
  const { signal, closed } = options;
  const whyNot = (): string => (closed.aborted ? 'this program hung up' : 'given up');
  if (closed.aborted || signal?.aborted === true)
    return Promise.resolve({ kind: 'failed', problem: whyNot(), sent: false });
  return new Promise((resolve) => {
    let sent = false;
    const outgoing = request(endpoint.url, { method: 'POST', agent, headers: headersOf(endpoint, body) });
    const settle = (reply: Reply): void => {
      clearTimeout(timer);
      for (const each of [closed, signal]) each?.removeEventListener('abort', giveUp);
      resolve(reply);
    };
    const fail = (problem: string): void => {
      settle({ kind: 'failed', problem, sent });
      outgoing.destroy();
    };
    const giveUp = (): void => fail(whyNot());
    const timer = setTimeout(fail, options.deadlineMilliseconds, 'no complete answer in time');
    for (const each of [closed, signal]) each?.addEventListener('abort', giveUp);
    noteSending(outgoing, () => {
      sent = true;
    });
    outgoing.on('error', (error) => fail(problemOf(error)));
    outgoing.on('response', (incoming) => {
      read(incoming).then(
        (text) => settle({ kind: 'reply', status: incoming.statusCode ?? 0, text }),
        (error: Error) => fail(error.message),
      );
    });
    outgoing.end(body);
  });
}

function headersOf(endpoint: Endpoint, body: string): Record<string, string | number> {
  return {
    'Content-Type': 'text/xml; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    SOAPAction: endpoint.soapAction,
    Accept: 'text/xml',
    'Accept-Encoding': 'identity',
  };
}

/**
 * Before the handshake is over nothing of the request leaves; a kept connection sends at once. `reusedSocket` says so only
 * of a call that did not have to wait for its connection.
 */
function noteSending(outgoing: ClientRequest, note: () => void): void {
  outgoing.on('socket', (socket) => {
    if ((socket as TLSSocket).authorized) note();
    else socket.once('secureConnect', note);
  });
}

/** The text of a fit reply; rejects with a short problem (never one of the other side's own words). */
async function read(incoming: IncomingMessage): Promise<string> {
  const status = incoming.statusCode ?? 0;
  // Redirects are never followed: the credentials are meant for this address alone.
  if (status >= 300 && status < 400) throw new Error(`the AT redirects (HTTP ${status}); not followed`);
  if (status !== 200 && status !== 500) throw new Error(`the AT answered HTTP ${status}`);
  if (!isXml(incoming.headers['content-type']))
    throw new Error(`the AT answered HTTP ${status} with something else than XML`);
  if ((incoming.headers['content-encoding'] ?? 'identity') !== 'identity') throw new Error('the reply is compressed');
  if (Number(incoming.headers['content-length'] ?? 0) > maxReplyBytes) throw new Error('the reply is too large');
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxReplyBytes) break;
      chunks.push(chunk);
    }
  } catch {
    throw new Error('the reply ended early');
  }
  if (size > maxReplyBytes) throw new Error('the reply is too large');
  return decode(Buffer.concat(chunks, size), incoming.headers['content-type'] ?? '');
}

function isXml(contentType: string | undefined): boolean {
  return /^(?:text\/xml|application\/xml|application\/soap\+xml)\s*(?:;|$)/i.test(contentType ?? '');
}

/** UTF-8 as the manuals say; Latin-1 where the reply declares it, since a wrong accent must not hide an answer. */
function decode(bytes: Buffer, contentType: string): string {
  const head = bytes.subarray(0, 100).toString('latin1');
  const declared =
    /encoding=["']([\w-]{1,20})["']/i.exec(head)?.[1] ?? /charset="?([\w-]{1,20})/i.exec(contentType)?.[1] ?? 'utf-8';
  const latin = /^(?:iso-8859-1|iso-8859-15|windows-1252)$/i.test(declared);
  try {
    return new TextDecoder(latin ? 'windows-1252' : 'utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('the reply is not valid UTF-8');
  }
}

const problems: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the AT refused the connection',
  ECONNRESET: 'the AT closed the connection without an answer',
  EPIPE: 'the AT closed the connection without an answer',
  ENOTFOUND: 'the address of the AT was not found',
  EAI_AGAIN: 'the address of the AT was not found',
  ETIMEDOUT: 'the AT could not be reached',
  EHOSTUNREACH: 'the AT could not be reached',
  ENETUNREACH: 'the AT could not be reached',
};

/** A sentence from the error's code alone: its message may hold what the other side wrote. */
function problemOf(error: NodeJS.ErrnoException): string {
  const code = error.code ?? '';
  if (problems[code] !== undefined) return problems[code];
  if (code.startsWith('HPE_')) return 'the AT did not answer in HTTP';
  // OpenSSL's verdicts on a certificate (CERT_HAS_EXPIRED, INVALID_PURPOSE …) all have an underscore.
  const isTls = code === 'EPROTO' || /^ERR_(?:SSL|TLS|OSSL)_|^(?!ERR_)[A-Z]+_/.test(code);
  if (isTls && /^\w{1,60}$/.test(code)) return `TLS with the AT failed (${code})`;
  return `the connection to the AT failed${/^\w{1,60}$/.test(code) ? ` (${code})` : ''}`;
}
