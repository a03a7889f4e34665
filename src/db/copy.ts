/**
 * COPY of whole tables in PostgreSQL's text form, as streams (PostgreSQL manual, "COPY Operations" of the protocol and
 * "COPY", text format). Neither side holds more than a few pieces: whoever reads slowly stops the server, and a server
 * that is slow stops whoever sends.
 */
import { once } from 'node:events';
import type { ClientBase, Connection, Submittable } from 'pg';
import { asServerFault, ConnectionLost, StatementError } from './errors.ts';

/** pg has these; its types do not name them. */
type CopyConnection = Connection & {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
};

/** Bytes of rows that are handed on together. */
const piece_bytes = 64 * 1024;
/** Bytes that may wait for a reader before the server is stopped. */
const waiting_bytes = 16 * piece_bytes;

/** What both directions have in common: the end, told once. pg calls the `handle…` methods by name. */
abstract class Copy implements Submittable {
  readonly #text: string;
  /** Rows, when it is done. */
  readonly done: Promise<number>;
  #resolve!: (rows: number) => void;
  #reject!: (error: Error) => void;
  #rows = 0;

  constructor(text: string) {
    this.#text = text;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Whoever reads or sends sees it; nobody may be waiting yet.
    this.done.catch(() => undefined);
  }

  submit(connection: Connection): void {
    connection.query(this.#text);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(/^COPY (\d+)$/.exec(text)?.[1] ?? Number.NaN);
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#rows);
  }

  handleError(error: unknown): void {
    const fault = asServerFault(error);
    this.#reject(
      fault === undefined
        ? new ConnectionLost('the connection to the database broke', { sent: true, cause: error })
        : new StatementError('copy', fault),
    );
  }
}

class CopyOut extends Copy {
  #waiting: Buffer[] = [];
  #size = 0;
  #connection: Connection | undefined;
  #wake: () => void = () => undefined;

  override submit(connection: Connection): void {
    this.#connection = connection;
    super.submit(connection);
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    // The parser's buffer is used again for what comes next.
    this.#waiting.push(Buffer.from(chunk));
    this.#size += chunk.length;
    if (this.#size > waiting_bytes) this.#connection?.stream.pause();
    if (this.#size >= piece_bytes) this.#wake();
  }

  /** Everything that came since the last call; waits for a piece of some size, or the end. */
  async next(): Promise<Buffer> {
    if (this.#size < piece_bytes) {
      const enough = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([enough, this.done]);
    }
    const piece = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#size = 0;
    this.#connection?.stream.resume();
    return piece;
  }
}

/** The pieces of `copy … to stdout`. Whoever stops reading early has to give up the connection. Throws StatementError, ConnectionLost. */
export async function* copyOut(client: ClientBase, text: string): AsyncGenerator<Buffer, number> {
  const copy = new CopyOut(text);
  let ended = false;
  const end = () => {
    ended = true;
  };
  copy.done.then(end, end);
  client.query(copy);
  for (;;) {
    const piece = await copy.next();
    if (piece.length > 0) yield piece;
    else if (ended) return copy.done;
  }
}

class CopyIn extends Copy {
  #open!: (connection: CopyConnection) => void;
  readonly opened = new Promise<CopyConnection>((resolve) => {
    this.#open = resolve;
  });

  handleCopyInResponse(connection: Connection): void {
    this.#open(connection as CopyConnection);
  }
}

/**
 * Sends the pieces to `copy … from stdin`; returns the rows that the server took. What `pieces` throws comes out again,
 * and nothing of the rows stays. Throws StatementError (also for rows that do not fit the table), ConnectionLost.
 */
export async function copyIn(client: ClientBase, text: string, pieces: AsyncIterable<Buffer>): Promise<number> {
  const copy = new CopyIn(text);
  client.query(copy);
  const connection = await Promise.race([copy.opened, copy.done.then(notCopied)]);
  let refused = false;
  const refuse = () => {
    refused = true;
  };
  copy.done.then(refuse, refuse);
  try {
    for await (const piece of pieces) {
      if (refused) return await copy.done;
      connection.sendCopyFromChunk(piece);
      // A connection that breaks never drains.
      if (connection.stream.writableNeedDrain) await Promise.race([once(connection.stream, 'drain'), copy.done]);
    }
  } catch (error) {
    if (!refused) connection.sendCopyFail('its source ended early');
    await copy.done.catch(() => undefined);
    throw error;
  }
  connection.endCopyFrom();
  return copy.done;
}

function notCopied(): never {
  throw new Error('not a copy from stdin');
}
