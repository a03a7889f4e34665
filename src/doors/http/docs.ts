/**
 * Pages for people: the landing page, the reference, the list of refusals and what readiness asks for. Everything they
 * show or load comes from this service: no page asks any other address for anything, and each says so to the browser
 * (Content-Security-Policy).
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Language } from '../../fiscal/refusal.ts';
import type { World } from '../../operations/world.ts';
import { addAssets } from './docs/assets.ts';
import { errorsPage } from './docs/errors-page.ts';
import { landingPage } from './docs/landing-page.ts';
import { readinessPage } from './docs/readiness-page.ts';
import { referencePage } from './docs/reference-page.ts';
import { languageOf } from './problem.ts';

const closed = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; font-src 'self'";
const pagePolicy = `${closed}; style-src 'self'; img-src 'self'`;
// The viewer runs a script, asks this service, and its style sheet carries arrows as data images.
const viewerPolicy = `${pagePolicy} data:; script-src 'self'; connect-src 'self'`;

/** Landing page at /, reference at /docs, refusals and readiness below it, and what they load under /docs/static. */
export async function addDocs(app: FastifyInstance, world: World): Promise<void> {
  const options = { schema: { hide: true } };
  const spoken = (path: string, made: (language: Language) => string | Buffer, policy = pagePolicy) =>
    app.get(path, options, (request, reply) =>
      send(reply.header('vary', 'accept-language'), made(languageOf(request.headers['accept-language'])), policy),
    );
  spoken('/', (language) => landingPage(world, language));
  spoken('/docs/readiness', readinessPage);
  spoken('/docs', referencePage, viewerPolicy);
  app.get('/docs/', options, (_request, reply) => reply.redirect('/docs', 308));
  // Made once per language, when it is first asked for: the table does not change while the program runs.
  const errors: Partial<Record<Language, Buffer>> = {};
  spoken('/docs/errors', (language) => (errors[language] ??= Buffer.from(errorsPage(language))));
  addAssets(app);
}

function send(reply: FastifyReply, html: string | Buffer, policy: string): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', policy)
    .header('referrer-policy', 'no-referrer')
    .send(html);
}
