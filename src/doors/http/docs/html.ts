/** The frame that all pages share. Pages are plain strings: everything that is not ours passes `escapeHtml`. */

const replacements: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text made safe between tags and inside quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => replacements[character]!);
}

export interface PageParts {
  readonly lang: 'en' | 'pt';
  readonly title: string;
  /** Address of this page, to mark it in the navigation. */
  readonly path: '/' | '/docs' | '/docs/errors' | '/docs/readiness';
  /** HTML. */
  readonly main: string;
  /** HTML added to the head. */
  readonly head?: string;
  /** HTML after everything else: scripts. */
  readonly end?: string;
}

const words = {
  en: { skip: 'Skip to the content', places: 'Pages', home: 'Start', reference: 'Reference', refusals: 'Refusals' },
  pt: {
    skip: 'Saltar para o conteúdo',
    places: 'Páginas',
    home: 'Início',
    reference: 'Referência',
    refusals: 'Recusas',
  },
} as const;

/** A whole page. */
export function page({ lang, title, path, main, head = '', end = '' }: PageParts): string {
  const say = words[lang];
  const link = (to: PageParts['path'], text: string) =>
    `<a href="${to}"${to === path ? ' aria-current="page"' : ''}>${text}</a>`;
  return `<!doctype html>
<html lang="${lang === 'pt' ? 'pt-PT' : 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" type="image/svg+xml" href="/docs/static/mark.svg">
<link rel="stylesheet" href="/docs/static/pages.css">
${head}</head>
<body>
<a class="skip" href="#main">${say.skip}</a>
<header class="top">
<a class="brand" href="/"><img src="/docs/static/mark.svg" alt="" width="28" height="28">Certo</a>
<nav class="pages" aria-label="${say.places}">${link('/', say.home)}${link('/docs', say.reference)}${link('/docs/errors', say.refusals)}</nav>
</header>
<main id="main">
${main}
</main>
${end}</body>
</html>
`;
}
