/** Whether a company may issue, and which page fixes what is missing (contract: GET /company, `readiness`). */

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

/** One reason with the page that says what fixes it, by which command; `baseUrl` may end in a slash. */
export function readinessReason(code: ReadinessCode, baseUrl: string): ReadinessReason {
  return { code, actionUrl: `${baseUrl.replace(/\/+$/, '')}/docs/readiness#${code}` };
}
