/** Business rules of the series service (series manual, specific part, 2.1 to 2.4). */
import { isSeriesCode, seriesKey } from '../../fiscal/series.ts';
import { dayOf } from '../../fiscal/time.ts';
import type { XmlElement } from '../read-xml.ts';
import type { SeriesEntry } from './ledger.ts';
import type { Verdict, World } from './rules.ts';
import { lisbonDay, lisbonText, stableCode, value, verdict } from './rules.ts';

export interface SeriesVerdict extends Verdict {
  readonly records?: readonly SeriesEntry[] | undefined;
}

const types: Readonly<Record<string, readonly string[]>> = {
  SI: ['FT', 'FS', 'FR', 'ND', 'NC'],
  MG: ['GR', 'GT', 'GA', 'GC', 'GD'],
  WD: ['CM', 'CC', 'FC', 'FO', 'NE', 'OU', 'OR', 'PF', 'RP', 'RE', 'CS', 'LD', 'RA'],
  PY: ['RC', 'RG'],
};

/** By the name of the request's root element. */
export const seriesRules: Readonly<Record<string, (world: World, nif: string, body: XmlElement) => SeriesVerdict>> = {
  registarSerie: register,
  finalizarSerie: finalise,
  anularSerie: annul,
  consultarSeries: list,
};

function register(world: World, nif: string, body: XmlElement): SeriesVerdict {
  const [series, kind, documentClass, documentCode, processing] = texts(
    body,
    'serie',
    'tipoSerie',
    'classeDoc',
    'tipoDoc',
    'meioProcessamento',
  );
  if (series === '')
    return verdict(4002, 'Não foi possível registar a Série. Por favor preencha os campos assinalados. serie');
  if (!isSeriesCode(series)) return wrongField('serie');
  if (!['N', 'F', 'R'].includes(kind)) return wrongField('tipoSerie');
  if (!['PI', 'PF', 'OM'].includes(processing)) return wrongField('meioProcessamento');
  if (types[documentClass] === undefined)
    return verdict(4045, 'O valor indicado na Classe do Documento deve corresponder a um valor predefinido');
  if (!types[documentClass].includes(documentCode)) {
    return verdict(
      4046,
      'O valor indicado no Tipo de Documento deve corresponder a um valor válido de acordo com a Classe do Documento indicada.',
    );
  }
  const startDate = value(body, 'dataInicioPrevUtiliz').slice(0, 10);
  if (startDate < lisbonDay(world)) {
    return verdict(
      4049,
      'O valor indicado no início previsto de utilização deve ser superior ou igual à data atual do sistema.',
    );
  }
  const same = world.ledger
    .seriesOf(nif)
    .filter((e) => e.documentCode === documentCode && seriesKey(e.series) === seriesKey(series));
  // An annulled communication was a mistake: the identifier is free again.
  if (same.some((entry) => entry.state !== 'N')) {
    return verdict(
      4001,
      `Não foi possível registar a Série. A Série ${series} indicada para o tipo de documento ${documentCode} já foi registada.`,
    );
  }
  const entry: SeriesEntry = {
    nif,
    series,
    kind,
    documentClass,
    documentCode,
    firstNumber: Number(value(body, 'numInicialSeq')),
    startDate,
    processing,
    certificateNumber: String(Number(value(body, 'numCertSWFatur'))),
    validationCode: freeCode(world, `${nif}|${documentCode}|${seriesKey(series)}|${same.length}`),
    registeredOn: lisbonDay(world),
    registeredOnAzores: dayOf(world.now(), 'PT-AC'),
    state: 'A',
    stateAt: lisbonText(world),
  };
  world.ledger.putSeries(entry);
  return {
    code: 2001,
    message: `Série registada com sucesso. O estado ficou ativo e foi atribuído o seguinte código de validação: ${entry.validationCode}`,
    records: [entry],
  };
}

