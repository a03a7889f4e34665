/** Business rules of the transport service (manual of 7 December 2022, response table of transport documents). */

import { isNif } from '../../fiscal/nif.ts';
import { localText } from '../../fiscal/time.ts';
import type { XmlElement } from '../read-xml.ts';
import type { DocumentEntry } from './ledger.ts';
import type { NumberFault, Verdict, World } from './rules.ts';
import { digestOf, lisbonText, numberFault, stableCode, value, verdict } from './rules.ts';

export interface TransportVerdict {
  readonly statuses: readonly Verdict[];
  readonly atDocCode?: string | undefined;
}

const no = (code: number, message: string): TransportVerdict => ({ statuses: [verdict(code, message)] });
const ok = verdict(0, 'OK');
const late = verdict(
  -100,
  'A data início de transporte é inferior à data atual, pelo que esta informação será considerada uma mera comunicação de dados à AT',
);

/** About three months. */
const quarterMilliseconds = 92 * 86_400_000;

/** Registers, changes (with the AT's code of the document) or cancels; the ledger has it when the verdict is a yes. */
export function transportRule(world: World, nif: string, body: XmlElement): TransportVerdict {
  if (value(body, 'TaxRegistrationNumber') !== nif)
    return no(-7, 'O NIF do Remetente não corresponde ao NIF do Header do pedido');
  const known = world.ledger.document(nif, value(body, 'DocumentNumber'));
  const atDocCode = value(body, 'ATDocCodeID');
  if (value(body, 'MovementStatus') === 'A') return cancel(world, body, known, atDocCode);
  if (atDocCode !== '') return change(world, body, known, atDocCode);
  if (known !== undefined) return no(-3, 'Já foi inserido um Documento de Transporte com o número fornecido');
  return register(world, nif, body);
}

function register(world: World, nif: string, body: XmlElement): TransportVerdict {
  const number = value(body, 'DocumentNumber');
  const date = value(body, 'MovementDate').slice(0, 10);
  const fault = numberFault(world, nif, value(body, 'MovementType'), number, value(body, 'ATCUD'), date);
  if (fault !== undefined) return numberRefusal(fault);
  const recipient = value(body, 'CustomerTaxID') || value(body, 'SupplierTaxID');
  if (/^\d{9}$/.test(recipient) && !isNif(recipient)) return no(-20, 'O NIF do destinatário não é válido.');
  const start = value(body, 'MovementStartTime').slice(0, 19);
  const shifted = (ms: number) => localText(new Date(world.now().getTime() + ms), 'PT');
  if (start < shifted(-quarterMilliseconds))
    return no(-17, 'A comunicação de documentos só é permitida até 3 meses após o início do transporte');
  if (start > shifted(quarterMilliseconds))
    return no(-21, 'O documento deve ser comunicado com um máximo de 3 meses de antecedência.');
  if (date > lisbonText(world).slice(0, 10)) return no(-1, 'Parâmetro de entrada inválido: MovementDate');
  const atDocCode = `1${stableCode(world.seed, `${nif}|${number}`, 9, '0123456789')}`;
  world.ledger.putDocument({
    nif,
    number,
    service: 'transport',
    documentCode: value(body, 'MovementType'),
    atcud: value(body, 'ATCUD'),
    date: value(body, 'MovementDate'),
    customer: recipient,
    digest: digestOf(body, 'MovementStatus', 'ATDocCodeID'),
    atDocCode,
    start,
    history: [entry(world, body)],
  });
  return { statuses: start < lisbonText(world) ? [late] : [ok], atDocCode };
}

function entry(world: World, body: XmlElement) {
  const at = world.now();
  return { status: value(body, 'MovementStatus'), date: localText(at, 'PT'), at: at.toISOString() };
}

function numberRefusal(fault: NumberFault): TransportVerdict {
  const refusals: Readonly<Record<NumberFault, readonly [number, string]>> = {
    format: [-22, 'Código ATCUD inválido. ATCUD não preenchido ou formato inválido.'],
    'unknown series': [-23, 'Código ATCUD inválido. ATCUD não corresponde a série válida.'],
    'other type': [-20005, 'Par NIF/Código de Validação inválido para Classe/Tipo de Documento'],
    'before start': [-20006, 'Código de Validação não vigente à data do documento'],
    'other series': [-20007, 'Par Série/Código de Validação inválido'],
    'other sequence': [-20008, 'Sequência do nº de Documento e do ATCUD diferentes'],
    'out of range': [-20009, 'Sequência do nº de Documento inválida para o intervalo comunicado'],
  };
  return no(...refusals[fault]);
}

/** What both a change and a cancellation must get right. */
function standing(
  world: World,
  body: XmlElement,
  known: DocumentEntry | undefined,
  atDocCode: string,
): TransportVerdict | DocumentEntry {
  if (known === undefined) {
    const [other] = [...world.ledger.documents({ nif: value(body, 'TaxRegistrationNumber') })].filter(
      (d) => d.atDocCode === atDocCode,
    );
    if (atDocCode !== '' && other !== undefined)
      return no(-9, 'O nº de Documento de Transporte é diferente do anteriormente fornecido');
    return no(-8, 'O Código AT está preenchido mas não existe Documento de Transporte');
  }
  if (known.atDocCode !== atDocCode)
    return no(-8, 'O Código AT está preenchido mas não existe Documento de Transporte');
  if (known.history.at(-1)?.status === 'A')
    return no(-4, 'Já foi anulado o Documento de Transporte com o número fornecido');
  if (known.documentCode !== value(body, 'MovementType')) return no(-18, 'O tipo de documento não pode ser alterado');
  if (known.date !== value(body, 'MovementDate')) return no(-16, 'Não pode alterar a data de emissão do documento');
  if (known.atcud !== value(body, 'ATCUD'))
    return no(-26, 'Código ATCUD inválido. ATCUD indicado não pertence ao documento.');
  if ((known.start ?? '') < lisbonText(world)) {
    return no(-13, 'Não pode ser alterado um Documento de Transporte quando a Data de Início já decorreu');
  }
  return known;
}

function cancel(world: World, body: XmlElement, known: DocumentEntry | undefined, atDocCode: string): TransportVerdict {
  const found = standing(world, body, known, atDocCode);
  if ('statuses' in found) return found;
  world.ledger.putDocument({ ...found, history: [...found.history, entry(world, body)] });
  return { statuses: [ok], atDocCode };
}

function change(world: World, body: XmlElement, known: DocumentEntry | undefined, atDocCode: string): TransportVerdict {
  const found = standing(world, body, known, atDocCode);
  if ('statuses' in found) return found;
  const recipient = value(body, 'CustomerTaxID') || value(body, 'SupplierTaxID');
  if (found.customer !== recipient) return no(-11, 'O NIF do Adquirente não corresponde ao anteriormente fornecido');
  const start = value(body, 'MovementStartTime').slice(0, 19);
  if (start < lisbonText(world)) return no(-6, 'A Data de início de transporte não pode ser anterior à data atual');
  const digest = digestOf(body, 'MovementStatus', 'ATDocCodeID');
  world.ledger.putDocument({ ...found, start, digest, history: [...found.history, entry(world, body)] });
  return { statuses: [ok], atDocCode };
}
