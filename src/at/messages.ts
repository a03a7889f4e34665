/**
 * Bodies of every operation, in the exact order of the WSDLs. Pure: values in, XML text out.
 * Where a manual and a WSDL disagree the WSDL wins, since the AT's server validates against it.
 */
import { documentBodies } from './messages-documents.ts';
import { annulSeriesBody, finalizeSeriesBody, listSeriesBody, registerSeriesBody } from './messages-series.ts';
import { transportBody } from './messages-transport.ts';

/** One builder per operation of the gateway; each throws only when the message breaks its own contract. */
export const bodies = {
  registerSeries: registerSeriesBody,
  finalizeSeries: finalizeSeriesBody,
  annulSeries: annulSeriesBody,
  listSeries: listSeriesBody,
  ...documentBodies,
  reportTransport: transportBody,
};

export const soapNamespace = 'http://schemas.xmlsoap.org/soap/envelope/';

/** The SOAP 1.1 envelope around a security header and a body, both XML. */
export function envelope(header: string, body: string): string {
  return (
    `<?xml version="1.0" encoding="UTF-8"?><S:Envelope xmlns:S="${soapNamespace}">` +
    `<S:Header>${header}</S:Header><S:Body>${body}</S:Body></S:Envelope>`
  );
}
