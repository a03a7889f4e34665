import { describe, expect, it } from 'vitest';
import { endpointOf } from './endpoints.ts';

describe('addresses', () => {
  it.each([
    ['registerSeries', 'production', 'https://servicos.portaldasfinancas.gov.pt:422/SeriesWSService', '""'],
    ['listSeries', 'test', 'https://servicos.portaldasfinancas.gov.pt:722/SeriesWSService', '""'],
    ['reportInvoice', 'production', 'https://servicos.portaldasfinancas.gov.pt:423/fatcorews/ws/', '""'],
    ['changeWorkStatus', 'test', 'https://servicos.portaldasfinancas.gov.pt:723/fatcorews/ws/', '""'],
    ['reportPayment', 'simulator', 'https://127.0.0.1:7443/fatcorews/ws/', '""'],
    [
      'reportTransport',
      'production',
      'https://servicos.portaldasfinancas.gov.pt:401/sgdtws/documentosTransporte',
      '"https://servicos.portaldasfinancas.gov.pt/sgdtws/documentosTransporte/"',
    ],
    [
      'reportTransport',
      'test',
      'https://servicos.portaldasfinancas.gov.pt:701/sgdtws/documentosTransporte',
      '"https://servicos.portaldasfinancas.gov.pt/sgdtws/documentosTransporte/"',
    ],
  ] as const)('%s in %s', (operation, mode, url, soapAction) => {
    const endpoint = endpointOf(operation, mode, 'https://127.0.0.1:7443');
    expect([endpoint.url.href, endpoint.soapAction]).toEqual([url, soapAction]);
  });

  it('never goes from the simulator to the AT, nor from the AT to the simulator', () => {
    expect(() => endpointOf('reportInvoice', 'simulator', undefined)).toThrow(/address of the simulator/);
    expect(endpointOf('reportInvoice', 'production', 'https://127.0.0.1:7443').url.hostname).toBe(
      'servicos.portaldasfinancas.gov.pt',
    );
  });
});
