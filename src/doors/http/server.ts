/**
 * The HTTP door: one Fastify server with a route per declared operation, the machine-readable description, the pages
 * for people, signed files, health and the published keys. It translates and nothing else; rules live further in.
 */
import type { IncomingMessage } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Logger } from 'pino';
import { type Corridor, execute, type Trace } from '../../engine/execute.ts';
import type { Rate } from '../../engine/rate.ts';
import { CallerGone, SpooledFile } from '../../engine/spool.ts';
import { Refusal, type RefusalCode } from '../../fiscal/refusal.ts';
import { operations } from '../../operations/all.ts';
import type { Operation } from '../../operations/operation.ts';
import { FailureLog } from '../failure-log.ts';
import { addFields, addRateFields, observeEnd, sendJson, watchTaking } from './answers.ts';
import { Bodies, type BodyLimits, isRead, leaveBodies } from './bodies.ts';
import { addDocs } from './docs.ts';
import { logFailure } from './failures.ts';
import { addFiles } from './files.ts';
import { isDoubtful, longest_address, openServer, pathOf } from './framing.ts';
import { addHealth } from './health.ts';
import { refuseOtherMethods, routesOf } from './methods.ts';
import { describeOperation, registerDescription } from './openapi.ts';
import { languageOf, problemBody } from './problem.ts';
import { callOf, networkOfCaller, requestIdOf } from './requests.ts';
import type { RoomLimits } from './room.ts';
import { Untaken } from './untaken.ts';
import { addWellKnown, type PublicKeys } from './well-known.ts';

const problemType = 'application/problem+json; charset=utf-8';
// As much for what comes in as for what goes out. Almost every body, and answer that waits, is shorter than what is little.
const room: RoomLimits = { ofOne: 64 * 2 ** 20, together: 256 * 2 ** 20, little: 128 * 2 ** 10 };
const body_limits: BodyLimits = { largest: 2 ** 20, room };
/** Requests that fail for the same passing cause are logged once in this time, with their count. */
const failures_window_ms = 1_000;

export interface HttpDoor {
  readonly corridor: Corridor;
  readonly addressRate: Rate;
  /** Addresses and networks whose X-Forwarded-For says who is asking. */
  readonly trustedProxies: readonly string[];
  readonly log: Logger;
  /** For a request to arrive whole; and a caller that takes nothing of its answer for so long has gone. Milliseconds. */
  readonly deadline_ms: number;
  /** Counts finished requests for the metrics. */
  readonly observe: (route: string, status: number, seconds: number) => void;
  readonly publicKeys: PublicKeys['publicKeys'];
}

/** The door, open. */
interface OpenDoor extends HttpDoor {
  readonly failures: FailureLog;
  readonly untaken: Untaken;
}

/** Ready for requests, not listening yet. */
export async function buildServer(parts: HttpDoor): Promise<FastifyInstance> {
  const door: OpenDoor = {
    ...parts,
    failures: new FailureLog(parts.log, failures_window_ms),
    untaken: new Untaken(room),
  };
  const { world } = door.corridor;
  const bodies = new Bodies(body_limits);
  const app = fastify({
    logger: false,
    // The database is there until the last answer is out: what comes on open connections is served, and they are closed.
    return503OnClosing: false,
    trustProxy: door.trustedProxies.length > 0 && [...door.trustedProxies],
    genReqId: (request) => requestIdOf(request.headers['x-request-id'], world.newId),
    routerOptions: {
      // No part of an address is longer than the address may be.
      maxParamLength: longest_address,
      onBadUrl: (_path, request, response) => {
        const { text, headers } = rendered(new Refusal('BAD_HTTP'), door, request);
        response.writeHead(400, headers).end(text);
      },
    },
    serverFactory: (handler) =>
      openServer(handler, {
        deadline_ms: door.deadline_ms,
        render: (refusal, request) => rendered(refusal, door, request),
      }),
    // What is broken below a request never gets to Fastify.
    clientErrorHandler: () => undefined,
  });

  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    observeEnd(request, reply, door.observe);
    if (raw.url !== undefined && raw.url.length > longest_address) return done(new Refusal('URI_TOO_LONG'));
    if (isDoubtful(raw)) {
      // Nobody knows where its body ends.
      reply.header('connection', 'close');
      return done(new Refusal('BAD_HTTP'));
    }
    if (!isRead(raw)) return done();
    // Bodies arrive as bytes; the corridor decides when and how they are read.
    bodies.read(raw, reply.raw, networkOfCaller(request), (refusal, bytes) => {
      if (refusal === null) {
        request.body = bytes;
        return done();
      }
      // More of it may come.
      reply.header('connection', 'close');
      done(refusal);
    });
  });
  // Schemas on routes only describe; checking happens in the engine.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));

  app.addHook('onSend', (request, reply, payload, done) => {
    addFields(request, reply);
    done(null, payload);
    watchTaking(reply.raw, door.deadline_ms);
  });
  app.addHook('onClose', async () => {
    door.failures.close();
    await door.corridor.press.releases.close();
  });
  app.setErrorHandler((error, request, reply) => sendProblem(reply, request, refusalOf(error), door, error));
  const routes = routesOf(app);
  await registerDescription(app, world);
  for (const operation of operations) addOperation(app, operation, door);
  leaveBodies(app);
  addWellKnown(app, { publicKeys: door.publicKeys, certificateNumber: world.certificateNumber });
  addHealth(app, door.corridor.db);
  addFiles(app, door.corridor, door.untaken);
  await addDocs(app, world);
  refuseOtherMethods(app, routes, (request, reply, refusal) => sendProblem(reply, request, refusal, door));
  return app;
}

