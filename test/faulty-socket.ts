/** A unix socket in front of a server's: counts round trips, and breaks the connection at a chosen moment. */
import type { SocketConnection } from '../src/db/open.ts';
import { type RelaySocket, relaySocket } from './relay-socket.ts';

export interface FaultySocket extends RelaySocket {
  /** Messages to the server that asked for an answer: round trips. */
  roundTrips: number;
  /** What happens to the first message that holds the text; afterwards the fault is gone. */
  fault:
    | { readonly on: string; readonly how: 'cut before it arrives' | 'cut before the answer' | 'never answer' }
    | undefined;
}

export async function faultySocket(target: SocketConnection): Promise<FaultySocket> {
  const relay = await relaySocket(target, (near, far) => {
    let answers = true;
    near.on('data', (chunk) => {
      // Sync is the message "S" of length 4; a simple query is "Q".
      if (chunk.subarray(-5).equals(Buffer.from([0x53, 0, 0, 0, 4])) || chunk[0] === 0x51) faulty.roundTrips += 1;
      const { fault } = faulty;
      if (fault !== undefined && chunk.includes(fault.on)) {
        faulty.fault = undefined;
        if (fault.how === 'cut before it arrives') return void near.destroy();
        answers = false;
        if (fault.how === 'cut before the answer') far.once('data', () => near.destroy());
      }
      far.write(chunk);
    });
    far.on('data', (chunk) => {
      if (answers) near.write(chunk);
    });
  });
  const faulty: FaultySocket = { ...relay, roundTrips: 0, fault: undefined };
  return faulty;
}
