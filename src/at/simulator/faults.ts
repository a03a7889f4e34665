/** The faults the simulated AT can play, and the rules that say when. */

import type { Operation } from '../gateway.ts';
import { operations } from '../gateway.ts';

/** What goes wrong before a request exists; these know no operation. */
export const connectionFaults = {
  /** Nobody listens; existing connections are cut. Until cleared, or for `milliseconds`. */
  refused: 'the port is closed',
  /** The connection is reset as soon as it stands. */
  reset: 'reset at once',
  /** The connection ends in good order as soon as it stands. */
  closed: 'closed at once',
  /** Bytes that are no TLS. */
  'not-tls': 'plain text instead of TLS',
  /** A certificate for another name and purpose. */
  'wrong-certificate': 'a certificate of someone else',
  /** The right name and the right authority, but its time is over. */
  'expired-certificate': 'a certificate that has ended',
  /** The right name, signed by nobody known. */
  'unknown-authority': 'a certificate that vouches for itself',
  /** The connection stands and nothing ever comes. */
  'silent-connection': 'no handshake',
} as const;

/** `true`: the request is carried out before the fault plays, unless the rule says otherwise. */
export const requestFaults = {
  'no-answer': false,
  'no-answer-after': true,
  slow: true,
  'reset-before': false,
  'reset-after': true,
  truncated: true,
  'truncated-xml': true,
  'http-500': false,
  'http-503': false,
  'http-503-after': true,
  'wrong-status': true,
  html: false,
  'malformed-xml': false,
  xxe: false,
  'billion-laughs': false,
  'deep-xml': false,
  huge: false,
  endless: false,
  'endless-headers': false,
  drip: true,
  'soap-fault': false,
  'wrong-credentials': false,
  'key-repeated': false,
  'clock-apart': false,
  'system-error': false,
  'series-unknown': false,
  'document-refused': false,
  'already-registered': true,
  'other-document': true,
  'other-operation': true,
  'wrong-content-type': true,
  redirect: false,
  'gzip-bomb': false,
  'empty-body': true,
  'no-content': true,
  'other-encoding': true,
  'broken-encoding': true,
  'two-lengths': true,
  'bad-framing': true,
  'two-replies': true,
  'not-http': false,
} as const;

export type ConnectionFault = keyof typeof connectionFaults;
export type RequestFault = keyof typeof requestFaults;

export interface FaultRule {
  readonly kind: ConnectionFault | RequestFault;
  /** Only this operation; absent: all. */
  readonly operation?: Operation | undefined;
  /** Only this document or series, by its number or identifier; absent: all. */
  readonly subject?: string | undefined;
  /** This many times; absent: until cleared. */
  readonly count?: number | undefined;
  /** 0 to 1; absent: always. */
  readonly probability?: number | undefined;
  /** Delay of `slow`, length of `refused`. */
  readonly milliseconds?: number | undefined;
  /** Whether the request is carried out first; absent: as the kind says. */
  readonly processed?: boolean | undefined;
}

export interface RequestPlay {
  readonly kind: RequestFault;
  readonly milliseconds: number;
  readonly processed: boolean;
}

export interface Faults {
  put(rule: FaultRule): void;
  clear(): void;
  /** Drops the rules of one kind. */
  end(kind: FaultRule['kind']): void;
  list(): readonly (FaultRule & { readonly played: number })[];
  nextConnection(): ConnectionFault | undefined;
  nextRequest(operation: Operation, subject: string): RequestPlay | undefined;
}

/** `random` gives numbers from 0 to below 1. */
export function openFaults(random: () => number): Faults {
  let rules: (FaultRule & { played: number })[] = [];

  function next(fits: (rule: FaultRule) => boolean): FaultRule | undefined {
    const rule = rules.find(
      (r) =>
        fits(r) &&
        (r.count === undefined || r.played < r.count) &&
        (r.probability === undefined || random() < r.probability),
    );
    if (rule !== undefined) rule.played += 1;
    return rule;
  }

  return {
    put(rule) {
      const others = rules.filter(
        (r) => r.kind !== rule.kind || r.operation !== rule.operation || r.subject !== rule.subject,
      );
      rules = [...others, { ...rule, played: 0 }];
    },
    clear() {
      rules = [];
    },
    end(kind) {
      rules = rules.filter((rule) => rule.kind !== kind);
    },
    list: () => rules,
    nextConnection() {
      const rule = next((r) => r.kind in connectionFaults && r.kind !== 'refused');
      return rule?.kind as ConnectionFault | undefined;
    },
    nextRequest(operation, subject) {
      const isAbout = (r: FaultRule) => (r.operation ?? operation) === operation && (r.subject ?? subject) === subject;
      const rule = next((r) => r.kind in requestFaults && isAbout(r));
      if (rule === undefined) return undefined;
      const kind = rule.kind as RequestFault;
      return { kind, milliseconds: rule.milliseconds ?? 1_000, processed: rule.processed ?? requestFaults[kind] };
    },
  };
}

/** Reads a rule from outside; a sentence when it is none. */
export function readRule(input: unknown): FaultRule | string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return 'a fault is a JSON object';
  const { kind, operation, subject, count, probability, milliseconds, processed, ...more } = input as Record<
    string,
    unknown
  >;
  const kinds = [...Object.keys(connectionFaults), ...Object.keys(requestFaults)];
  if (Object.keys(more).length > 0) return `unknown member ${Object.keys(more)[0]}`;
  if (typeof kind !== 'string' || !kinds.includes(kind)) return `kind is one of: ${kinds.join(', ')}`;
  if (operation !== undefined && !operations.includes(operation as Operation))
    return `operation is one of: ${operations.join(', ')}`;
  if (subject !== undefined && typeof subject !== 'string') return 'subject is text';
  if ((operation ?? subject) !== undefined && kind in connectionFaults)
    return 'a fault of the connection knows neither operation nor subject';
  if (count !== undefined && !(Number.isSafeInteger(count) && (count as number) > 0))
    return 'count is a whole number above 0';
  if (count !== undefined && kind === 'refused') return 'refused lasts until cleared or for milliseconds';
  if (probability !== undefined && !(typeof probability === 'number' && probability >= 0 && probability <= 1))
    return 'probability is 0 to 1';
  if (milliseconds !== undefined && !(Number.isSafeInteger(milliseconds) && (milliseconds as number) >= 0))
    return 'milliseconds is a whole number';
  if (processed !== undefined && typeof processed !== 'boolean') return 'processed is true or false';
  return input as FaultRule;
}
