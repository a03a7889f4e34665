/** Plays a fault on one request: what the wire does is written here, not asked of the real code. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { aboutAnother, brokenXml, cannedReply, htmlPage, ofAnotherOperation } from './canned.ts';
import type { RequestPlay } from './faults.ts';
import type { Answered, Asked } from './judge.ts';
import { authenticationFault, fault } from './soap-replies.ts';
import { sendHeaders, strangeBytes } from './strange-bytes.ts';

export interface Stage {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly asked: Asked;
  /** The true answer, when the request was carried out. */
  readonly answered: Answered | undefined;
  readonly now: Date;
}

const hugeBytes = 100 << 20;
/** 20 MB in 20 KB, made when first needed. */
let bomb: Buffer | undefined;

/** Plays one fault on the response, or on the socket below it. Some leave the caller without any answer. */
export async function play({ kind, milliseconds }: RequestPlay, stage: Stage): Promise<void> {
  const { request, response, asked, now } = stage;
  const truth = stage.answered?.xml ?? cannedReply('system-error', asked, now);
  const cut = (): void => void request.socket.destroy();
  switch (kind) {
    case 'no-answer':
    case 'no-answer-after':
      return;
    case 'slow':
      await wait(milliseconds, undefined, { ref: false });
      return sendXml(response, stage.answered?.status ?? 200, truth);
    case 'reset-before':
    case 'reset-after':
      return resetConnection(request);
    case 'truncated':
      response.writeHead(200, { ...xmlType, 'Content-Length': Buffer.byteLength(truth) });
      response.write(truth.slice(0, Math.floor(truth.length / 2)), cut);
      return;
    case 'truncated-xml':
      return sendXml(response, 200, truth.slice(0, Math.floor(truth.length / 2)));
    case 'http-500':
      return send(response, 500, 'text/plain', 'Internal Server Error');
    case 'http-503':
    case 'http-503-after':
      response.setHeader('Retry-After', '3600');
      return send(response, 503, 'text/plain', 'Service Unavailable');
    case 'wrong-status':
      return sendXml(response, 500, truth);
    case 'html':
      return send(response, 200, 'text/html; charset=utf-8', htmlPage);
    case 'malformed-xml':
    case 'xxe':
    case 'billion-laughs':
    case 'deep-xml':
      return sendXml(response, 200, brokenXml[kind]);
    case 'huge':
      return sendMuch(response, hugeBytes);
    case 'endless':
      return sendMuch(response, Number.POSITIVE_INFINITY);
    case 'endless-headers':
      return sendHeaders(request.socket);
    case 'drip':
      return drip(response, truth);
    case 'soap-fault':
      return sendXml(response, 500, fault('env:Server', 'Internal Error (from server)'));
    case 'wrong-credentials':
    case 'key-repeated':
    case 'clock-apart':
      return sendXml(response, 500, authenticationFault(headerRefusals[kind](asked.operation === 'reportTransport')));
    case 'system-error':
    case 'series-unknown':
    case 'document-refused':
    case 'already-registered':
      return sendXml(response, 200, cannedReply(kind, asked, now));
    case 'other-document':
      // The invoice service names no document in its answers, so there the answer is another operation's.
      return sendXml(response, 200, aboutAnother(truth) === truth ? ofAnotherOperation(truth) : aboutAnother(truth));
    case 'other-operation':
      return sendXml(response, 200, ofAnotherOperation(truth));
    case 'wrong-content-type':
      return send(response, 200, 'application/json', truth);
    case 'redirect':
      response.writeHead(302, { Location: 'https://127.0.0.1:1/elsewhere', 'Content-Length': 0 });
      response.end();
      return;
    case 'gzip-bomb':
      response.writeHead(200, { ...xmlType, 'Content-Encoding': 'gzip' });
      bomb ??= gzipSync(Buffer.alloc(20 << 20, 32));
      response.end(bomb);
      return;
    case 'empty-body':
      return sendXml(response, 200, '');
    case 'no-content':
      response.writeHead(204, xmlType);
      response.end();
      return;
    case 'other-encoding':
    case 'broken-encoding':
    case 'two-lengths':
    case 'bad-framing':
    case 'two-replies':
    case 'not-http':
      return void request.socket.end(strangeBytes(kind, truth));
  }
}

/** What the AT says of a security header; the transport service has numbers of its own. */
const headerRefusals = {
  'wrong-credentials': () => ({
    code: 99,
    message: 'Erro na validação da senha (Senha errada, acesso suspenso, etc.)',
  }),
  'key-repeated': (transport: boolean) => ({ code: transport ? 13 : 12, message: 'Chave simétrica repetida' }),
  'clock-apart': (transport: boolean) => ({ code: transport ? 11 : 10, message: 'Validade da credencial expirada' }),
} as const;

const xmlType = { 'Content-Type': 'text/xml; charset=utf-8' };

/** A whole answer as an AT that is well sends it. */
export function sendXml(response: ServerResponse, status: number, xml: string): void {
  send(response, status, xmlType['Content-Type'], xml);
}

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

function resetConnection(request: IncomingMessage): void {
  request.socket.destroy();
}

/** So much as fast as the other side reads; stops when it hangs up. */
async function sendMuch(response: ServerResponse, bytes: number): Promise<void> {
  response.writeHead(200, xmlType);
  const chunk = Buffer.alloc(1 << 16, 32);
  await pipeline(function* () {
    for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk;
  }, response);
}

/** One byte per second. */
async function drip(response: ServerResponse, xml: string): Promise<void> {
  response.writeHead(200, { ...xmlType, 'Content-Length': Buffer.byteLength(xml) });
  for (const byte of Buffer.from(xml)) {
    if (response.destroyed) return;
    response.write(Buffer.of(byte));
    await wait(1_000, undefined, { ref: false });
  }
  response.end();
}
