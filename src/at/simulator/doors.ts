/**
 * The TCP port in front of the simulator's TLS server: faults of the connection are played before any TLS, and every
 * socket is known, so that the port can be shut at once.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { type SimulatorIdentity, worseCertificate } from './certificates.ts';
import type { ConnectionFault } from './faults.ts';

export const host = '127.0.0.1';

export type OnRequest = (request: IncomingMessage, response: ServerResponse) => void;

export interface Doors {
  /** Opens the port; 0: any free one. Does nothing when it is open. */
  listen(port: number): Promise<void>;
  isOpen(): boolean;
  /** The port last opened; 0 before. */
  port(): number;
  /** Makes what this fault needs; to be awaited before it plays. */
  prepare(fault: string): Promise<void>;
  /** Ends every connection. */
  cut(): void;
  /** Closes the port and ends every connection. */
  shut(): void;
}

const worse: Readonly<Record<string, 'ended' | 'own'>> = { 'expired-certificate': 'ended', 'unknown-authority': 'own' };

/**
 * Closed until `listen`. Each new connection asks `nextFault` what becomes of it. TLS 1.2 or newer, client
 * certificates of our CA only.
 */
export function openDoors(
  identity: SimulatorIdentity,
  onRequest: OnRequest,
  nextFault: () => ConnectionFault | undefined,
): Doors {
  const tls = createTlsServer(
    {
      key: identity.serverKeyPem,
      cert: identity.serverCertPem,
      ca: identity.caPem,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
    },
    onRequest,
  );
  const impostors = new Map([
    ['wrong-certificate', createTlsServer({ key: identity.clientKeyPem, cert: identity.clientCertPem })],
  ]);
  const sockets = new Set<Socket>();
  let front: Server | undefined;
  let lastPort = 0;

  function meet(socket: Socket): void {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    const fault = nextFault();
    if (fault === undefined) tls.emit('connection', socket);
    else if (fault === 'reset') socket.resetAndDestroy();
    else if (fault === 'not-tls') socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    else if (fault === 'closed') socket.end();
    else impostors.get(fault)?.emit('connection', socket);
  }

  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }

  return {
    async listen(port: number): Promise<void> {
      if (front !== undefined) return;
      const opening = createServer(meet);
      front = opening;
      await listenOn(opening, port).catch((error: unknown) => {
        front = undefined;
        throw error;
      });
      lastPort = (opening.address() as AddressInfo).port;
    },
    isOpen: () => front !== undefined,
    port: () => lastPort,
    async prepare(fault) {
      const how = worse[fault];
      if (how === undefined || impostors.has(fault)) return;
      const cert = await worseCertificate(identity, how);
      impostors.set(fault, createTlsServer({ key: identity.serverKeyPem, cert }));
    },
    cut,
    shut(): void {
      front?.close();
      front = undefined;
      cut();
    },
  };
}

/** Listens on loopback only; rejects when the port is taken. */
export function listenOn(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
