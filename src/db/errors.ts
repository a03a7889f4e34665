/** What can go wrong between us and the database, told apart by what the caller may conclude about its effects. */

/** The connection broke. Nothing of the transaction was kept, unless the error is OutcomeUnknown. */
export class ConnectionLost extends Error {
  override readonly name: string = 'ConnectionLost';
  /** Whether the statements had been sent when it broke: an implicit transaction may then have taken effect. */
  readonly sent: boolean;

  constructor(message: string, options: { sent: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.sent = options.sent;
  }
}

/** No connection could be made: nothing was sent. `message` is one sentence for the operator and names no secret. */
export class DatabaseUnavailable extends ConnectionLost {
  override readonly name: string = 'DatabaseUnavailable';

  constructor(message: string) {
    // No cause: the driver's error can hold the address with its password.
    super(message, { sent: false });
  }
}

/** The connection broke after COMMIT was sent and before its reply: the transaction may or may not be kept. */
export class OutcomeUnknown extends Error {
  override readonly name: string = 'OutcomeUnknown';

  constructor(cause: unknown) {
    super('the connection broke during the commit; whether it took effect is unknown', { cause });
  }
}

/** The server refused a statement. The transaction is rolled back; the connection is fine. */
export class StatementError extends Error {
  override readonly name: string = 'StatementError';
  /** Name of the statement, '' for composed SQL. */
  readonly statement: string;
  /** SQLSTATE, five characters (PostgreSQL manual, appendix A). */
  readonly code: string;
  readonly constraint: string | undefined;
  readonly table: string | undefined;
  readonly column: string | undefined;
  /** Can hold values of the row, so it is kept out of what loggers enumerate. */
  declare readonly detail: string | undefined;

  constructor(statement: string, fault: ServerFault) {
    super(`${fault.message} (statement ${statement === '' ? 'composed' : statement}, SQLSTATE ${fault.code})`);
    this.statement = statement;
    this.code = fault.code;
    this.constraint = fault.constraint;
    this.table = fault.table;
    this.column = fault.column;
    Object.defineProperty(this, 'detail', { value: fault.detail, enumerable: false });
  }
}

/**
 * Two transactions waited for each other and the server ended this one (40P01), or it found no order for them (40001). Tried
 * again from its first statement it may well pass. Also of the driver's own errors.
 */
export function isDeadlock(error: unknown): boolean {
  return error instanceof Error && /^(40P01|40001)$/.test(String((error as { code?: unknown }).code));
}

/**
 * The server ended a statement in favour of others: it waited too long (57014, 55P03), or it was in a deadlock. Nothing was
 * done, and the same may well pass a moment later.
 */
export function gaveWay(error: unknown): boolean {
  return error instanceof StatementError && (/^(57014|55P03)$/.test(error.code) || isDeadlock(error));
}

/**
 * The server has not what the statement needs: memory, connections or files (class 53), room on its disk (53100), or a disk
 * that does as it is told (58030). Nothing was done; it passes when somebody sees to it.
 */
export function isShort(error: unknown): boolean {
  return error instanceof StatementError && /^(53...|58030)$/.test(error.code);
}

/** What the database can't do for a while. Nothing was done, and the same is tried again. */
export function isPassing(error: unknown): boolean {
  return error instanceof ConnectionLost || gaveWay(error) || isShort(error);
}

/** Of those that are short, what an operator has to see to: it lasts. */
export function isDiskTrouble(error: unknown): boolean {
  return error instanceof StatementError && /^(53100|58030)$/.test(error.code);
}

/** What is said of it, before the server's own words. */
export const readOnlyWords = 'the database is read-only (a standby?)';

/**
 * The server lets nobody write: it is a standby, or was told to (default_transaction_read_only). A standby says 25006 to a
 * statement, and to a transaction that begins as one that writes 0A000, as to much else, in words that may be translated.
 * Also of the driver's own errors.
 */
export function isReadOnly(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, statement } = error as { code?: unknown; statement?: unknown };
  return code === '25006' || (code === '0A000' && (statement === 'begin' || /during recovery/.test(error.message)));
}

/** The parts that we read of an ErrorResponse as pg decodes it. */
export interface ServerFault {
  readonly message: string;
  readonly code: string;
  readonly constraint?: string | undefined;
  readonly table?: string | undefined;
  readonly column?: string | undefined;
  readonly detail?: string | undefined;
}

// Errors after which the server closes the connection: shutdown, crash, dropped database, idle and transaction
// timeouts, and the connection exceptions of class 08. `severity` would say so too, but it is translated.
const closing = /^(57P0[1-5]|25P0[34]|08...)$/;

/** The error as the server's refusal of a statement; undefined when the connection itself broke. */
export function asServerFault(error: unknown): ServerFault | undefined {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return undefined;
  const fault = error as Error & { code: unknown };
  if (typeof fault.code !== 'string' || closing.test(fault.code)) return undefined;
  return fault as Error & ServerFault;
}

/** Whether the connection must not be used again after this error. */
export function isSpoilt(error: unknown): boolean {
  // The address may lead to another server by now, to the one that lets us write: a new connection finds it.
  if (isReadOnly(error)) return true;
  if (error instanceof StatementError) {
    // A table changed under a prepared statement (0A000 "cached plan must not change result type", in the server's language),
    // or somebody dropped our prepared statements (26000): a new connection prepares them anew.
    return error.code === '26000' || error.code === '0A000';
  }
  return error instanceof ConnectionLost || error instanceof OutcomeUnknown;
}
