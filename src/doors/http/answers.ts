/** Answers on their way out: what stands in front of each, and when it has gone. */
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Trace } from '../../engine/execute.ts';
import type { Body } from '../../operations/rendered.ts';
import type { Exchange } from './exchange.ts';
import { problemType } from './problem.ts';

/** An answer of an operation that is no file. */
interface JsonAnswer {
  readonly status: number;
  readonly body: Body;
  readonly replayed: boolean;
}

/** An answer of an operation that is one. `size`: bytes of `content`. */
interface FileAnswer {
  readonly name: string;
  readonly media: string;
  readonly size: number;
  readonly content: Readable;
}

/** Before what Fastify sends: pages and files. */
export function addFields(exchange: Exchange, reply: FastifyReply): void {
  reply.header('x-request-id', exchange.id);
  reply.header('x-content-type-options', 'nosniff');
  if (reply.getHeader('cache-control') === undefined) reply.header('cache-control', 'no-store');
  if (exchange.isLast) reply.header('connection', 'close');
}

/** The same before what is sent past it: each name, and its value behind it. */
function fieldsOf(exchange: Exchange, media: string, length: number): string[] {
  const fields = ['content-type', media, 'x-request-id', exchange.id];
  fields.push('x-content-type-options', 'nosniff', 'cache-control', 'no-store');
  if (exchange.isLast) fields.push('connection', 'close');
  fields.push('content-length', String(length));
  return fields;
}

/** The JSON of an operation. */
export function sendJson(exchange: Exchange, { status, body, replayed }: JsonAnswer, trace: Trace): void {
  if (exchange.isAnswered) return;
  const fields = fieldsOf(exchange, 'application/json; charset=utf-8', body.length);
  if (replayed) fields.push('idempotent-replayed', 'true');
  addRateFields(fields, trace);
  const out = exchange.response.writeHead(status, fields);
  if (typeof body === 'string') out.end(body, 'latin1');
  else out.end(body);
}

/** A file. `failed`: nothing of it could be read, and nothing has been sent. */
export function sendFile(
  exchange: Exchange,
  { name, media, size, content }: FileAnswer,
  trace: Trace,
  failed: (error: unknown) => void,
): void {
  const { response } = exchange;
  if (exchange.isAnswered) return void content.destroy();
  const fields = fieldsOf(exchange, media, size);
  fields.push('content-disposition', `attachment; filename="${name}"`);
  addRateFields(fields, trace);
  // They go out with the first bytes.
  for (let at = 0; at < fields.length; at += 2) response.setHeader(fields[at]!, fields[at + 1]!);
  content.on('error', (error) => {
    // Whoever waits for the rest must not take what there is for the whole.
    if (response.headersSent) return void response.destroy();
    for (const field of response.getHeaderNames()) response.removeHeader(field);
    failed(error);
  });
  content.pipe(response);
}

/** A refusal as its text; `more`: fields of this one. */
export function sendProblem(
  exchange: Exchange,
  { status, text, more }: { readonly status: number; readonly text: string; readonly more: readonly string[] },
  trace: Trace,
): void {
  if (exchange.isAnswered) return;
  const fields = fieldsOf(exchange, problemType, Buffer.byteLength(text));
  fields.push(...more);
  addRateFields(fields, trace);
  exchange.response.writeHead(status, fields).end(text);
}

/** RateLimit header fields of the IETF httpapi draft. Not before it is known who asks. */
function addRateFields(fields: string[], { rate }: Trace): void {
  if (rate === undefined) return;
  const { limit, remaining, resetSeconds } = rate;
  const left = `"credential";r=${remaining};t=${resetSeconds}`;
  fields.push('ratelimit-policy', `"credential";q=${limit};w=60`, 'ratelimit', left);
}

/** A caller that takes nothing of its answer for so long has gone. Most answers are out at once: no clock is set for those. */
export function watchTaking(response: ServerResponse, deadline_ms: number): void {
  if (response.writableEnded && response.writableLength === 0) return;
  response.setTimeout(deadline_ms, () => response.destroy());
}

type Observe = (route: string, status: number, seconds: number) => void;

/** Tells when the answer is out. `route`: template of its address, or "unknown". */
export function observeEnd({ response }: Exchange, route: string, observe: Observe): void {
  const from = performance.now();
  response.on('error', nobodyReads).on('close', () => {
    if (!response.writableFinished) return;
    observe(route, response.statusCode, (performance.now() - from) / 1000);
  });
}

/** An error of an answer that nobody listens to would end the process. */
function nobodyReads(): void {}
