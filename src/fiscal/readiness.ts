/** Whether a company may issue, and which page fixes what is missing (contract: GET /company, `readiness`). */
import { Refusal, type Words } from './refusal.ts';

export interface ReadinessFacts {
  /** Credentials at the AT: none stored; stored, but the AT answered "wrong password"; or stored and not refused. */
  readonly credentials: 'none' | 'wrong' | 'ok';
  /** A query of series has succeeded with the present credentials. An outage later never takes this back. */
  readonly synced: boolean;
  /** A series here differs from what the AT has. */
  readonly seriesDiffer: boolean;
  /** There is an active series for INVOICE. */
  readonly activeInvoiceSeries: boolean;
}

export type ReadinessCode = 'AT_CREDENTIALS_REQUIRED' | 'AT_SYNC_REQUIRED' | 'SERIES_REQUIRED';

export interface ReadinessReason {
  readonly code: ReadinessCode;
  /** The page that fixes it. */
  readonly actionUrl: string;
}

/** Every reason why the company can't issue, in the order in which to fix them; empty: ready. */
export function readiness(facts: ReadinessFacts, baseUrl: string): readonly ReadinessReason[] {
  const codes: ReadinessCode[] = [];
  if (facts.credentials !== 'ok') codes.push('AT_CREDENTIALS_REQUIRED');
  if (!facts.synced || facts.seriesDiffer || facts.credentials === 'none') codes.push('AT_SYNC_REQUIRED');
  if (!facts.activeInvoiceSeries) codes.push('SERIES_REQUIRED');
  return codes.map((code) => readinessReason(code, baseUrl));
}

/** What a refusal says of a company that can't issue at all. */
export const companyRemedy: Words = {
  en: 'See readiness in GET /company.',
  pt: 'Veja readiness em GET /company.',
};

/** The same of one that can, but for a series of the type, in the cash VAT scheme or not: its readiness does not show that. */
export const seriesRemedy = (cashVat: boolean): Words => (cashVat ? cashVatRemedy : typeRemedy);

const typeRemedy: Words = {
  en: 'There is no active series of this type. Register one with: certo series register.',
  pt: 'Não há nenhuma série ativa deste tipo. Registe uma com: certo series register.',
};
const cashVatRemedy: Words = {
  en: 'This document falls under the cash VAT scheme, and there is no active series of this type for it. Register one with: certo series register --cash-vat.',
  pt: 'Este documento enquadra-se no regime de IVA de caixa e não há nenhuma série ativa deste tipo nesse regime. Registe uma com: certo series register --cash-vat.',
};

/** NOT_READY: the codes stand in its sentence and in its `reasons`. */
export function notReady(type: string, reasons: readonly ReadinessCode[], remedy: Words): Refusal {
  return new Refusal('NOT_READY', { type, reasons: reasons.join(', '), remedy }, { members: { reasons } });
}

/** One reason with the page that says what fixes it, by which command; `baseUrl` may end in a slash. */
export function readinessReason(code: ReadinessCode, baseUrl: string): ReadinessReason {
  return { code, actionUrl: `${baseUrl.replace(/\/+$/, '')}/docs/readiness#${code}` };
}
