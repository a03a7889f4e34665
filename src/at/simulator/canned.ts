/** Answers and bodies that faults send: the AT's own codes per operation, and hostile or broken XML. */
import type { Operation } from '../gateway.ts';
import type { Asked } from './judge.ts';
import { value } from './rules.ts';
import { documentReply, requestRoots, seriesReply, transportReply } from './soap-replies.ts';

type Codes = Readonly<Record<Operation, number>>;

/** Code of each operation for a canned answer. */
export const cannedCodes = {
  'system-error': {
    registerSeries: 5000,
    finalizeSeries: 5000,
    annulSeries: 5000,
    listSeries: 5000,
    reportInvoice: -99,
    changeInvoiceStatus: -97,
    reportWork: -99,
    changeWorkStatus: -99,
    reportPayment: -99,
    changePaymentStatus: -99,
    reportTransport: -99,
  },
  'series-unknown': {
    registerSeries: 4003,
    finalizeSeries: 4005,
    annulSeries: 4004,
    listSeries: 2002,
    reportInvoice: -1,
    changeInvoiceStatus: -11,
    reportWork: -29,
    changeWorkStatus: -19,
    reportPayment: -30,
    changePaymentStatus: -38,
    reportTransport: -23,
  },
  'document-refused': {
    registerSeries: 4003,
    finalizeSeries: 4005,
    annulSeries: 4004,
    listSeries: 4048,
    reportInvoice: -1,
    changeInvoiceStatus: -31,
    reportWork: -20,
    changeWorkStatus: -32,
    reportPayment: -23,
    changePaymentStatus: -33,
    reportTransport: -1,
  },
  'already-registered': {
    registerSeries: 4001,
    finalizeSeries: 4005,
    annulSeries: 4004,
    listSeries: 2002,
    reportInvoice: -10,
    changeInvoiceStatus: -12,
    reportWork: -22,
    changeWorkStatus: -37,
    reportPayment: -25,
    changePaymentStatus: -26,
    reportTransport: -3,
  },
} as const satisfies Record<string, Codes>;

export type CannedKind = keyof typeof cannedCodes;

/** A well-formed answer of the asked operation with the code of that kind. */
export function cannedReply(kind: CannedKind, { operation, body }: Asked, now: Date): string {
  const code = cannedCodes[kind][operation];
  const found = { code, message: `Resposta simulada: ${kind}` };
  const root = requestRoots[operation];
  if (operation === 'reportTransport')
    return transportReply(value(body, 'DocumentNumber'), value(body, 'ATCUD'), { statuses: [found] });
  return code > 1000 ? seriesReply(root, found) : documentReply(root, found, now);
}

/** The right answer turned into one about something else. */
export function aboutAnother(xml: string): string {
  return xml
    .replace(/<serie>[^<]*<\/serie>/g, '<serie>OUTRA1</serie>')
    .replace(/<DocumentNumber>[^<]*<\/DocumentNumber>/, '<DocumentNumber>GT OUTRA1/1</DocumentNumber>');
}

/** The right answer under the name of another operation. */
export function ofAnotherOperation(xml: string): string {
  return xml
    .replace(/\b(?:Register|Change)\w+Response\b/g, 'DeleteInvoiceResponse')
    .replace(/\b(registarSerie|finalizarSerie|anularSerie|consultarSeries)Resp/g, '$1OutraResp')
    .replace(/envioDocumentoTransporteResponseElem/g, 'envioOutroResponseElem');
}

const answer = (inside: string): string =>
  '<env:Envelope xmlns:env="http://schemas.xmlsoap.org/soap/envelope/"><env:Body>' +
  '<RegisterInvoiceResponse xmlns="http://factemi.at.min_financas.pt/documents"><Response>' +
  `<CodigoResposta>0</CodigoResposta><Mensagem>${inside}</Mensagem><DataOperacao>2026-01-01T00:00:00</DataOperacao>` +
  '</Response></RegisterInvoiceResponse></env:Body></env:Envelope>';

const lols = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('');

export const brokenXml = {
  'malformed-xml': answer('<a></b>'),
  xxe: `<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>${answer('&x;')}`,
  'billion-laughs': `<!DOCTYPE r [<!ENTITY l0 "lol">${lols}]>${answer('&l9;')}`,
  'deep-xml': answer('<a>'.repeat(100_000)),
} as const;

export const htmlPage = '<!doctype html><html><body><h1>Serviço indisponível</h1></body></html>';
