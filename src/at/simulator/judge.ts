/** One request of the simulated AT from bytes to answer: envelope, header, structure, rules. */
import type { Operation } from '../gateway.ts';
import { soapNamespace } from '../messages.ts';
import { documentsNamespace } from '../messages-documents.ts';
import { seriesNamespace } from '../messages-series.ts';
import { transportNamespace } from '../messages-transport.ts';
import type { XmlElement } from '../read-xml.ts';
import { childrenOf, readXml } from '../read-xml.ts';
import type { World } from './rules.ts';
import { value } from './rules.ts';
import { documentRules } from './rules-documents.ts';
import { seriesRules } from './rules-series.ts';
import { transportRule } from './rules-transport.ts';
import { documentSchemas } from './schema-documents.ts';
import { seriesSchemas } from './schema-series.ts';
import { transportSchemas } from './schema-transport.ts';
import type { Gate } from './security.ts';
import {
  authenticationFault,
  documentReply,
  fault,
  requestRoots,
  seriesReply,
  transportReply,
} from './soap-replies.ts';
import type { Complex, Simple } from './structure.ts';
import { check } from './structure.ts';

/** A request that could be read: which operation, of which document or series. */
export interface Asked {
  readonly operation: Operation;
  readonly header: XmlElement | undefined;
  readonly body: XmlElement;
  /** Number of the document or identifier of the series, for the log. */
  readonly subject: string;
}

/** What goes back, and what the log says of it: the AT's code and sentence, and who asked. */
export interface Answered {
  readonly status: 200 | 500;
  readonly xml: string;
  readonly code: string;
  readonly message: string;
  readonly username: string;
}

interface Service {
  readonly namespace: string;
  /** Namespace of the children: only the invoice service qualifies them. */
  readonly childNamespace: string;
  readonly schemas: Readonly<Record<string, Complex | Simple>>;
  readonly action: string;
}

/** By path, as the client addresses them. */
export const services: Readonly<Record<string, Service>> = {
  '/SeriesWSService': { namespace: seriesNamespace, childNamespace: '', schemas: seriesSchemas, action: '' },
  '/fatcorews/ws/': {
    namespace: documentsNamespace,
    childNamespace: documentsNamespace,
    schemas: documentSchemas,
    action: '',
  },
  '/sgdtws/documentosTransporte': {
    namespace: transportNamespace,
    childNamespace: '',
    schemas: transportSchemas,
    action: transportNamespace,
  },
};

/** Undefined when it is no SOAP request for one of this service's operations. */
export function readRequest(path: string, soapAction: string, text: string): Asked | undefined {
  const service = services[path];
  const root = readXml(text);
  if (service === undefined || root === undefined || root.name !== 'Envelope' || root.namespace !== soapNamespace)
    return undefined;
  if (soapAction.replace(/^"(.*)"$/, '$1') !== service.action) return undefined;
  const [body] = childrenOf(root, 'Body')[0]?.children ?? [];
  const operation = operationNamed(body?.name);
  if (body === undefined || operation === undefined || body.namespace !== service.namespace) return undefined;
  return { operation, header: childrenOf(root, 'Header')[0], body, subject: subjectOf(body) };
}

function operationNamed(root: string | undefined): Operation | undefined {
  return (Object.keys(requestRoots) as Operation[]).find((operation) => requestRoots[operation] === root);
}

function subjectOf(body: XmlElement): string {
  const holder = body.children.find((child) => /^(?:Invoice|Work|Payment)(?:Data|Header)$/.test(child.name)) ?? body;
  return (
    ['InvoiceNo', 'DocumentNumber', 'PaymentRefNo', 'serie']
      .map((name) => value(holder, name))
      .find((text) => text !== '') ?? ''
  );
}

/** The answer to what is no request of any operation. */
export const unreadable: Answered = {
  status: 500,
  xml: fault('33', 'Pedido SOAP inválido'),
  code: '33',
  message: 'Pedido SOAP inválido',
  username: '',
};

/** What the AT answers. A yes is in the ledger by then, so an answer that gets lost has had its effect. */
export function judge(world: World, gate: Gate, asked: Asked): Answered {
  const { operation, body } = asked;
  const identified = gate.identify(asked.header, operation === 'reportTransport' ? 'transport' : 'other');
  const { username } = identified;
  if ('refusal' in identified) {
    const { code, message } = identified.refusal;
    return { status: 500, xml: authenticationFault({ code, message }), code: String(code), message, username };
  }
  const { nif } = identified;
  const service = Object.values(services).find((candidate) => candidate.schemas[body.name] !== undefined)!;
  const wrong = check(body, service.schemas[body.name]!, service.childNamespace);
  if (wrong !== undefined) return structureAnswer(world, asked, username, `${wrong.problem} ${wrong.path}`);

  if (operation === 'reportTransport') {
    const found = transportRule(world, nif, body);
    const [first] = found.statuses;
    const xml = transportReply(value(body, 'DocumentNumber'), value(body, 'ATCUD'), found);
    return { status: 200, xml, code: String(first?.code), message: first?.message ?? '', username };
  }
  const seriesRule = seriesRules[body.name];
  if (seriesRule !== undefined) {
    const found = seriesRule(world, nif, body);
    return {
      status: 200,
      xml: seriesReply(body.name, found),
      code: String(found.code),
      message: found.message,
      username,
    };
  }
  const found = documentRules[body.name]!(world, nif, body);
  return {
    status: 200,
    xml: documentReply(body.name, found, world.now()),
    code: String(found.code),
    message: found.message,
    username,
  };
}

/** The series service has a code of its own for a wrong structure (4000), transport -1; the invoice service faults. */
function structureAnswer(world: World, asked: Asked, username: string, detail: string): Answered {
  const { operation, body } = asked;
  const message = `Erro de validação da estrutura: ${detail}`;
  if (operation === 'reportTransport') {
    const xml = transportReply(value(body, 'DocumentNumber') || '?', '', { statuses: [{ code: -1, message }] });
    return { status: 200, xml, code: '-1', message, username };
  }
  if (seriesRules[body.name] !== undefined) {
    return { status: 200, xml: seriesReply(body.name, { code: 4000, message }), code: '4000', message, username };
  }
  if (detail.startsWith('missing')) {
    const code = operation === 'reportWork' ? -51 : operation === 'reportInvoice' ? -50 : 33;
    if (code !== 33)
      return {
        status: 200,
        xml: documentReply(body.name, { code, message }, world.now()),
        code: String(code),
        message,
        username,
      };
  }
  return { status: 500, xml: fault('33', message), code: '33', message, username };
}
