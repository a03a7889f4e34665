/** What happens to a request: its body arrives, and an operation answers it or it is refused. */
import type { AddressLimit } from '../../engine/address-limit.ts';
import { type Corridor, execute, type Trace } from '../../engine/execute.ts';
import { CallerGone, SpooledFile } from '../../engine/spool.ts';
import { Refusal, type RefusalCode } from '../../fiscal/refusal.ts';
import type { Operation } from '../../operations/operation.ts';
import type { FailureLog } from '../failure-log.ts';
import { observeEnd, sendFile, sendJson, sendProblem, watchTaking } from './answers.ts';
import { type Bodies, isRead } from './bodies.ts';
import type { Exchange } from './exchange.ts';
import { logFailure } from './failures.ts';
import { isDoubtful, longest_address } from './framing.ts';
import { problemText } from './problem.ts';
import { type Address, callOf, subjectOfCaller } from './requests.ts';
import type { Untaken } from './untaken.ts';

/** What serving takes of the door. */
export interface Serving {
  readonly corridor: Corridor;
  readonly addressLimit: AddressLimit;
  /** A caller that takes nothing of its answer for so long has gone. Milliseconds. */
  readonly deadline_ms: number;
  /** Counts finished requests for the metrics. */
  readonly observe: (route: string, status: number, seconds: number) => void;
  readonly failures: FailureLog;
  readonly bodies: Bodies;
  readonly untaken: Untaken;
}

/** `done`: when the whole of its body is there, or with what is wrong with it. `route`: template of its address, or "unknown". */
export function arrive(
  exchange: Exchange,
  route: string,
  { bodies, observe }: Serving,
  done: (refusal: Refusal | null) => void,
): void {
  const { request, response, network } = exchange;
  observeEnd(exchange, route, observe);
  const refusal = refusalOfHead(exchange);
  if (refusal !== null || !isRead(request)) {
    done(refusal);
    return;
  }
  // Bodies arrive as bytes; the corridor decides when and how they are read.
  bodies.read(request, response, network, (refusal, bytes) => {
    // More of it may come.
    if (refusal !== null) exchange.endConnection();
    else exchange.body = bytes!;
    done(refusal);
  });
}

function refusalOfHead(exchange: Exchange): Refusal | null {
  const { request } = exchange;
  if (request.url !== undefined && request.url.length > longest_address) return new Refusal('URI_TOO_LONG');
  if (!isDoubtful(request)) return null;
  // Nobody knows where its body ends.
  exchange.endConnection();
  return new Refusal('BAD_HTTP');
}

/** By the operation. Never rejects: whatever goes wrong is answered, or nobody is there to be answered. */
export async function serve(
  operation: Operation,
  exchange: Exchange,
  address: Address,
  serving: Serving,
): Promise<void> {
  const { corridor, addressLimit, untaken, deadline_ms } = serving;
  const { response, network } = exchange;
  const { kind, media } = operation;
  const trace: Trace = {};
  const gone = media === undefined ? notWatched : goneSignal(exchange);
  try {
    if (addressLimit.isUsedUp(network)) checkCaller(exchange, serving);
    if (kind === 'read') untaken.check(network, 1);
    else untaken.checkChange(network);
    const { status, body, replayed } = await execute(corridor, callOf(operation, exchange, address, gone), trace);
    if (body instanceof SpooledFile) {
      const { name, size } = body;
      const file = { name, size, media: String(media), content: body.content(gone) };
      sendFile(exchange, file, trace, (error) => refuseBy(exchange, error, serving, trace));
    } else {
      if (kind === 'read') untaken.check(network, body.length);
      // Of many that were begun at once. What was done stays done: its idempotency key tells it again.
      else if (!untaken.fits(network, body.length)) return void response.destroy();
      sendJson(exchange, { status, body, replayed }, trace);
      untaken.watch(response, network, body.length);
    }
    watchTaking(response, deadline_ms);
  } catch (error) {
    if (error instanceof CallerGone) return;
    refuseBy(exchange, error, serving, trace);
  }
}

/** From an address that has used up its limit. Throws RATE_LIMITED unless the caller is known, or may be tried. */
function checkCaller({ request, network }: Exchange, { corridor, addressLimit }: Serving): void {
  const subject = subjectOfCaller(request);
  if (subject !== undefined && corridor.world.memory.wasLatelyValid(subject)) return;
  addressLimit.takeTrial(network, subject);
}

/** Refusals of who is not known by any credential: they count against the address (decision 0020). */
const unknownCaller: ReadonlySet<RefusalCode> = new Set(['UNAUTHENTICATED', 'AMBIGUOUS_CREDENTIALS']);

function refuseBy(exchange: Exchange, error: unknown, serving: Serving, trace: Trace): void {
  const refusal = refusalOf(error);
  if (unknownCaller.has(refusal.code)) serving.addressLimit.count(exchange.network);
  refuse(exchange, refusal, serving, { cause: error, trace });
}

/** Only a file takes so long that it pays to look whether the caller is still there. */
const notWatched = new AbortController().signal;

/** Aborted when the answer is out, or its connection gone. */
function goneSignal({ response }: Exchange): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

/** What is told of an error that was thrown. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const status = (error as { statusCode?: unknown }).statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500) return new Refusal('BAD_HTTP');
  return new Refusal('INTERNAL_ERROR');
}

interface Circumstances {
  /** What was thrown, where it is not the refusal itself. */
  readonly cause?: unknown;
  readonly trace?: Trace;
  /** Header fields of this refusal alone: each name, and its value behind it. */
  readonly fields?: readonly string[];
}

/** Answers with a problem, and logs what is ours to see to. */
export function refuse(
  exchange: Exchange,
  refusal: Refusal,
  { corridor, failures, deadline_ms }: Serving,
  { cause, trace = {}, fields = [] }: Circumstances = {},
): void {
  logFailure(failures, refusal, cause, exchange.id);
  const more = [...fields];
  if (refusal.status === 401) more.push('www-authenticate', 'ApiKey realm="certo", header="x-api-key"');
  if (refusal.retryAfterSeconds !== undefined) more.push('retry-after', String(refusal.retryAfterSeconds));
  const text = problemText(refusal, corridor.world.baseUrl, exchange.id, exchange.request);
  sendProblem(exchange, { status: refusal.status, text, more }, trace);
  watchTaking(exchange.response, deadline_ms);
}