function addOperation(app: FastifyInstance, operation: Operation, door: OpenDoor): void {
  app.route({
    method: operation.method,
    url: operation.path,
    schema: describeOperation(operation),
    handler: (request, reply) => serve(operation, request, reply, door),
  });
}

async function serve(
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  door: OpenDoor,
): Promise<unknown> {
  const trace: Trace = {};
  const gone = operation.media === undefined ? notWatched : goneSignal(reply);
  const network = networkOfCaller(request);
  try {
    door.addressRate.check(network);
    if (operation.kind === 'read') door.untaken.check(network, 1);
    else door.untaken.checkChange(network);
    const { status, body, replayed } = await execute(door.corridor, callOf(operation, request, gone), trace);
    if (body instanceof SpooledFile) {
      addRateFields(reply, trace);
      return sendFile(reply, body, String(operation.media), gone);
    }
    if (operation.kind === 'read') door.untaken.check(network, body.length);
    // Of many that were begun at once. What was done stays done: its idempotency key tells it again.
    else if (!door.untaken.fits(network, body.length)) return hangUp(reply);
    sendJson(request, reply, { status, body, replayed }, trace);
    door.untaken.watch(reply.raw, network, body.length);
    return watchTaking(reply.raw, door.deadline_ms);
  } catch (error) {
    if (error instanceof CallerGone) return reply.hijack();
    addRateFields(reply, trace);
    const refusal = refusalOf(error);
    if (unknownCaller.has(refusal.code)) door.addressRate.count(network);
    return sendProblem(reply, request, refusal, door, error);
  }
}

/** Refusals of who is not known by any credential: they count against the address (decision 0020). */
const unknownCaller: ReadonlySet<RefusalCode> = new Set(['UNAUTHENTICATED', 'AMBIGUOUS_CREDENTIALS']);

/** On a caller that takes no answers. */
function hangUp(reply: FastifyReply): FastifyReply {
  reply.hijack().raw.destroy();
  return reply;
}

/** Only a file takes so long that it pays to look whether the caller is still there. */
const notWatched = new AbortController().signal;

/** Aborted when the connection closes before the answer is out. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

function sendFile(reply: FastifyReply, file: SpooledFile, media: string, gone: AbortSignal): FastifyReply {
  return reply
    .code(200)
    .type(media)
    .header('content-length', file.size)
    .header('content-disposition', `attachment; filename="${file.name}"`)
    .send(file.content(gone));
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const status = (error as { statusCode?: unknown }).statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500) return new Refusal('BAD_HTTP');
  return new Refusal('INTERNAL_ERROR');
}

function sendProblem(
  reply: FastifyReply,
  request: FastifyRequest,
  refusal: Refusal,
  door: OpenDoor,
  cause?: unknown,
): FastifyReply {
  logFailure(door.failures, refusal, cause, request.id);
  if (refusal.status === 401) reply.header('www-authenticate', 'ApiKey realm="certo", header="x-api-key"');
  if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', String(refusal.retryAfterSeconds));
  const text = problemText(refusal, door, request.id, request);
  return reply.code(refusal.status).type(problemType).send(text);
}

/** The answer to what never became a request of Fastify's; `request` where it is known which one it was. */
function rendered(
  refusal: Refusal,
  door: HttpDoor,
  request?: IncomingMessage,
): { text: string; headers: Record<string, string> } {
  const requestId = requestIdOf(request?.headers['x-request-id'], door.corridor.world.newId);
  const text = problemText(refusal, door, requestId, request);
  return {
    text,
    headers: {
      'content-type': problemType,
      'content-length': String(Buffer.byteLength(text)),
      'x-request-id': requestId,
    },
  };
}

/** In the language and with the path of the request. What CONNECT asks for is no path (RFC 9112, section 3.2.3). */
function problemText(
  refusal: Refusal,
  { corridor }: HttpDoor,
  requestId: string,
  request: Pick<IncomingMessage, 'headers' | 'method' | 'url'> | undefined,
): string {
  const instance = request?.url === undefined || request.method === 'CONNECT' ? '' : pathOf(request.url);
  const language = languageOf(request?.headers['accept-language']);
  return JSON.stringify(problemBody(refusal, { language, requestId, instance, baseUrl: corridor.world.baseUrl }));
}
