import type { Language } from '../../../fiscal/refusal.ts';
import { page } from './html.ts';

const words = {
  en: {
    title: 'Reference',
    waiting: 'Loading the reference …',
    without: 'The reference needs JavaScript. The same description, for tools:',
  },
  pt: {
    title: 'Referência',
    waiting: 'A carregar a referência …',
    without: 'A referência precisa de JavaScript. A mesma descrição, para ferramentas:',
  },
} as const;

/** The reference: Swagger UI over this service's own description, which is in English. */
export function referencePage(language: Language): string {
  const { title, waiting, without } = words[language];
  return page({
    lang: language,
    title: `${title} · Certo`,
    path: '/docs',
    head: `<link rel="stylesheet" href="/docs/static/swagger-ui.css">
<link rel="stylesheet" href="/docs/static/reference.css">
`,
    main: `<div id="reference"${language === 'en' ? '' : ' lang="en"'}><p class="waiting" lang="${language === 'pt' ? 'pt-PT' : 'en'}">${waiting}</p></div>
<noscript><p>${without} <a href="/-json">JSON</a>, <a href="/-yaml">YAML</a>.</p></noscript>`,
    end: `<script src="/docs/static/swagger-ui-bundle.js"></script>
<script src="/docs/static/reference.js"></script>
`,
  });
}
