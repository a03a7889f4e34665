/**
 * Business rules of the invoice service: registering and changing the status of invoices, working documents and cash
 * VAT receipts. Codes and sentences from the response tables of the manual of invoice elements (January 2023).
 */
import { exemptionOn, exemptions } from '../../fiscal/exemptions.ts';
import { isNif } from '../../fiscal/nif.ts';
import type { XmlElement } from '../read-xml.ts';
import { childrenOf } from '../read-xml.ts';
import { amountsAgree, exemptionFault, withholdingFits } from './amounts.ts';
import type { DocumentKind } from './document-kinds.ts';
import { documentKinds as kinds } from './document-kinds.ts';
import type { DocumentEntry } from './ledger.ts';
import type { Verdict, World } from './rules.ts';
import { digestOf, inside, isFuture, lisbonDay, lisbonText, numberFault, value, verdict } from './rules.ts';

/** By the name of the request's root element. */
export const documentRules: Readonly<Record<string, (world: World, nif: string, body: XmlElement) => Verdict>> = {
  RegisterInvoiceRequest: (world, nif, body) => register(world, nif, body, kinds.Invoice),
  RegisterWorkRequest: (world, nif, body) => register(world, nif, body, kinds.Work),
  RegisterPaymentRequest: (world, nif, body) => register(world, nif, body, kinds.Payment),
  ChangeInvoiceStatusRequest: (world, nif, body) => change(world, nif, body, kinds.Invoice),
  ChangeWorkStatusRequest: (world, nif, body) => change(world, nif, body, kinds.Work),
  ChangePaymentStatusRequest: (world, nif, body) => change(world, nif, body, kinds.Payment),
};

const success = verdict(0, 'Operação efetuada com sucesso.');

function register(world: World, nif: string, body: XmlElement, kind: DocumentKind): Verdict {
  const foreign = issuerFault(nif, body);
  if (foreign !== undefined) return foreign;
  const data = inside(body, `${kind.name}Data`)!;
  const number = value(data, kind.number);
  const digest = digestOf(data, 'DocumentStatus');
  const status = value(data, 'DocumentStatus', `${kind.name}Status`);
  const known = world.ledger.document(nif, number);
  if (known !== undefined) return again(known, digest, status, kind);

  const fault = valueFault(world, nif, body, data, kind) ?? registrationFault(data, kind);
  if (fault !== undefined) return fault;
  world.ledger.putDocument({
    nif,
    number,
    service: kind.service,
    documentCode: value(data, kind.type),
    atcud: value(data, 'ATCUD'),
    date: value(data, kind.date),
    customer: value(data, 'CustomerTaxID'),
    country: value(data, 'CustomerTaxIDCountry'),
    gross: value(data, 'DocumentTotals', 'GrossTotal'),
    net: value(data, 'DocumentTotals', 'NetTotal'),
    tax: value(data, 'DocumentTotals', 'TaxPayable'),
    digest,
    history: [{ status, date: value(data, 'DocumentStatus', `${kind.name}StatusDate`), at: world.now().toISOString() }],
  });
  return success;
}

/** The same document a second time. */
function again(known: DocumentEntry, digest: string, status: string, kind: DocumentKind): Verdict {
  if (known.digest !== digest) return verdict(kind.codes.different, 'Documento registado com valores diferentes');
  if (kind.name === 'Invoice' && status === 'A' && statusOf(known) !== 'A')
    return verdict(-2, 'Anulação de documento registado');
  return verdict(kind.codes.already, 'O documento já foi registado pelo emitente');
}

function statusOf(document: DocumentEntry): string {
  return document.history.at(-1)?.status ?? '';
}

/** The NIF of the sub-user must be the issuer's. */
function issuerFault(nif: string, body: XmlElement): Verdict | undefined {
  const issuer = value(body, 'TaxRegistrationNumber');
  if (!isNif(issuer)) return verdict(-17, 'NIF inválido');
  if (issuer !== nif)
    return verdict(-16, 'Utilizador não tem permissões para registar documentos com o NIF de emitente indicado');
  return undefined;
}

