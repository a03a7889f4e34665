/** Reads the answer of the transport service: ResponseStatus (1 to n), DocumentNumber?, ATCUD?, ATDocCodeID?. */
import { transportNamespace } from './messages-transport.ts';
import type { XmlElement } from './read-xml.ts';
import { childrenOf, textOf } from './read-xml.ts';
import type { Answer } from './replies.ts';
import { shorten } from './replies.ts';

export interface TransportAnswer {
  /** At least one, in the order received. */
  readonly answers: readonly Answer[];
  readonly documentNumber?: string | undefined;
  readonly atDocCode?: string | undefined;
}

/** Undefined: not of the WSDL's shape. */
export function transportAnswer(body: XmlElement): TransportAnswer | undefined {
  if (body.name !== 'envioDocumentoTransporteResponseElem' || body.namespace !== transportNamespace) return undefined;
  const answers = childrenOf(body, 'ResponseStatus').map(answer);
  if (answers.length === 0 || answers.includes(undefined)) return undefined;
  // At most one of each, and of text: with two numbers nobody knows which document the answer is about.
  const isOdd = (name: string) => childrenOf(body, name).length > 0 && textOf(body, name) === undefined;
  if (isOdd('DocumentNumber') || isOdd('ATDocCodeID')) return undefined;
  const atDocCode = textOf(body, 'ATDocCodeID');
  if (atDocCode !== undefined && !/^\S{1,200}$/.test(atDocCode)) return undefined;
  return { answers: answers as Answer[], documentNumber: textOf(body, 'DocumentNumber'), atDocCode };
}

function answer(status: XmlElement): Answer | undefined {
  const code = textOf(status, 'ReturnCode');
  if (code === undefined || !/^-?\d{1,9}$/.test(code)) return undefined;
  return { code: String(Number(code)), message: shorten(textOf(status, 'ReturnMessage') ?? '') };
}
