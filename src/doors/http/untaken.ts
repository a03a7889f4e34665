/**
 * Answers on their way out that their callers do not take. A document of a thousand lines is 7 MB and asking for it 60 bytes,
 * so what they hold is bounded as bodies are on their way in (bodies.ts): all together, and those of one network.
 */
import type { ServerResponse } from 'node:http';
import { Refusal } from '../../fiscal/refusal.ts';
import { Room, type RoomLimits } from './room.ts';

const retryAfterSeconds = 1;
/** Bytes of what a change answers at most: a document of a thousand lines with the longest texts. */
const longest_answer = 8 * 2 ** 20;

/** Counts for one server. */
export class Untaken {
  readonly #room: Room;

  constructor(limits: RoomLimits) {
    this.#room = new Room(limits);
  }

  /** Whether an answer of so many bytes may wait for its caller. */
  fits(network: string, bytes: number): boolean {
    return this.#room.has(network, bytes);
  }

  /** Throws UNAVAILABLE where it may not. To be asked while nothing was done. */
  check(network: string, bytes: number): void {
    if (!this.fits(network, bytes)) throw new Refusal('UNAVAILABLE', {}, { retryAfterSeconds });
  }

  /** The same before a change, of whose answer nothing is known yet. Who holds nothing may always begin. */
  checkChange(network: string): void {
    if (this.#room.held(network) > 0) this.check(network, longest_answer);
  }

  /** An answer that was sent: unless it has gone out at once, it counts until it has, or its connection is gone. */
  watch(response: ServerResponse, network: string, bytes: number): void {
    if (response.writableLength === 0 || response.closed) return;
    this.#room.count(network, bytes);
    response.once('close', () => this.#room.count(network, -bytes));
  }
}
