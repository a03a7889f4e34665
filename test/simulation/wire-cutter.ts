/**
 * A unix socket in front of a PostgreSQL server's that knows where messages of the protocol begin and end, and breaks
 * the connection before or after exactly one of them. It counts only what belongs to requests of API keys: what the
 * service does by itself passes and is not counted.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer, connect as dial, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SocketConnection } from '../../src/db/open.ts';

/** Point 2n is before the n-th message, 2n + 1 after it; requests and answers are counted together, as they pass. */
export interface Fault {
  readonly point: number;
  /** cut: the connection breaks. hold: nothing passes any more on any connection, until `release`. */
  readonly how: 'cut' | 'hold';
  /** Only messages to the server are counted. */
  readonly requestsOnly?: boolean;
}

export interface WireCutter {
  readonly connection: SocketConnection;
  /** Sets the fault and begins to count. */
  arm(fault: Fault): void;
  /** Takes an unused fault away. Whether it came to it, and which message that was. */
  disarm(): string | undefined;
  /** Resolves when a fault with `hold` has come. */
  held(): Promise<void>;
  /** Lets new connections pass again; the old ones are gone. */
  release(): void;
  /** Breaks every connection. */
  cutAll(): void;
  close(): Promise<void>;
}

interface Message {
  readonly type: string;
  readonly bytes: Buffer;
}

/** One connection of the service. */
interface Link {
  readonly near: Socket;
  readonly far: Socket;
  /** Whether the transaction that is open, or the batch that is on its way, belongs to a request of an API key. */
  ours: boolean;
  /** The server has accepted the connection. */
  ready: boolean;
  /** Messages up to the next Sync. */
  batch: Message[];
}

// Entry of a request by API key, and the release of its claim after a refusal or a failure.
const of_requests = ['enter_key', 'claim_release'];

export async function wireCutter(target: SocketConnection): Promise<WireCutter> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-cutter-'));
  const links = new Set<Link>();
  let fault: Fault | undefined;
  let counted = 0;
  let fired: string | undefined;
  let holding = false;
  let tellHeld: () => void = () => undefined;

  /** True when the fault comes here: before (0) or after (1) the message. */
  function comes(after: 0 | 1, message: Message, toServer: boolean): boolean {
    if (fault === undefined || (fault.requestsOnly === true && !toServer)) return false;
    const here = 2 * counted + after === fault.point;
    if (here)
      fired = `${after === 0 ? 'before' : 'after'} ${toServer ? 'request' : 'answer'} ${counted} (${message.type})`;
    if (after === 1) counted += 1;
    return here;
  }

  function strike(link: Link, toServer: boolean): void {
    const { how } = fault!;
    fault = undefined;
    if (how === 'hold') {
      holding = true;
      tellHeld();
      return;
    }
    // What passed before the cut still arrives on its side.
    (toServer ? link.far : link.near).end();
    (toServer ? link.near : link.far).destroy();
  }

  /** Passes messages on, up to the fault. */
  function pass(link: Link, messages: readonly Message[], toServer: boolean): void {
    const to = toServer ? link.far : link.near;
    for (const message of messages) {
      if (holding) return;
      const before = link.ours && comes(0, message, toServer);
      if (!before) to.write(message.bytes);
      if (before || (link.ours && comes(1, message, toServer))) {
        strike(link, toServer);
        return;
      }
      // ReadyForQuery: "I" when no transaction is open.
      if (!toServer && message.type === 'Z' && message.bytes[5] === 0x49) link.ours = false;
    }
  }

  function fromService(link: Link, messages: readonly Message[]): void {
    for (const message of messages) {
      link.batch.push(message);
      if (message.type !== 'S' && message.type !== 'X' && message.type !== 'Q') continue;
      const { batch } = link;
      link.batch = [];
      link.ours ||= batch.some(({ bytes }) => of_requests.some((name) => bytes.includes(name)));
      pass(link, batch, true);
    }
  }

  const server = createServer((near) => {
    const far = dial(join(target.host, `.s.PGSQL.${target.port}`));
    const link: Link = { near, far, ours: false, ready: false, batch: [] };
    links.add(link);
    const ofService = splitter();
    const ofServer = splitter();
    near.on('data', (chunk) => {
      // The first message has no type: it passes as it is.
      if (!link.ready) far.write(chunk);
      else fromService(link, ofService(chunk));
    });
    far.on('data', (chunk) => {
      const messages = ofServer(chunk);
      link.ready ||= messages.some(({ type }) => type === 'Z');
      pass(link, messages, false);
    });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.on('error', () => undefined);
      socket.on('end', () => other.end());
      socket.on('close', () => {
        links.delete(link);
        other.end();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(join(folder, `.s.PGSQL.${target.port}`), resolve));

  function cutAll(): void {
    for (const { near, far } of links) for (const socket of [near, far]) socket.destroy();
    links.clear();
  }
  return {
    connection: { ...target, host: folder },
    arm(next) {
      fault = next;
      counted = 0;
      fired = undefined;
    },
    disarm() {
      fault = undefined;
      return fired;
    },
    held: () =>
      new Promise((resolve) => {
        tellHeld = resolve;
        if (holding) resolve();
      }),
    release() {
      holding = false;
      cutAll();
    },
    cutAll,
    async close() {
      cutAll();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Splits a stream into messages: a type of one byte, then the length of the rest with itself. */
function splitter(): (chunk: Buffer) => Message[] {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const messages: Message[] = [];
    while (rest.length >= 5 && rest.length >= 1 + rest.readInt32BE(1)) {
      const end = 1 + rest.readInt32BE(1);
      messages.push({ type: String.fromCharCode(rest[0]!), bytes: rest.subarray(0, end) });
      rest = rest.subarray(end);
    }
    return messages;
  };
}
