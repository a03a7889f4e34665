/** A unix socket in front of a server's that counts what a client asks: statements, and round trips. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer, connect as dial, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SocketConnection } from '../src/db/open.ts';

export interface CountingSocket {
  readonly connection: SocketConnection;
  /** Executed statements, BEGIN and COMMIT among them. */
  statements: number;
  /** Messages that ask for an answer. */
  roundTrips: number;
  close(): Promise<void>;
}

// Messages of a client (PostgreSQL manual, "Message Formats"): Execute, Sync, simple Query.
const execute = 0x45;
const sync = 0x53;
const simpleQuery = 0x51;

export async function countingSocket(target: SocketConnection): Promise<CountingSocket> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-counting-'));
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = dial(join(target.host, `.s.PGSQL.${target.port}`));
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
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
  const counting: CountingSocket = {
    connection: { ...target, host: folder },
    statements: 0,
    roundTrips: 0,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await new Promise<void>((resolve) => server.listen(join(folder, `.s.PGSQL.${target.port}`), resolve));
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
