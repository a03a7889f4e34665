/**
 * Bodies on their way in. They arrive before anyone is authenticated, so what all of them hold together is bounded, and
 * what one network holds of it: whoever sends many large ones, slowly, keeps nobody else from being heard.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Refusal } from '../../fiscal/refusal.ts';
import { Room, type RoomLimits } from './room.ts';

/** All in bytes. */
export interface BodyLimits {
  /** One body. */
  readonly largest: number;
  /** Those of networks, until they are answered. */
  readonly room: RoomLimits;
}

type Done = (refusal: Refusal | null, body?: Buffer) => void;

const retryAfterSeconds = 1;

/** Of a request whose body is on its way. */
const arriving = Symbol('the body on its way');
interface Carrier extends IncomingMessage {
  [arriving]?: Body;
}

/** Of one server. */
export class Bodies {
  readonly largest: number;
  readonly room: Room;

  constructor({ largest, room }: BodyLimits) {
    this.largest = largest;
    this.room = new Room(room);
  }

  /**
   * The whole body, which counts as held until the request is answered. Ends with BODY_TOO_LARGE, with UNAVAILABLE where
   * there is no room for it, or with BAD_HTTP where the request breaks off.
   */
  read(request: IncomingMessage, response: ServerResponse, network: string, done: Done): void {
    if (Number(request.headers['content-length']) > this.largest) {
      done(new Refusal('BODY_TOO_LARGE'));
      return;
    }
    // One object on the request instead of closures over it: half of what a small body takes.
    (request as Carrier)[arriving] = new Body(this, network, done);
    response.on('close', free);
    request.on('data', take).on('end', finish).on('error', fail);
  }
}

const nothing = Buffer.alloc(0);

/** What has arrived of one. */
class Body {
  readonly #all: Bodies;
  readonly #network: string;
  readonly #done: Done;
  // A buffer of its own takes hundreds of bytes, and a piece may be one: what comes behind the first is written into one.
  #bytes: Buffer = nothing;
  #held = 0;
  #isOver = false;

  constructor(all: Bodies, network: string, done: Done) {
    this.#all = all;
    this.#network = network;
    this.#done = done;
  }

  take(piece: Buffer): void {
    if (this.#isOver) return;
    const { largest, room } = this.#all;
    if (this.#held + piece.length > largest) this.refuse(new Refusal('BODY_TOO_LARGE'));
    else if (!room.has(this.#network, piece.length)) {
      this.refuse(new Refusal('UNAVAILABLE', {}, { retryAfterSeconds }));
    } else {
      room.count(this.#network, piece.length);
      this.#bytes = this.#held === 0 ? piece : appended(this.#bytes, this.#held, piece, largest);
      this.#held += piece.length;
    }
  }

  finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#done(null, this.#bytes.length === this.#held ? this.#bytes : this.#bytes.subarray(0, this.#held));
  }

  refuse(refusal: Refusal): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.free();
    this.#done(refusal);
  }

  free(): void {
    if (this.#held > 0) this.#all.room.count(this.#network, -this.#held);
    this.#held = 0;
    this.#bytes = nothing;
  }
}

function take(this: Carrier, piece: Buffer): void {
  this[arriving]!.take(piece);
}

function finish(this: Carrier): void {
  this[arriving]!.finish();
}

function fail(this: Carrier): void {
  this[arriving]!.refuse(new Refusal('BAD_HTTP'));
}

function free(this: ServerResponse): void {
  (this.req as Carrier)[arriving]!.free();
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

/** Methods whose bodies are read. */
const withBody: ReadonlySet<string | undefined> = new Set(['DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY']);

/** Whether the request has a body that matters. RFC 9112, section 6: without either of these fields it has none. */
export function isRead({ method, headers }: IncomingMessage): boolean {
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return hasBody && withBody.has(method);
}

/**
 * Fastify's own way to a body is not taken: it makes an AsyncResource and half a dozen closures for each, and refuses media
 * types that it can't read before anyone is authenticated, which the corridor does in its turn. To be called behind the
 * routes, since it takes no schema of a body for a method that has none.
 */
export function leaveBodies(app: FastifyInstance): void {
  for (const method of app.supportedMethods) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
}
