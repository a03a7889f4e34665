/** One request and the answer to it, as Node has them: from the first look at it until the answer is out. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { networkOf } from '../../engine/network.ts';

const nothing = Buffer.alloc(0);
const printable = /^[\x20-\x7e]{1,128}$/;

/** The caller's X-Request-Id when it is printable ASCII and short, else a new one. Spaces are printable, unlike in a key. */
export function requestIdOf(header: string | string[] | undefined, newId: () => string): string {
  return typeof header === 'string' && printable.test(header) ? header : newId();
}

/** What every exchange of one server is made with. */
export interface Made {
  readonly newId: () => string;
  /** Whether the server takes no connections any more. */
  readonly isEnding: () => boolean;
}

/** What the door keeps of both, in one place: all functions of the door take it. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** In the log, in the audit and in the answer. */
  readonly id: string;
  readonly network: string;
  /** Empty until it has arrived, and where there is none that matters. */
  body: Buffer = nothing;
  readonly #made: Made;
  #isLast = false;

  /** `address`: of who asks. Where it was not asked before the connection was gone there is none: all of those count as one. */
  constructor(request: IncomingMessage, response: ServerResponse, address: string | undefined, made: Made) {
    this.request = request;
    this.response = response;
    this.id = requestIdOf(request.headers['x-request-id'], made.newId);
    this.network = networkOf(address ?? 'gone');
    this.#made = made;
  }

  /** Nobody knows what comes behind it. */
  endConnection(): void {
    this.#isLast = true;
  }

  /**
   * Whether its connection ends with the answer. Node would swallow what came with a request for another protocol; and a service
   * that ends waits for every connection that is open.
   */
  get isLast(): boolean {
    return this.#isLast || this.request.headers.upgrade !== undefined || this.#made.isEnding();
  }

  /** Where it broke off, as it can be before whoever made the answer knows of it. */
  get isAnswered(): boolean {
    return this.response.headersSent;
  }
}
