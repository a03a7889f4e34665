/** A unix socket in front of a server's: counts round trips, and breaks the connection at a chosen moment. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer, connect as dial, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SocketConnection } from '../src/db/open.ts';

export interface FaultySocket {
  readonly connection: SocketConnection;
  /** Messages to the server that asked for an answer: round trips. */
  roundTrips: number;
  /** What happens to the first message that holds the text; afterwards the fault is gone. */
  fault:
    | { readonly on: string; readonly how: 'cut before it arrives' | 'cut before the answer' | 'never answer' }
    | undefined;
  /** Drops all connections that are open now. */
  cutAll(): void;
  close(): Promise<void>;
}

export async function faultySocket(target: SocketConnection): Promise<FaultySocket> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-faulty-'));
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = dial(join(target.host, `.s.PGSQL.${target.port}`));
    let answers = true;
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
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
  const faulty: FaultySocket = {
    connection: { ...target, host: folder },
    roundTrips: 0,
    fault: undefined,
    cutAll() {
      for (const socket of open) socket.destroy();
    },
    async close() {
      faulty.cutAll();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await new Promise<void>((resolve) => server.listen(join(folder, `.s.PGSQL.${target.port}`), resolve));
  return faulty;
}
