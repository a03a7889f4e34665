/** Every refusal code with its status and both sentences. `type` of a problem points at its code here (RFC 9457, 3.1.1). */
import { type Language, type RefusalCode, refusals } from '../../../fiscal/refusal.ts';
import { statusTitle } from '../problem.ts';
import { escapeHtml, page } from './html.ts';

/** Where the sentence is chosen when the refusal is made, it is told here what it can say. */
const chosenLater: Partial<Record<RefusalCode, { readonly en: string; readonly pt: string }>> = {
  IDEMPOTENCY_CONFLICT: {
    en: 'With Retry-After: a request with this idempotency key is in progress; send the same request again after that time. Without it: the outcome is unknown, or not kept any more, and the key can never run again; read the document before you use a new key.',
    pt: 'Com Retry-After: está em curso um pedido com esta chave de idempotência; envie o mesmo pedido após esse tempo. Sem ele: o resultado é desconhecido, ou já não está guardado, e a chave não volta a ser executada; leia o documento antes de usar uma chave nova.',
  },
};

interface Words {
  readonly title: string;
  /** HTML. */
  readonly lead: string;
  readonly hint: string;
  readonly statuses: string;
}

const words: Readonly<Record<Language, Words>> = {
  en: {
    title: 'Refusals',
    lead: 'What this service says when it declines a request. Every refusal is <code>application/problem+json</code> (RFC 9457); <code>code</code> never changes, the sentence follows <code>Accept-Language</code> (English or European Portuguese). A refused request has changed nothing, except perhaps after <a href="#OUTCOME_UNKNOWN">OUTCOME_UNKNOWN</a>.',
    hint: 'Several problems of one request arrive together: <code>INVALID_REQUEST</code> lists them in <code>errors</code>, each with the JSON pointer of its place. Words in braces are filled in.',
    statuses: 'Statuses',
  },
  pt: {
    title: 'Recusas',
    lead: 'O que este serviço responde quando não aceita um pedido. Todas as recusas são <code>application/problem+json</code> (RFC 9457); <code>code</code> nunca muda, a frase segue <code>Accept-Language</code> (inglês ou português europeu). Um pedido recusado não alterou nada, exceto talvez após <a href="#OUTCOME_UNKNOWN">OUTCOME_UNKNOWN</a>.',
    hint: 'Os vários problemas de um pedido chegam juntos: <code>INVALID_REQUEST</code> indica-os em <code>errors</code>, cada um com o JSON pointer do seu lugar. As palavras entre chavetas são preenchidas.',
    statuses: 'Estados HTTP',
  },
};

/** The whole page as HTML; each refusal has its code as the anchor, and the reader's sentence first. */
export function errorsPage(language: Language): string {
  const byStatus = new Map<number, RefusalCode[]>();
  for (const code of Object.keys(refusals) as RefusalCode[]) {
    const { status } = refusals[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const groups = [...byStatus].sort(([a], [b]) => a - b);
  const { title, lead, hint, statuses } = words[language];
  const main = `<div class="column wide">
<h1>${title}</h1>
<p class="lead">${lead}</p>
<p class="quiet">${hint}</p>
<nav class="jump" aria-label="${statuses}">${groups.map(([status]) => `<a href="#status-${status}">${status}</a>`).join('')}</nav>
${groups.map(([status, codes]) => group(status, codes, language)).join('\n')}
</div>`;
  return page({ lang: language, title: `${title} · Certo`, path: '/docs/errors', main });
}

function group(status: number, codes: readonly RefusalCode[], language: Language): string {
  return `<section>
<h2 id="status-${status}"><span class="figure">${status}</span> ${escapeHtml(statusTitle(status, language))}</h2>
<dl class="refusals">
${codes.map((code) => entry(code, language)).join('\n')}
</dl>
</section>`;
}

const tags = { en: 'en', pt: 'pt-PT' } as const;

function entry(code: RefusalCode, language: Language): string {
  const says = chosenLater[code] ?? refusals[code];
  const other = language === 'en' ? 'pt' : 'en';
  return `<div id="${code}">
<dt><a class="code" href="#${code}">${code}</a></dt>
<dd>${filled(says[language])}</dd>
<dd lang="${tags[other]}">${filled(says[other])}</dd>
</div>`;
}

/** The sentence with its places to fill shown as such. */
function filled(sentence: string): string {
  return escapeHtml(sentence).replace(/\{(\w+)\}/g, '<var>{$1}</var>');
}
