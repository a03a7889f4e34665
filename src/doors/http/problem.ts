/** Refusals as `application/problem+json` (RFC 9457), in English or European Portuguese. */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { assert, type Language, most_problems, type Refusal, sentence } from '../../fiscal/refusal.ts';
import { pathOf } from './framing.ts';

/** Its media type, as header fields have it. */
export const problemType = 'application/problem+json; charset=utf-8';

const portugueseTitles: Record<number, string> = {
  400: 'Pedido inválido',
  401: 'Não autenticado',
  403: 'Sem permissão',
  404: 'Não encontrado',
  405: 'Método não permitido',
  408: 'O pedido demorou demasiado',
  409: 'Conflito',
  410: 'Já não existe',
  413: 'Corpo demasiado grande',
  414: 'Endereço demasiado longo',
  415: 'Tipo de conteúdo não suportado',
  417: 'Expectativa não satisfeita',
  422: 'Conteúdo não processável',
  429: 'Demasiados pedidos',
  431: 'Cabeçalhos demasiado grandes',
  500: 'Erro interno',
  503: 'Serviço indisponível',
};

/** What an HTTP status is called: the title of a problem. */
export function statusTitle(status: number, language: Language): string {
  const title = language === 'pt' ? portugueseTitles[status] : STATUS_CODES[status];
  assert(title !== undefined, `status ${status} has a title`);
  return title;
}

/** The language of the answer: the better of en and pt in Accept-Language (RFC 9110, section 12.5.4); English else. */
export function languageOf(acceptLanguage: string | undefined): Language {
  let best: Language = 'en';
  let bestWeight = 0;
  for (const part of (acceptLanguage ?? '').split(',')) {
    const [range = '', ...parameters] = part.trim().toLowerCase().split(';');
    const language = range.startsWith('pt') ? 'pt' : range.startsWith('en') ? 'en' : undefined;
    const q = parameters.map((p) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/.exec(p)?.[1]).find((value) => value !== undefined);
    const weight = q === undefined ? 1 : Number(q);
    if (language !== undefined && weight > bestWeight) [best, bestWeight] = [language, weight];
  }
  return best;
}

/** Characters of `instance`: our own paths have room several times over, and what nobody has is not sent back whole. */
export const longest_instance = 300;

/** No percent sign is left without its two digits: RFC 3986, section 2.1. */
function shortened(path: string): string {
  return path.length <= longest_instance ? path : path.slice(0, longest_instance).replace(/%.?$/, '');
}

/** The body of an answer to a refused request; of a long path its beginning. */
export function problemBody(
  refusal: Refusal,
  at: { readonly language: Language; readonly requestId: string; readonly instance: string; readonly baseUrl: string },
): Record<string, unknown> {
  const { status, code } = refusal;
  const detail = sentence(code, at.language, refusal.facts);
  return {
    type: `${at.baseUrl}/docs/errors#${code}`,
    title: statusTitle(status, at.language),
    status,
    detail,
    instance: shortened(at.instance),
    code,
    requestId: at.requestId,
    ...(refusal.problems.length === 0
      ? {}
      : {
          errors: refusal.problems.slice(0, most_problems).map((problem) => ({
            pointer: problem.pointer,
            code: problem.code,
            message: sentence(problem.code, at.language, problem.facts),
          })),
        }),
    ...refusal.members,
    message: detail,
    statusCode: status,
  };
}

/**
 * The text of an answer, in the language and with the path of the request. What CONNECT asks for is no path (RFC 9112,
 * section 3.2.3).
 */
export function problemText(
  refusal: Refusal,
  baseUrl: string,
  requestId: string,
  request: Pick<IncomingMessage, 'headers' | 'method' | 'url'> | undefined,
): string {
  const instance = request?.url === undefined || request.method === 'CONNECT' ? '' : pathOf(request.url);
  const language = languageOf(request?.headers['accept-language']);
  return JSON.stringify(problemBody(refusal, { language, requestId, instance, baseUrl }));
}
