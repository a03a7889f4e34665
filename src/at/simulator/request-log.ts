/** The last requests of the simulated AT with their outcome; never a password, never a body. */
export interface LoggedRequest {
  readonly at: string;
  readonly operation: string;
  readonly username: string;
  /** Number of the document or identifier of the series. */
  readonly subject: string;
  /** The AT's code; absent when the request was not carried out. */
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly fault?: string | undefined;
  /** Bytes of the reply that the other side's machine took, where a fault ended the exchange; set when it is over. */
  sent?: number | undefined;
}

export interface RequestLog {
  add(entry: LoggedRequest): void;
  /** Newest last. */
  last(limit: number): readonly LoggedRequest[];
}

/** Keeps 1,000 entries. */
export function openRequestLog(keep = 1_000): RequestLog {
  let entries: LoggedRequest[] = [];
  return {
    add(entry) {
      entries.push(entry);
      // Cut in one go, so that a push costs nothing most of the time.
      if (entries.length >= keep * 2) entries = entries.slice(-keep);
    },
    last: (limit) => entries.slice(-Math.min(limit, keep)),
  };
}
