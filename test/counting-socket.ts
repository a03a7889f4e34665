/** A unix socket in front of a server's that counts what a client asks: statements, and round trips. */
import type { SocketConnection } from '../src/db/open.ts';
import { type RelaySocket, relaySocket } from './relay-socket.ts';

export interface CountingSocket extends RelaySocket {
  /** Executed statements, BEGIN and COMMIT among them. */
  statements: number;
  /** Messages that ask for an answer. */
  roundTrips: number;
}

// Messages of a client (PostgreSQL manual, "Message Formats"): Execute, Sync, simple Query.
const execute = 0x45;
const sync = 0x53;
const simpleQuery = 0x51;

export async function countingSocket(target: SocketConnection): Promise<CountingSocket> {
  const relay = await relaySocket(target, (near, far) => {
    const read = messages((type) => {
      if (type === execute || type === simpleQuery) counting.statements += 1;
      if (type === sync || type === simpleQuery) counting.roundTrips += 1;
    });
    near.on('data', (chunk) => {
      read(chunk);
      far.write(chunk);
    });
    far.pipe(near);
  });
  const counting = { ...relay, statements: 0, roundTrips: 0 };
  return counting;
}

/** Tells the type of each whole message, wherever the pieces that come are cut. */
function messages(tell: (type: number) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  // The first message, the startup packet, has no type.
  let begun = false;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = begun ? 1 : 0;
      if (rest.length < head + 4) return;
      const end = head + rest.readUInt32BE(head);
      if (rest.length < end) return;
      if (begun) tell(rest[0]!);
      begun = true;
      rest = rest.subarray(end);
    }
  };
}
