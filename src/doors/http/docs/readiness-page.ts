/**
 * What keeps a company from issuing, and the command that fixes it: where `actionUrl` of GET /company leads. Whoever hosts
 * the service runs the command; whoever calls the API learns here what to ask for.
 */
import type { ReadinessCode } from '../../../fiscal/readiness.ts';
import type { Language } from '../../../fiscal/refusal.ts';
import { escapeHtml, page } from './html.ts';

interface Reason {
  readonly name: string;
  readonly says: string;
}

interface Words {
  readonly title: string;
  readonly lead: string;
  readonly hint: string;
  readonly reasons: Readonly<Record<ReadinessCode, Reason>>;
}

const words: Readonly<Record<Language, Words>> = {
  en: {
    title: 'Ready to issue',
    lead: 'A company issues once the tax authority knows who reports for it, and it has a series there. GET /company names what is missing.',
    hint: 'The commands are for whoever hosts the service. 599999942 stands for the NIF of the company.',
    reasons: {
      AT_CREDENTIALS_REQUIRED: {
        name: "The company's sub-user at the tax authority",
        says: 'None is stored, or the authority answered that its password is wrong. Make one on the tax portal, allowed to register series and to report documents, and store it; the command tries it at once.',
      },
      AT_SYNC_REQUIRED: {
        name: 'Series compared with the tax authority',
        says: 'No query of series has succeeded with these credentials yet, or a series is not what the authority has. The query is made without you as soon as the authority answers; where a series differs, the log of the service says which: set this list beside that of the tax portal. They are compared again without you.',
      },
      SERIES_REQUIRED: {
        name: 'A series of invoices',
        says: 'There is none that is active. Each type of document has series of its own, and so has the cash VAT scheme (--cash-vat); register those of the types that you issue, or of all of them.',
      },
    },
  },
  pt: {
    title: 'Pronta a emitir',
    lead: 'Uma empresa emite quando a AT sabe quem comunica por ela e a empresa tem lá uma série. GET /company indica o que falta.',
    hint: 'Os comandos são para quem aloja o serviço. 599999942 está no lugar do NIF da empresa.',
    reasons: {
      AT_CREDENTIALS_REQUIRED: {
        name: 'O subutilizador da empresa na AT',
        says: 'Não há nenhum guardado, ou a AT respondeu que a senha está errada. Crie um no Portal das Finanças, com permissão para registar séries e comunicar documentos, e guarde-o; o comando experimenta-o de imediato.',
      },
      AT_SYNC_REQUIRED: {
        name: 'Séries comparadas com a AT',
        says: 'Ainda nenhuma consulta de séries teve êxito com estas credenciais, ou uma série não é o que a AT tem. A consulta faz-se automaticamente assim que a AT responder; se uma série difere, confronte esta lista com a do Portal das Finanças. A comparação repete-se automaticamente.',
      },
      SERIES_REQUIRED: {
        name: 'Uma série de faturas',
        says: 'Não há nenhuma ativa. Cada tipo de documento tem séries próprias; registe as dos tipos que emite, ou as de todos.',
      },
    },
  },
};

const commands: Readonly<Record<ReadinessCode, string>> = {
  AT_CREDENTIALS_REQUIRED:
    'certo company credentials 599999942 \\\n  --username 599999942/1 --password-file ./password',
  AT_SYNC_REQUIRED: 'certo company show 599999942\ncerto series list --company 599999942',
  SERIES_REQUIRED: 'certo series register --company 599999942 --all-types --code A2026',
};

/** The whole page as HTML; each reason has its code as the anchor. */
export function readinessPage(language: Language): string {
  const { title, lead, hint, reasons } = words[language];
  const section = (code: ReadinessCode): string => {
    const { name, says } = reasons[code];
    return `<section>
<h2 id="${code}">${escapeHtml(name)}</h2>
<p class="quiet"><code>${code}</code></p>
<p>${escapeHtml(says)}</p>
<pre tabindex="0"><code>${escapeHtml(commands[code])}</code></pre>
</section>`;
  };
  const main = `<div class="column">
<h1>${title}</h1>
<p class="lead">${escapeHtml(lead)}</p>
<p class="quiet">${escapeHtml(hint)}</p>
${(Object.keys(commands) as ReadinessCode[]).map(section).join('\n')}
</div>`;
  return page({ lang: language, title: `${title} · Certo`, path: '/docs/readiness', main });
}
