/** SeriesWS.wsdl, requests. */
import { boolean, date, integer, text } from './simple-types.ts';
import type { Complex } from './structure.ts';
import { one, opt, sequence } from './structure.ts';

const serie = text(0, 35);
const letter = text(1, 1);
const pair = text(2, 2);
const code = text(8, 8);
const number = integer(1n, 10n ** 25n - 1n);

export const seriesSchemas: Readonly<Record<string, Complex>> = {
  registarSerie: sequence(
    one('serie', serie),
    one('tipoSerie', letter),
    one('classeDoc', pair),
    one('tipoDoc', pair),
    one('numInicialSeq', number),
    one('dataInicioPrevUtiliz', date),
    one('numCertSWFatur', integer(0n, 9999n)),
    one('meioProcessamento', pair),
  ),
  finalizarSerie: sequence(
    one('serie', serie),
    one('classeDoc', pair),
    one('tipoDoc', pair),
    one('codValidacaoSerie', code),
    one('seqUltimoDocEmitido', number),
    opt('justificacao', text(0, 4000)),
  ),
  anularSerie: sequence(
    one('serie', serie),
    one('classeDoc', pair),
    one('tipoDoc', pair),
    one('codValidacaoSerie', code),
    one('motivo', pair),
    one('declaracaoNaoEmissao', boolean),
  ),
  consultarSeries: sequence(
    opt('serie', serie),
    opt('tipoSerie', letter),
    opt('classeDoc', pair),
    opt('tipoDoc', pair),
    opt('codValidacaoSerie', code),
    opt('dataRegistoDe', date),
    opt('dataRegistoAte', date),
    opt('estado', letter),
    opt('meioProcessamento', pair),
  ),
};
