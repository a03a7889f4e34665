/**
 * The tax authority (AT) as the rest of the house sees it: one call per operation, three possible outcomes.
 * Source: WSDLs SeriesWS, fatcorews and sgdtws with their integration manuals (series generic and specific parts,
 * invoice elements of January 2023, transport documents of December 2022).
 */
import type {
  AnnulSeries,
  FinalizeSeries,
  PaymentReport,
  RegisterSeries,
  SalesReport,
  SeriesQuery,
  SeriesRecord,
  StatusChange,
  TransportReport,
} from './reports.ts';

export type AtMode = 'production' | 'test' | 'simulator';

/** The operations of the gateway, by the name of its methods. */
export const operations = [
  'registerSeries',
  'finalizeSeries',
  'annulSeries',
  'listSeries',
  'reportInvoice',
  'changeInvoiceStatus',
  'reportWork',
  'changeWorkStatus',
  'reportPayment',
  'changePaymentStatus',
  'reportTransport',
] as const;
export type Operation = (typeof operations)[number];

/** Companies for which one process calls the AT at once. Each has a connection, so that none waits for another's answer. */
export const calls_at_once = { reports: 20, series: 4 } as const;

/** A sub-user of the taxpayer in the tax portal. Never logged, never part of an outcome. */
export interface Credentials {
  /** "NIF/n", e.g. "555555555/1". */
  readonly username: string;
  readonly password: string;
}

export interface CallOptions {
  /** Gives the call up: the outcome is then unknown. */
  readonly signal?: AbortSignal | undefined;
}

/** The AT has it. `code` is the AT's own ("0", "2001", also "-10" for a document it already had). */
export interface Done {
  readonly kind: 'done';
  readonly code: string;
  /** The AT's sentence, at most 500 characters. */
  readonly message: string;
}

/**
 * - data: this document or series is wrong in the AT's eyes; sending it again changes nothing.
 * - credentials: user or password. Stop calling for this taxpayer: repeated wrong passwords may lock the sub-user.
 * - configuration: permissions, keys or the program itself; a person of the operator or the taxpayer must act.
 * - inspect: the AT holds something else than we do, or can't say why not; a person (or listSeries) must look.
 */
export type RefusedReason = 'data' | 'credentials' | 'configuration' | 'inspect';

/** The AT said no, for good: never retried by itself. */
export interface Refused {
  readonly kind: 'refused';
  readonly code: string;
  readonly message: string;
  readonly reason: RefusedReason;
}

/**
 * Nobody knows whether the AT has it: retry the same call later, with `resent: true` where the message has it;
 * a second arrival is recognised by the AT (-10, -22, -25) and comes back as done.
 */
export interface Unknown {
  readonly kind: 'unknown';
  /** A short sentence without secrets, fit for a log and for the operator. */
  readonly problem: string;
  /** False only when it is certain that nothing of the request left this machine. */
  readonly sent: boolean;
}

export type Outcome<Data = unknown> = (Done & Data) | Refused | Unknown;

/** Never throws for what the network or the AT does; throws only when the message itself breaks its contract. */
export interface AtGateway {
  /** Done (2001) carries the record with its validation code. 4001 is refused with reason inspect: look with listSeries. */
  registerSeries(
    credentials: Credentials,
    message: RegisterSeries,
    options?: CallOptions,
  ): Promise<Outcome<{ series: SeriesRecord }>>;
  finalizeSeries(credentials: Credentials, message: FinalizeSeries, options?: CallOptions): Promise<Outcome>;
  annulSeries(credentials: Credentials, message: AnnulSeries, options?: CallOptions): Promise<Outcome>;
  /** Done (2002) carries every record that fits, possibly none. */
  listSeries(
    credentials: Credentials,
    message: SeriesQuery,
    options?: CallOptions,
  ): Promise<Outcome<{ series: readonly SeriesRecord[] }>>;
  /** FT, FS, FR, NC, ND. */
  reportInvoice(credentials: Credentials, message: SalesReport, options?: CallOptions): Promise<Outcome>;
  changeInvoiceStatus(credentials: Credentials, message: StatusChange, options?: CallOptions): Promise<Outcome>;
  /** Pro formas and other working documents. */
  reportWork(credentials: Credentials, message: SalesReport, options?: CallOptions): Promise<Outcome>;
  changeWorkStatus(credentials: Credentials, message: StatusChange, options?: CallOptions): Promise<Outcome>;
  /** RC receipts (cash VAT) only; RG receipts are never sent by web service. */
  reportPayment(credentials: Credentials, message: PaymentReport, options?: CallOptions): Promise<Outcome>;
  changePaymentStatus(credentials: Credentials, message: StatusChange, options?: CallOptions): Promise<Outcome>;
  /**
   * Registers (status N or T) or cancels (A) a transport document. Done carries the AT's code, except when the AT
   * already had the document (-3 on a resend): then the code stands only in the tax portal.
   */
  reportTransport(
    credentials: Credentials,
    message: TransportReport,
    options?: CallOptions,
  ): Promise<Outcome<{ atDocCode?: string | undefined }>>;
}
