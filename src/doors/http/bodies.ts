/**
 * Bodies on their way in. They arrive before anyone is authenticated, so what all of them hold together is bounded, and
 * what one network holds of it: whoever sends many large ones, slowly, keeps nobody else from being heard.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from '../../fiscal/refusal.ts';

/** All in bytes. */
export interface BodyLimits {
  /** One body. */
  readonly largest: number;
  /** Those of one network, until they are answered. */
  readonly ofNetwork: number;
  /** Those of all networks. */
  readonly together: number;
}

type Done = (error: Error | null, body?: Buffer) => void;

const retryAfterSeconds = 1;

/** Counts for one server. `expect` and `read` are called once per request, in this order. */
export class Bodies {
  readonly #limits: BodyLimits;
  readonly #responses = new WeakMap<IncomingMessage, ServerResponse>();
  readonly #ofNetwork = new Map<string, number>();
  #together = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Before `read`: what answers the request. A request without a body is none of ours. */
  expect(request: IncomingMessage, response: ServerResponse): void {
    if (hasBody(request)) this.#responses.set(request, response);
  }

  /**
   * The whole body, which counts as held until the request is answered. Ends with BODY_TOO_LARGE, with UNAVAILABLE where
   * there is no room for it, or with BAD_HTTP where the request breaks off.
   */
  read(request: IncomingMessage, network: string, done: Done): void {
    const { largest } = this.#limits;
    const response = this.#responses.get(request);
    if (response === undefined) {
      done(null, Buffer.alloc(0));
      return;
    }
    if (Number(request.headers['content-length']) > largest) {
      done(new Refusal('BODY_TOO_LARGE'));
      return;
    }
    // A buffer of its own takes hundreds of bytes, and a piece may be one: what comes behind the first is written into one.
    let bytes: Buffer = Buffer.alloc(0);
    let held = 0;
    const free = (): void => {
      this.#count(network, -held);
      held = 0;
    };
    const end = (refusal: Refusal | null, body?: Buffer): void => {
      request.off('data', take).off('end', finish).off('error', fail);
      if (refusal !== null) free();
      done(refusal, body);
    };
    const take = (piece: Buffer): void => {
      if (held + piece.length > largest) end(new Refusal('BODY_TOO_LARGE'));
      else if (!this.#hasRoom(network, piece.length)) end(new Refusal('UNAVAILABLE', {}, { retryAfterSeconds }));
      else {
        this.#count(network, piece.length);
        bytes = held === 0 ? piece : appended(bytes, held, piece, largest);
        held += piece.length;
      }
    };
    const finish = (): void => end(null, bytes.subarray(0, held));
    const fail = (): void => end(new Refusal('BAD_HTTP'));
    response.once('close', free);
    request.on('data', take).on('end', finish).on('error', fail);
  }

  #hasRoom(network: string, bytes: number): boolean {
    const { ofNetwork, together } = this.#limits;
    return this.#together + bytes <= together && (this.#ofNetwork.get(network) ?? 0) + bytes <= ofNetwork;
  }

  #count(network: string, bytes: number): void {
    this.#together += bytes;
    const held = (this.#ofNetwork.get(network) ?? 0) + bytes;
    if (held === 0) this.#ofNetwork.delete(network);
    else this.#ofNetwork.set(network, held);
  }
}

/** The first `held` bytes and the piece: where they were if it fits in behind them, else in twice as much room. */
function appended(bytes: Buffer, held: number, piece: Buffer, largest: number): Buffer {
  const needed = held + piece.length;
  let room = bytes;
  if (needed > bytes.length) {
    room = Buffer.allocUnsafeSlow(Math.min(Math.max(needed, 2 * bytes.length), largest));
    bytes.copy(room, 0, 0, held);
  }
  piece.copy(room, held);
  return room;
}

/** RFC 9112, section 6: a request without either of them has none. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}
