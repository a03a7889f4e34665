/** Bodies of the series service. Only the root is qualified (no elementFormDefault in SeriesWS.wsdl). */
import type { AnnulSeries, AtDocumentCode, FinalizeSeries, RegisterSeries, SeriesKey, SeriesQuery } from './reports.ts';
import { leaf, optional } from './write-xml.ts';

export const seriesNamespace = 'http://at.gov.pt/';

/** classeDoc of each tipoDoc (series manual, specific part, table of classes). */
const classes: Readonly<Record<AtDocumentCode, 'SI' | 'MG' | 'WD' | 'PY'>> = {
  FT: 'SI',
  FS: 'SI',
  FR: 'SI',
  ND: 'SI',
  NC: 'SI',
  GR: 'MG',
  GT: 'MG',
  GA: 'MG',
  GC: 'MG',
  GD: 'MG',
  CM: 'WD',
  CC: 'WD',
  FC: 'WD',
  FO: 'WD',
  NE: 'WD',
  OU: 'WD',
  OR: 'WD',
  PF: 'WD',
  RC: 'PY',
  RG: 'PY',
};

/** The class of documents (`classeDoc`) that a type belongs to. */
export function classOf(code: AtDocumentCode): 'SI' | 'MG' | 'WD' | 'PY' {
  return classes[code];
}

/** The normal kind where none is said; documents of this program always come from a computer (`PI`). */
export function registerSeriesBody(message: RegisterSeries): string {
  return root(
    'registarSerie',
    leaf('serie', message.series),
    leaf('tipoSerie', message.kind ?? 'N'),
    ...types(message.documentCode),
    leaf('numInicialSeq', whole(message.firstNumber)),
    leaf('dataInicioPrevUtiliz', message.startDate),
    leaf('numCertSWFatur', whole(message.certificateNumber)),
    leaf('meioProcessamento', 'PI'),
  );
}

/** Says how far the series was used: the number of its last document. */
export function finalizeSeriesBody(message: FinalizeSeries): string {
  return root(
    'finalizarSerie',
    ...keyOf(message),
    leaf('seqUltimoDocEmitido', whole(message.lastNumber)),
    optional('justificacao', message.justification),
  );
}

/** ER (communicated in error) is the only reason the AT accepts; declaracaoNaoEmissao must be true. */
export function annulSeriesBody(message: AnnulSeries): string {
  return root('anularSerie', ...keyOf(message), leaf('motivo', 'ER'), leaf('declaracaoNaoEmissao', 'true'));
}

/** Whatever the query does not say is left out, and matches everything. */
export function listSeriesBody(query: SeriesQuery): string {
  return root(
    'consultarSeries',
    optional('serie', query.series),
    optional('tipoSerie', query.kind),
    ...(query.documentCode === undefined ? [] : types(query.documentCode)),
    optional('codValidacaoSerie', query.validationCode),
    optional('dataRegistoDe', query.registeredFrom),
    optional('dataRegistoAte', query.registeredTo),
    optional('estado', query.state),
  );
}

function root(name: string, ...children: string[]): string {
  return `<ns2:${name} xmlns:ns2="${seriesNamespace}">${children.join('')}</ns2:${name}>`;
}

function keyOf(key: SeriesKey): string[] {
  return [leaf('serie', key.series), ...types(key.documentCode), leaf('codValidacaoSerie', key.validationCode)];
}

function types(code: AtDocumentCode): [string, string] {
  return [leaf('classeDoc', classOf(code)), leaf('tipoDoc', code)];
}

function whole(value: number): string {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error('assertion failed: a number of the series is whole');
  return String(value);
}
