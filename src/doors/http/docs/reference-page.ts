import { page } from './html.ts';

/** The reference: Swagger UI over this service's own description. */
export function referencePage(): string {
  return page({
    lang: 'en',
    title: 'Reference · Certo',
    path: '/docs',
    head: `<link rel="stylesheet" href="/docs/static/swagger-ui.css">
<link rel="stylesheet" href="/docs/static/reference.css">
`,
    main: `<div id="reference"><p class="waiting">Loading the reference …</p></div>
<noscript><p>The reference needs JavaScript. The same description, for tools: <a href="/-json">JSON</a>, <a href="/-yaml">YAML</a>.</p></noscript>`,
    end: `<script src="/docs/static/swagger-ui-bundle.js"></script>
<script src="/docs/static/reference.js"></script>
`,
  });
}
