/** A unix socket in front of a PostgreSQL server's: whoever opens it says what passes between the two. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer, connect as dial, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SocketConnection } from '../src/db/open.ts';

export interface RelaySocket {
  readonly connection: SocketConnection;
  /** Drops all connections that are open now. */
  cutAll(): void;
  /** The same, and lets nobody in until it is back. */
  leave(): void;
  comeBack(): void;
  close(): Promise<void>;
}

/** `pass`: for each new connection, its side and the server's. When one of them ends, so does the other. */
export async function relaySocket(
  target: SocketConnection,
  pass: (near: Socket, far: Socket) => void,
): Promise<RelaySocket> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-relay-'));
  const name = `.s.PGSQL.${target.port}`;
  const open = new Set<Socket>();
  let isAway = false;
  const server = createServer((near) => {
    if (isAway) return void near.destroy();
    const far = dial(join(target.host, name));
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    pass(near, far);
  });
  await new Promise<void>((resolve) => server.listen(join(folder, name), resolve));
  const cutAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    connection: { ...target, host: folder },
    cutAll,
    leave() {
      isAway = true;
      cutAll();
    },
    comeBack() {
      isAway = false;
    },
    async close() {
      cutAll();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
