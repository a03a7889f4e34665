/** Which methods an address takes: the others are 405 with `Allow` (RFC 9110, section 15.5.6), other addresses 404. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { Refusal } from '../../fiscal/refusal.ts';
import { pathOf } from './framing.ts';

interface Route {
  readonly methods: readonly string[];
  /** Path template with ":id". */
  readonly url: string;
}

/** The routes that are added from here on. */
export function routesOf(app: FastifyInstance): readonly Route[] {
  const routes: Route[] = [];
  app.addHook('onRoute', ({ method, url }) => void routes.push({ methods: [method].flat(), url }));
  return routes;
}

/** A route and what is between the slashes of its template, so that no address has it taken apart again. */
interface Place extends Route {
  readonly parts: readonly string[];
}

/** `fields`: header fields, each name and its value behind it. */
type Refuse = (
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Refusal,
  fields: readonly string[],
) => FastifyReply;

/** Once all routes are there. */
export function refuseOtherMethods(app: FastifyInstance, all: readonly Route[], refuse: Refuse): void {
  const routes: readonly Place[] = all.map((route) => ({ ...route, parts: route.url.split('/') }));
  const handler = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    // As the router reads it: a letter is the same letter in percent signs, an encoded slash is none.
    const allowed = methodsAt(routes, decodeURI(pathOf(request.url)));
    if (allowed.length === 0) return refuse(request, reply, new Refusal('ROUTE_NOT_FOUND'), []);
    const refusal = new Refusal('METHOD_NOT_ALLOWED', { method: request.method });
    return refuse(request, reply, refusal, ['allow', allowed.join(', ')]);
  };
  app.setNotFoundHandler(handler);
  // The router would take "/invoices/credit-notes" for "/invoices/:id" where only the latter has the method.
  for (const { methods, url, parts } of routes.filter((route) => !route.url.includes(':'))) {
    const taken = routes.filter((other) => other.url !== url && fits(other, parts)).flatMap((other) => other.methods);
    // GET brings HEAD with it.
    const others = new Set(taken.filter((method) => method !== 'HEAD' && !methods.includes(method)));
    for (const method of others as ReadonlySet<HTTPMethods>)
      app.route({ method, url, schema: { hide: true }, handler });
  }
}

function methodsAt(routes: readonly Place[], path: string): readonly string[] {
  const exact = routes.filter(({ url }) => url === path);
  const asked = path.split('/');
  const there = exact.length > 0 ? exact : routes.filter((route) => fits(route, asked));
  return [...new Set(there.flatMap(({ methods }) => methods))];
}

function fits({ parts }: Place, asked: readonly string[]): boolean {
  return parts.length === asked.length && parts.every((part, i) => part.startsWith(':') || part === asked[i]);
}
