/** The page at the root: what answers here, in which mode, and where to go. */
import type { AtMode } from '../../../at/gateway.ts';
import type { Language } from '../../../fiscal/refusal.ts';
import type { World } from '../../../operations/world.ts';
import { escapeHtml, page } from './html.ts';

type Told = readonly [mark: 'attention' | 'ok', word: string, sentence: string];

interface Words {
  readonly lead: string;
  readonly modes: Readonly<Record<AtMode, Told>>;
  readonly certificate: string;
  readonly open: string;
  readonly ask: string;
  /** `what` is HTML. */
  readonly places: readonly (readonly [path: string, name: string, what: string])[];
}

const words: Readonly<Record<Language, Words>> = {
  en: {
    lead: 'Certified invoicing for Portugal: a REST API that issues invoices with number, ATCUD, signature and QR code, and reports them to the tax authority.',
    modes: {
      simulator: [
        'attention',
        'Simulator',
        'Documents issued here have no fiscal value: they are reported to a simulator of the tax authority on this machine.',
      ],
      test: [
        'attention',
        'Test',
        "Documents issued here have no fiscal value: they are reported to the tax authority's test environment.",
      ],
      production: ['ok', 'Production', 'Documents issued here are real and are reported to the tax authority.'],
    },
    certificate: 'Program certificate no.',
    open: 'Open the reference',
    ask: 'Ask whose key it is',
    places: [
      ['/docs/errors', 'Refusals', 'every code a request can be refused with, and what to do'],
      ['/-json', 'OpenAPI 3.0', 'the description for tools, <a href="/-yaml">also in YAML</a>'],
      ['/.well-known/fiscal-keys.json', 'Public keys', 'to verify the signature of any document'],
      ['/health/ready', 'Health', 'whether the service can do its work now'],
    ],
  },
  pt: {
    lead: 'Faturação certificada para Portugal: uma API REST que emite faturas com número, ATCUD, assinatura e código QR, e as comunica à Autoridade Tributária.',
    modes: {
      simulator: [
        'attention',
        'Simulador',
        'Os documentos emitidos aqui não têm valor fiscal: são comunicados a um simulador da AT nesta máquina.',
      ],
      test: [
        'attention',
        'Testes',
        'Os documentos emitidos aqui não têm valor fiscal: são comunicados ao ambiente de testes da AT.',
      ],
      production: ['ok', 'Produção', 'Os documentos emitidos aqui são reais e são comunicados à AT.'],
    },
    certificate: 'Programa certificado n.º',
    open: 'Abrir a referência',
    ask: 'Perguntar de que empresa é uma chave',
    places: [
      ['/docs/errors', 'Recusas', 'todos os códigos com que um pedido pode ser recusado, e o que fazer'],
      ['/-json', 'OpenAPI 3.0', 'a descrição para ferramentas, <a href="/-yaml">também em YAML</a>'],
      ['/.well-known/fiscal-keys.json', 'Chaves públicas', 'para verificar a assinatura de qualquer documento'],
      ['/health/ready', 'Estado', 'se o serviço consegue trabalhar neste momento'],
    ],
  },
};

/** The landing page. `world` tells address, mode and certificate; nothing of a company is on it. */
export function landingPage(
  world: Pick<World, 'baseUrl' | 'atMode' | 'certificateNumber'>,
  language: Language,
): string {
  const say = words[language];
  const [mark, mode, sentence] = say.modes[world.atMode];
  const places = say.places
    .map(([path, name, what]) => `<li><a href="${path}">${name}</a><span>${what}</span></li>`)
    .join('\n');
  const main = `<div class="column">
<h1>Certo</h1>
<p class="lead">${escapeHtml(say.lead)}</p>
<div class="mode ${mark}">
<p><strong>${mode}</strong> ${escapeHtml(sentence)}</p>
<p class="quiet">${say.certificate} <span class="figure">${world.certificateNumber}</span></p>
</div>
<p><a class="button" href="/docs">${say.open}</a></p>
<h2>${say.ask}</h2>
<pre tabindex="0"><code>curl ${escapeHtml(world.baseUrl)}/company -H "x-api-key: $CERTO_KEY"</code></pre>
<ul class="places">
${places}
</ul>
</div>`;
  return page({ lang: language, title: 'Certo', path: '/', main });
}
