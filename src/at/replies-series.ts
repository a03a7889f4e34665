/** Reads the answers of the series service: infoSerie (0 to n) and infoResultOper. */
import { isDay } from '../fiscal/time.ts';
import { seriesNamespace } from './messages-series.ts';
import type { XmlElement } from './read-xml.ts';
import { childrenOf, textOf } from './read-xml.ts';
import type { Answer } from './replies.ts';
import { shorten } from './replies.ts';
import type { SeriesRecord } from './reports.ts';

export interface SeriesAnswer extends Answer {
  readonly records: readonly SeriesRecord[];
}

/** `verb` is the root without "Response", e.g. "registarSerie". Undefined: not of the WSDL's shape. */
export function seriesAnswer(body: XmlElement, verb: string): SeriesAnswer | undefined {
  if (body.name !== `${verb}Response` || body.namespace !== seriesNamespace) return undefined;
  const [response, ...more] = body.children;
  if (response?.name !== `${verb}Resp` || more.length > 0) return undefined;
  const [result, ...results] = childrenOf(response, 'infoResultOper');
  if (result === undefined || results.length > 0) return undefined;
  const code = textOf(result, 'codResultOper');
  const records = childrenOf(response, 'infoSerie').map(record);
  if (code === undefined || !/^\d{1,4}$/.test(code) || records.includes(undefined)) return undefined;
  if (records.length + 1 !== response.children.length) return undefined;
  return { code, message: shorten(textOf(result, 'msgResultOper') ?? ''), records: records as SeriesRecord[] };
}

const patterns = {
  serie: /^\S.{0,34}$/,
  tipoSerie: /^\w$/,
  classeDoc: /^\w{2}$/,
  tipoDoc: /^\w{2}$/,
  numInicialSeq: /^\d{1,25}$/,
  dataInicioPrevUtiliz: /^\d{4}-\d\d-\d\d(?:Z|[+-]\d\d:\d\d)?$/,
  meioProcessamento: /^\w{2}$/,
  // 8 characters in the WSDL, 10 in answers of the test environment; never a dash, which ends it in the ATCUD.
  codValidacaoSerie: /^[A-Za-z0-9]{8,60}$/,
  estado: /^\w$/,
} as const;

function record(info: XmlElement): SeriesRecord | undefined {
  const read = (name: keyof typeof patterns): string => {
    const text = textOf(info, name) ?? '';
    return patterns[name].test(text) ? text : '';
  };
  const found: SeriesRecord = {
    series: read('serie'),
    kind: read('tipoSerie'),
    documentClass: read('classeDoc'),
    documentCode: read('tipoDoc'),
    firstNumber: read('numInicialSeq'),
    startDate: read('dataInicioPrevUtiliz').slice(0, 10),
    processing: read('meioProcessamento'),
    validationCode: read('codValidacaoSerie'),
    state: read('estado'),
  };
  if (Object.values(found).includes('') || !isDay(found.startDate)) return undefined;
  const certificate = textOf(info, 'numCertSWFatur') ?? '';
  const known = /^\d{1,4}$/.test(certificate) ? { ...found, certificateNumber: certificate } : found;
  const last = textOf(info, 'seqUltimoDocEmitido');
  if (last === undefined) return known;
  return patterns.numInicialSeq.test(last) ? { ...known, lastNumber: last } : undefined;
}

/** Whether an answer speaks of the series that was asked about: identifiers are compared ignoring case, as the AT does. */
export function isAbout(found: SeriesRecord, asked: { series: string; documentCode: string }): boolean {
  return found.series.toLowerCase() === asked.series.toLowerCase() && found.documentCode === asked.documentCode;
}
