/** The simulated AT's answers as XML, in the shapes seen from the real services. */

import { cut } from '../../fiscal/cut.ts';
import type { Operation } from '../gateway.ts';
import { soapNamespace } from '../messages.ts';
import { documentsNamespace } from '../messages-documents.ts';
import { seriesNamespace } from '../messages-series.ts';
import { transportNamespace } from '../messages-transport.ts';
import { group, leaf, optional } from '../write-xml.ts';
import type { SeriesEntry } from './ledger.ts';
import type { Verdict } from './rules.ts';
import type { SeriesVerdict } from './rules-series.ts';
import type { TransportVerdict } from './rules-transport.ts';

/** Root element of each operation's request; "Response" names its reply. */
export const requestRoots: Readonly<Record<Operation, string>> = {
  registerSeries: 'registarSerie',
  finalizeSeries: 'finalizarSerie',
  annulSeries: 'anularSerie',
  listSeries: 'consultarSeries',
  reportInvoice: 'RegisterInvoiceRequest',
  changeInvoiceStatus: 'ChangeInvoiceStatusRequest',
  reportWork: 'RegisterWorkRequest',
  changeWorkStatus: 'ChangeWorkStatusRequest',
  reportPayment: 'RegisterPaymentRequest',
  changePaymentStatus: 'ChangePaymentStatusRequest',
  reportTransport: 'envioDocumentoTransporteRequestElem',
};

function envelope(body: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><env:Envelope xmlns:env="${soapNamespace}"><env:Header/><env:Body>${body}</env:Body></env:Envelope>`;
}

/** `root` is the request's, e.g. "registarSerie". */
export function seriesReply(root: string, found: SeriesVerdict): string {
  const result = group(
    'infoResultOper',
    leaf('codResultOper', String(found.code)),
    leaf('msgResultOper', cut(found.message, 250)),
  );
  const response = group(`${root}Resp`, ...(found.records ?? []).map(infoSerie), result);
  return envelope(`<ns0:${root}Response xmlns:ns0="${seriesNamespace}">${response}</ns0:${root}Response>`);
}

function infoSerie(entry: SeriesEntry): string {
  return group(
    'infoSerie',
    leaf('serie', entry.series),
    leaf('tipoSerie', entry.kind),
    leaf('classeDoc', entry.documentClass),
    leaf('tipoDoc', entry.documentCode),
    leaf('numInicialSeq', String(entry.firstNumber)),
    leaf('dataInicioPrevUtiliz', entry.startDate),
    optional('seqUltimoDocEmitido', entry.lastNumber === undefined ? undefined : String(entry.lastNumber)),
    leaf('meioProcessamento', entry.processing),
    leaf('numCertSWFatur', entry.certificateNumber),
    leaf('codValidacaoSerie', entry.validationCode),
    leaf('dataRegisto', entry.registeredOn),
    leaf('estado', entry.state),
    optional('motivoEstado', entry.reason),
    optional('justificacao', entry.justification),
    leaf('dataEstado', entry.stateAt),
    leaf('nifComunicou', entry.nif),
  );
}

/** `root` is the request's, e.g. "RegisterInvoiceRequest". */
export function documentReply(root: string, { code, message }: Verdict, now: Date): string {
  const name = root.replace(/Request$/, 'Response');
  const response = group(
    'Response',
    leaf('CodigoResposta', String(code)),
    leaf('Mensagem', cut(message, 256)),
    leaf('DataOperacao', now.toISOString()),
  );
  return envelope(`<${name} xmlns="${documentsNamespace}">${response}</${name}>`);
}

/** Number and ATCUD as they were asked; the AT's code of the document only where it was given one. */
export function transportReply(number: string, atcud: string, { statuses, atDocCode }: TransportVerdict): string {
  const name = 'ns0:envioDocumentoTransporteResponseElem';
  const children = [
    ...statuses.map((s) =>
      group('ResponseStatus', leaf('ReturnCode', String(s.code)), leaf('ReturnMessage', cut(s.message, 256))),
    ),
    leaf('DocumentNumber', number),
    optional('ATCUD', atcud),
    optional('ATDocCodeID', atDocCode),
  ];
  return envelope(`<${name} xmlns:ns0="${transportNamespace}">${children.join('')}</${name}>`);
}

/** Authentication errors: a fault whose detail holds the number. */
export function authenticationFault({ code, message }: Verdict): string {
  const failed = group(
    'AuthenticationFailed',
    leaf('Code', String(code)),
    leaf('Message', message),
    leaf('NumberOfTriesRemaining', '-1'),
  );
  const namespace = 'http://autenticacao.portaldasfinancas.gov.pt/services/ValidateCredencialService/2012/11';
  const detail = `<detail><ns:AuthenticationException xmlns:ns="${namespace}">${failed}</ns:AuthenticationException></detail>`;
  return envelope(
    group(
      'env:Fault',
      leaf('faultcode', 'Client.Authentication'),
      leaf('faultstring', 'Ocorreu um erro na autenticação dos contribuintes.'),
      detail,
    ),
  );
}

/** Any other fault; 33 is "SOAP request invalid". */
export function fault(code: string, message: string): string {
  return envelope(group('env:Fault', leaf('faultcode', code), leaf('faultstring', message), '<detail/>'));
}
