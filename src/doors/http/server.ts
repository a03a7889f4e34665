/**
 * The HTTP door: one Fastify server with a route per declared operation, the machine-readable description, the pages
 * for people, signed files, health and the published keys. It translates and nothing else; rules live further in.
 */
import type { IncomingMessage } from 'node:http';
import { type FastifyInstance, fastify } from 'fastify';
import type { Logger } from 'pino';
import { Refusal } from '../../fiscal/refusal.ts';
import { operations } from '../../operations/all.ts';
import type { Operation } from '../../operations/operation.ts';
import { FailureLog } from '../failure-log.ts';
import { addFields, watchTaking } from './answers.ts';
import { Bodies, type BodyLimits, leaveBodies } from './bodies.ts';
import { addDocs } from './docs.ts';
import { Exchange, type Made, requestIdOf } from './exchange.ts';
import { addFiles } from './files.ts';
import { longest_address, openServer } from './framing.ts';
import { addHealth } from './health.ts';
import { refuseOtherMethods, routesOf } from './methods.ts';
import { describeOperation, registerDescription } from './openapi.ts';
import { problemText, problemType } from './problem.ts';
import type { Address } from './requests.ts';
import type { RoomLimits } from './room.ts';
import { arrive, refusalOf, refuse, type Serving, serve } from './serve.ts';
import { Untaken } from './untaken.ts';
import { watchForProxy } from './untrusted-proxy.ts';
import { addWellKnown, type PublicKeys } from './well-known.ts';

// As much for what comes in as for what goes out. Almost every body, and answer that waits, is shorter than what is little.
const room: RoomLimits = { ofOne: 64 * 2 ** 20, together: 256 * 2 ** 20, little: 128 * 2 ** 10 };
const body_limits: BodyLimits = { largest: 2 ** 20, room };
/** Requests that fail for the same passing cause are logged once in this time, with their count. */
const failures_window_ms = 1_000;

export interface HttpDoor extends Pick<Serving, 'corridor' | 'addressLimit' | 'deadline_ms' | 'observe'> {
  /** Addresses and networks whose X-Forwarded-For says who is asking. */
  readonly trustedProxies: readonly string[];
  readonly log: Logger;
  readonly publicKeys: PublicKeys['publicKeys'];
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange;
  }
}

/** Ready for requests, not listening yet. */
export async function buildServer(door: HttpDoor): Promise<FastifyInstance> {
  const { world, press, db } = door.corridor;
  const serving: Serving = {
    ...door,
    failures: new FailureLog(door.log, failures_window_ms),
    bodies: new Bodies(body_limits),
    untaken: new Untaken(room),
  };
  const made: Made = {
    newId: world.newId,
    isEnding: () => !app.server.listening,
  };
  const app = fastify({
    logger: false,
    // The database is there until the last answer is out: what comes on open connections is served, and they are closed.
    return503OnClosing: false,
    trustProxy: door.trustedProxies.length > 0 && [...door.trustedProxies],
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

  app.decorateRequest('exchange', null as unknown as Exchange);
  const watch = door.trustedProxies.length === 0 ? watchForProxy(door.log) : undefined;
  app.addHook('onRequest', (request, reply, done) => {
    watch?.(request.raw);
    request.exchange = new Exchange(request.raw, reply.raw, request.ip, made);
    arrive(request.exchange, request.routeOptions.url ?? 'unknown', serving, (refusal) => done(refusal ?? undefined));
  });
  // Schemas on routes only describe; checking happens in the engine.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));

  app.addHook('onSend', ({ exchange }, reply, payload, done) => {
    addFields(exchange, reply);
    done(null, payload);
    watchTaking(reply.raw, door.deadline_ms);
  });
  app.addHook('onClose', async () => {
    serving.failures.close();
    await press.releases.close();
  });
  app.setErrorHandler((error, { exchange }, reply) => {
    reply.hijack();
    refuse(exchange, refusalOf(error), serving, { cause: error });
  });
  const routes = routesOf(app);
  await registerDescription(app, world);
  for (const operation of operations) addOperation(app, operation, serving);
  leaveBodies(app);
  addWellKnown(app, { publicKeys: door.publicKeys, certificateNumber: world.certificateNumber });
  addHealth(app, db);
  addFiles(app, door.corridor, serving.untaken);
  await addDocs(app, world);
  refuseOtherMethods(app, routes, ({ exchange }, reply, refusal, fields) => {
    refuse(exchange, refusal, serving, { fields });
    return reply.hijack();
  });
  return app;
}

function addOperation(app: FastifyInstance, operation: Operation, serving: Serving): void {
  app.route({
    method: operation.method,
    url: operation.path,
    schema: describeOperation(operation),
    handler: ({ exchange, params, query }, reply) => {
      reply.hijack();
      return serve(operation, exchange, { params, query } as Address, serving);
    },
  });
}

/** The answer to what never became a request of Fastify's; `request` where it is known which one it was. */
function rendered(
  refusal: Refusal,
  { corridor: { world } }: HttpDoor,
  request?: IncomingMessage,
): { text: string; headers: Record<string, string> } {
  const requestId = requestIdOf(request?.headers['x-request-id'], world.newId);
  const text = problemText(refusal, world.baseUrl, requestId, request);
  return {
    text,
    headers: {
      'content-type': problemType,
      'content-length': String(Buffer.byteLength(text)),
      'x-request-id': requestId,
    },
  };
}