function finalise(world: World, nif: string, body: XmlElement): SeriesVerdict {
  const no = (reason: string) => verdict(4005, `Não foi possível finalizar a Série. ${reason}`);
  const entry = named(world, nif, body);
  if (entry === undefined) return no('A Série não existe.');
  if (entry.state !== 'A') return no('A Série não está ativa.');
  const lastNumber = Number(value(body, 'seqUltimoDocEmitido'));
  if (lastNumber < entry.firstNumber) {
    return verdict(
      4047,
      'O valor indicado no último documento emitido deve ser superior ao indicado no início da sequência.',
    );
  }
  if (lastNumber < world.ledger.statistics(entry).highest) return no('Foram comunicados documentos posteriores.');
  const justification = value(body, 'justificacao') || undefined;
  const changed: SeriesEntry = { ...entry, state: 'F', stateAt: lisbonText(world), lastNumber, justification };
  world.ledger.putSeries(changed);
  return { code: 2004, message: 'Série finalizada com sucesso.', records: [changed] };
}

function annul(world: World, nif: string, body: XmlElement): SeriesVerdict {
  const no = (reason: string) => verdict(4004, `Não foi possível anular a comunicação da Série. ${reason}`);
  if (value(body, 'motivo') !== 'ER')
    return verdict(4051, 'O valor indicado no motivo de anulação deve corresponder a um valor pré-definido.');
  if (!['true', '1'].includes(value(body, 'declaracaoNaoEmissao'))) return no('Falta a declaração de não emissão.');
  const entry = named(world, nif, body);
  if (entry === undefined) return no('A Série não existe.');
  if (entry.state !== 'A') return no('A Série não está ativa.');
  if (world.ledger.statistics(entry).documents > 0) return no('Foram comunicados documentos com esta Série.');
  const changed: SeriesEntry = { ...entry, state: 'N', stateAt: lisbonText(world), reason: 'ER' };
  world.ledger.putSeries(changed);
  return { code: 2003, message: 'Comunicação da Série anulada com sucesso.', records: [changed] };
}

function list(world: World, nif: string, body: XmlElement): SeriesVerdict {
  const asked = (name: string) => value(body, name).toLowerCase();
  const [from, to] = [asked('dataRegistoDe').slice(0, 10), asked('dataRegistoAte').slice(0, 10)];
  if (from !== '' && to !== '' && from > to) return verdict(4048, 'O intervalo de datas de registo é inválido.');
  const fits = (name: string, is: string) => asked(name) === '' || asked(name) === is.toLowerCase();
  const records = world.ledger
    .seriesOf(nif)
    .filter(
      (entry) =>
        fits('serie', entry.series) &&
        fits('tipoSerie', entry.kind) &&
        fits('classeDoc', entry.documentClass) &&
        fits('tipoDoc', entry.documentCode) &&
        fits('codValidacaoSerie', entry.validationCode) &&
        fits('estado', entry.state) &&
        fits('meioProcessamento', entry.processing) &&
        (from === '' || entry.registeredOn >= from) &&
        (to === '' || entry.registeredOn <= to),
    );
  return { code: 2002, message: 'Consulta efetuada com sucesso.', records };
}

/** The series that a message names by all four of its marks. */
function named(world: World, nif: string, body: XmlElement): SeriesEntry | undefined {
  const [series, documentClass, documentCode, code] = texts(body, 'serie', 'classeDoc', 'tipoDoc', 'codValidacaoSerie');
  return world.ledger
    .seriesOf(nif)
    .find(
      (e) =>
        e.validationCode === code &&
        e.documentClass === documentClass &&
        e.documentCode === documentCode &&
        seriesKey(e.series) === seriesKey(series),
    );
}

function freeCode(world: World, subject: string): string {
  const taken = new Set(world.ledger.allSeries().map((entry) => entry.validationCode));
  for (let turn = 0; ; turn += 1) {
    const code = stableCode(world.seed, `${subject}|${turn}`, 8);
    if (!taken.has(code)) return code;
  }
}

function wrongField(name: string): SeriesVerdict {
  return verdict(4003, `Não foi possível registar a Série. Por favor corrija os erros nos campos assinalados. ${name}`);
}

function texts<Names extends string[]>(body: XmlElement, ...names: Names): { [Index in keyof Names]: string } {
  return names.map((name) => value(body, name)) as { [Index in keyof Names]: string };
}
