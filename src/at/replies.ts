/**
 * Reads what the AT answers. A "yes" must have exactly the shape of the WSDL; a "no" may be terse, since mistaking a
 * "wrong password" for silence would send that password again and again. Anything else is an unknown outcome.
 */
import { cut } from '../fiscal/cut.ts';
import { verdictOf } from './codes.ts';
import type { Operation, Outcome, Refused, Unknown } from './gateway.ts';
import { soapNamespace } from './messages.ts';
import { documentsNamespace } from './messages-documents.ts';
import type { XmlElement } from './read-xml.ts';
import { readXml, textOf } from './read-xml.ts';

/** One answer of the AT: its code and sentence. */
export interface Answer {
  readonly code: string;
  readonly message: string;
}

/** `strange` is no SOAP at all; a fault may tell nothing. */
export type Envelope =
  | { readonly kind: 'body'; readonly body: XmlElement }
  | { readonly kind: 'fault'; readonly fault?: Answer | undefined }
  | { readonly kind: 'strange'; readonly problem: string };

const soap12Namespace = 'http://www.w3.org/2003/05/soap-envelope';

/** What is in the envelope. SOAP 1.2 occurs too: the AT's gateway answers so when the service behind it fails. */
export function openEnvelope(text: string): Envelope {
  const root = readXml(text);
  if (root === undefined) return strange('the reply is not well-formed XML');
  if (root.name !== 'Envelope' || (root.namespace !== soapNamespace && root.namespace !== soap12Namespace)) {
    return strange('the reply is not a SOAP envelope');
  }
  const [body, ...more] = root.children.filter((child) => child.name === 'Body' && child.namespace === root.namespace);
  const [content, ...others] = body?.children ?? [];
  if (content === undefined || more.length > 0 || others.length > 0)
    return strange('the SOAP body does not hold one element');
  if (content.name === 'Fault' && content.namespace === root.namespace)
    return { kind: 'fault', fault: faultOf(content) };
  return { kind: 'body', body: content };
}

/**
 * Authentication errors come as a fault: either the number is the faultcode, or the detail holds
 * AuthenticationException/AuthenticationFailed with Code and Message. Undefined: a fault that tells nothing.
 */
function faultOf(fault: XmlElement): Answer | undefined {
  const failed = within(within(within(fault, 'detail'), 'AuthenticationException'), 'AuthenticationFailed');
  const code = failed === undefined ? textOf(fault, 'faultcode') : textOf(failed, 'Code');
  const message = failed === undefined ? textOf(fault, 'faultstring') : textOf(failed, 'Message');
  return code !== undefined && /^\d{1,4}$/.test(code) ? { code, message: shorten(message ?? '') } : undefined;
}

function within(parent: XmlElement | undefined, name: string): XmlElement | undefined {
  const found = parent?.children.filter((child) => child.name === name) ?? [];
  return found.length === 1 ? found[0] : undefined;
}

/** The answer of the invoice service: CodigoResposta, Mensagem, DataOperacao. */
export function documentAnswer(body: XmlElement, element: string): Answer | undefined {
  const response = body.name === element && body.namespace === documentsNamespace ? body.children[0] : undefined;
  if (response === undefined || body.children.length !== 1 || response.name !== 'Response') return undefined;
  const code = textOf(response, 'CodigoResposta');
  if (code === undefined || !/^-?\d{1,9}$/.test(code)) return undefined;
  const message = textOf(response, 'Mensagem');
  const date = textOf(response, 'DataOperacao');
  const whole = message !== undefined && date !== undefined && isDateTime(date) && response.children.length === 3;
  return Number(code) === 0 && !whole ? undefined : { code: String(Number(code)), message: shorten(message ?? '') };
}

/** The outcome that an answer alone decides; undefined when it is "done" and the caller reads on. */
export function outcomeOf(operation: Operation, answer: Answer, resent: boolean): Refused | Unknown | undefined {
  const verdict = verdictOf(operation, answer.code, resent);
  if (verdict === 'done') return undefined;
  if (verdict === 'unknown') return unknown(`the AT asks to try again later (code ${answer.code})`);
  return { kind: 'refused', code: answer.code, message: answer.message, reason: verdict };
}

/** The outcome of a fault: authentication is judged by its number, any other fault says nothing. */
export function outcomeOfFault(operation: Operation, fault: Answer | undefined): Refused | Unknown {
  if (fault === undefined) return unknown('the AT answered with a SOAP fault');
  const verdict = verdictOf(operation, fault.code, false);
  // A fault is never a yes, and a number outside the tables is no answer about the document.
  if (verdict === 'credentials' || verdict === 'configuration') {
    return { kind: 'refused', code: fault.code, message: fault.message, reason: verdict };
  }
  return unknown(`the AT answered with a SOAP fault (code ${fault.code})`);
}

/** `sent` false: nothing has left this machine, so the AT can't have done it. */
export function unknown(problem: string, sent = true): Unknown {
  return { kind: 'unknown', problem, sent };
}

/** A "yes" of the AT with what it answered beside code and sentence. */
export function done<Data extends object>(answer: Answer, data: Data): Outcome<Data> {
  return { kind: 'done', code: answer.code, message: answer.message, ...data };
}

/** Sentences of the AT have at most 256 characters; they are kept and shown, so what is longer is cut. */
export function shorten(message: string): string {
  return cut(message.replace(/\s+/g, ' ').trim(), 500);
}

/** The form of xs:dateTime, with a zone or without; whether there is such a day is not looked at. */
export function isDateTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)?$/.test(text);
}

function strange(problem: string): Envelope {
  return { kind: 'strange', problem };
}
