/** Where the three services of the AT live (integration manuals; addresses inside the WSDLs are placeholders). */
import type { AtMode, Operation } from './gateway.ts';
import { transportNamespace } from './messages-transport.ts';

export interface Endpoint {
  readonly url: URL;
  /** Content of the SOAPAction header, with its quotes (SOAP 1.1, 6.1.1). */
  readonly soapAction: string;
}

type Service = 'series' | 'documents' | 'transport';

const services: Readonly<Record<Service, { path: string; testPort: number; productionPort: number; action: string }>> =
  {
    series: { path: '/SeriesWSService', testPort: 722, productionPort: 422, action: '' },
    documents: { path: '/fatcorews/ws/', testPort: 723, productionPort: 423, action: '' },
    // No trailing slash in this address; the action has one.
    transport: { path: '/sgdtws/documentosTransporte', testPort: 701, productionPort: 401, action: transportNamespace },
  };

const host = 'https://servicos.portaldasfinancas.gov.pt';

const seriesOperations: readonly Operation[] = ['registerSeries', 'finalizeSeries', 'annulSeries', 'listSeries'];

function serviceOf(operation: Operation): Service {
  if (seriesOperations.includes(operation)) return 'series';
  return operation === 'reportTransport' ? 'transport' : 'documents';
}

/** `base` is the simulator's address, e.g. "https://127.0.0.1:7443"; used in mode simulator only. */
export function endpointOf(operation: Operation, mode: AtMode, base: string | undefined): Endpoint {
  const { path, testPort, productionPort, action } = services[serviceOf(operation)];
  const origin = mode === 'simulator' ? base : `${host}:${mode === 'production' ? productionPort : testPort}`;
  if (origin === undefined) throw new Error('the AT mode simulator needs the address of the simulator');
  return { url: new URL(path, origin), soapAction: `"${action}"` };
}
