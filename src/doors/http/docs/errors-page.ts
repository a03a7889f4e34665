/** Every refusal code with its status and both sentences. `type` of a problem points at its code here (RFC 9457, 3.1.1). */
import { STATUS_CODES } from 'node:http';
import { type RefusalCode, refusals } from '../../../fiscal/refusal.ts';
import { escapeHtml, page } from './html.ts';

/** Where the sentence is chosen when the refusal is made, it is told here what it can say. */
const chosenLater: Partial<Record<RefusalCode, { readonly en: string; readonly pt: string }>> = {
  IDEMPOTENCY_CONFLICT: {
    en: 'With Retry-After: a request with this idempotency key is in progress; send the same request again after that time. Without it: the outcome is unknown and the key can never run again; read the document before you use a new key.',
    pt: 'Com Retry-After: está em curso um pedido com esta chave de idempotência; envie o mesmo pedido após esse tempo. Sem ele: o resultado é desconhecido e a chave não volta a ser executada; leia o documento antes de usar uma chave nova.',
  },
};

/** Made once: the table does not change while the program runs. */
let made: string | undefined;

/** The whole page as HTML. */
export function errorsPage(): string {
  made ??= makePage();
  return made;
}

function makePage(): string {
  const byStatus = new Map<number, RefusalCode[]>();
  for (const code of Object.keys(refusals) as RefusalCode[]) {
    const { status } = refusals[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const groups = [...byStatus].sort(([a], [b]) => a - b);
  const main = `<div class="column wide">
<h1>Refusals</h1>
<p class="lead">What this service says when it declines a request. Every refusal is <code>application/problem+json</code> (RFC 9457); <code>code</code> never changes, the sentence follows <code>Accept-Language</code> (English or European Portuguese). A refused request has changed nothing, except perhaps after <a href="#OUTCOME_UNKNOWN">OUTCOME_UNKNOWN</a>.</p>
<p class="quiet">Several problems of one request arrive together: <code>INVALID_REQUEST</code> lists them in <code>errors</code>, each with the JSON pointer of its place. Words in braces are filled in.</p>
<nav class="jump" aria-label="Statuses">${groups.map(([status]) => `<a href="#status-${status}">${status}</a>`).join('')}</nav>
${groups.map(([status, codes]) => group(status, codes)).join('\n')}
</div>`;
  return page({ lang: 'en', title: 'Refusals · Certo', path: '/docs/errors', main });
}

function group(status: number, codes: readonly RefusalCode[]): string {
  return `<section>
<h2 id="status-${status}"><span class="figure">${status}</span> ${escapeHtml(STATUS_CODES[status] ?? '')}</h2>
<dl class="refusals">
${codes.map(entry).join('\n')}
</dl>
</section>`;
}

function entry(code: RefusalCode): string {
  const { en, pt } = chosenLater[code] ?? refusals[code];
  return `<div id="${code}">
<dt><a class="code" href="#${code}">${code}</a></dt>
<dd>${filled(en)}</dd>
<dd lang="pt-PT">${filled(pt)}</dd>
</div>`;
}

/** The sentence with its places to fill shown as such. */
function filled(sentence: string): string {
  return escapeHtml(sentence).replace(/\{(\w+)\}/g, '<var>{$1}</var>');
}