function valueFault(
  world: World,
  nif: string,
  body: XmlElement,
  data: XmlElement,
  kind: DocumentKind,
): Verdict | undefined {
  const { codes } = kind;
  const type = value(data, kind.type);
  const date = value(data, kind.date).slice(0, 10);
  const fault = numberFault(world, nif, type, value(data, kind.number), value(data, 'ATCUD'), date);
  if (fault === 'before start')
    return verdict(codes.date, 'Data de emissão inválida: anterior à data de início de utilização da série');
  if (fault !== undefined)
    return verdict(fault === 'other type' ? codes.type : codes.number, `Documento inválido: ${fault}`);
  if (date > lisbonDay(world)) return verdict(codes.date, 'Data de emissão inválida');
  if (isFuture(world, value(data, 'SystemEntryDate')))
    return verdict(codes.date, 'Data de gravação posterior à data atual');
  if (isFuture(world, value(data, 'DocumentStatus', `${kind.name}StatusDate`)))
    return verdict(codes.statusDate, 'Data de estado inválida');
  const certified = value(body, 'SoftwareCertificateNumber').replace(/^\+?0*(?=\d)/, '') !== '0';
  const hash = value(data, 'HashCharacters');
  if (kind.name !== 'Payment' && certified !== (hash !== '0'))
    return verdict(codes.certificate, 'Número de certificado inválido');
  const country = value(data, 'CustomerTaxIDCountry');
  if (country === 'PT' && !isNif(value(data, 'CustomerTaxID')))
    return verdict(codes.values, 'Valores de entrada inválidos: NIF do adquirente');
  return undefined;
}

function registrationFault(data: XmlElement, kind: DocumentKind): Verdict | undefined {
  const { codes } = kind;
  const type = value(data, kind.type);
  const own = type === 'NC' ? 'D' : 'C';
  const lines = childrenOf(data, 'LineSummary');
  if (kind.name !== 'Payment' && lines.some((line) => value(line, 'DebitCreditIndicator') !== own)) {
    return verdict(codes.values, 'Valores de entrada inválidos: indicador de débito ou crédito');
  }
  if (['NC', 'ND'].includes(type) && lines.some((line) => value(line, 'Reference') === '')) {
    return verdict(codes.required, 'Parâmetros de entrada obrigatórios em falta: Reference');
  }
  if (kind.name === 'Payment' && lines.some((line) => inside(line, 'Tax') === undefined)) {
    return verdict(codes.values, 'Valores de entrada inválidos: imposto em falta');
  }
  // A receipt's line has no tax point: its code was in force when what it settles was supplied.
  const isKnown = (code: string, day: string) =>
    kind.name === 'Payment' ? exemptions.some((one) => one.code === code) : exemptionOn(code, day) !== undefined;
  if (exemptionFault(data, isKnown, value(data, kind.date).slice(0, 10)))
    return verdict(codes.exemption, 'Código de motivo de isenção inválido');
  if (!amountsAgree(data, own) || !withholdingFits(data))
    return verdict(codes.amounts, 'Documento inválido por valores anómalos');
  return undefined;
}

function change(world: World, nif: string, body: XmlElement, kind: DocumentKind): Verdict {
  const foreign = issuerFault(nif, body);
  if (foreign !== undefined) return foreign;
  const { codes } = kind;
  const header = inside(body, `${kind.name}Header`)!;
  const known = world.ledger.document(nif, value(header, kind.number));
  if (known === undefined || known.service !== kind.service) return verdict(codes.absent, 'O documento não existe');
  const told = [
    value(header, 'ATCUD'),
    value(header, kind.date),
    value(header, kind.type),
    value(header, 'CustomerTaxID'),
  ];
  const holds = [known.atcud, known.date, known.documentCode, known.customer];
  if (JSON.stringify(told) !== JSON.stringify(holds))
    return verdict(codes.changeValues, 'Valores de entrada inválidos');
  const status = value(body, `${kind.name}Status`, `${kind.name}Status`);
  const date = value(body, `${kind.name}Status`, `${kind.name}StatusDate`);
  // A cancelled document stays cancelled, a billed one billed; nothing goes back to normal.
  if (statusOf(known) !== 'N' || status === 'N') return verdict(codes.state, 'Alteração de estado não permitida');
  // "Nor before the last one told" stands only in the tables of working documents (-43).
  const goesBack = kind.name === 'Work' && date < (known.history.at(-1)?.date ?? '');
  if (isFuture(world, date) || goesBack) {
    return verdict(
      codes.changeDate,
      `A data de estado do documento não pode ser posterior à data atual (${lisbonText(world)}) nem anterior à última`,
    );
  }
  world.ledger.putDocument({ ...known, history: [...known.history, { status, date, at: world.now().toISOString() }] });
  return success;
}
