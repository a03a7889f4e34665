/** Style sheets, fonts, the mark and the viewer: served from this package and from npm packages beside it. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { oneAtATime } from '../one-at-a-time.ts';
import { referenceScript } from './reference-script.ts';

const require = createRequire(import.meta.url);
const own = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const viewer = (name: string) => join(dirname(require.resolve('@fastify/swagger-ui')), 'static', name);
const font = (weight: string) => require.resolve(`@expo-google-fonts/noto-sans/${weight}/NotoSans_${weight}.ttf`);

const css = 'text/css; charset=utf-8';
const script = 'text/javascript; charset=utf-8';

/** Name under /docs/static/ → type, and where it is. */
const files: Readonly<Record<string, readonly [type: string, path: () => string]>> = {
  'pages.css': [css, () => own('./pages.css')],
  'reference.css': [css, () => own('./reference.css')],
  'mark.svg': ['image/svg+xml', () => own('./mark.svg')],
  'swagger-ui.css': [css, () => viewer('swagger-ui.css')],
  'swagger-ui-bundle.js': [script, () => viewer('swagger-ui-bundle.js')],
  'noto-sans-400.ttf': ['font/ttf', () => font('400Regular')],
  'noto-sans-600.ttf': ['font/ttf', () => font('600SemiBold')],
};

/**
 * Kept by browsers for an hour. Read when they are first asked for, and then the same memory for all: who asks needs no
 * credential, and with bytes of its own each caller that takes nothing of the viewer would hold 1.7 MB.
 */
export function addAssets(app: FastifyInstance): void {
  const cached = { 'cache-control': 'public, max-age=3600' };
  const options = { schema: { hide: true } };
  for (const [name, [type, path]] of Object.entries(files)) {
    let bytes: Buffer | undefined;
    // Of those who ask meanwhile one reads.
    const read = oneAtATime(async () => {
      bytes = await readFile(path());
      return bytes;
    });
    app.get(`/docs/static/${name}`, options, async (_request, reply) =>
      reply
        .type(type)
        .headers(cached)
        .send(bytes ?? (await read())),
    );
  }
  app.get('/docs/static/reference.js', options, (_request, reply) =>
    reply.type(script).headers(cached).send(referenceScript),
  );
}
