/**
 * The simulated tax authority: a real SOAP server over mutual TLS on loopback, with its own CA, that decrypts and checks
 * the security header, validates the body, keeps a ledger and plays faults; so the client's real code always runs.
 */
import { mkdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { openAccounts } from './accounts.ts';
import type { SimulatorIdentity } from './certificates.ts';
import { identityIn } from './certificates.ts';
import { createControl } from './control.ts';
import type { FaultRule } from './faults.ts';
import { connectionFaults, openFaults } from './faults.ts';
import { judge, readRequest, unreadable } from './judge.ts';
import { openLedger } from './ledger.ts';
import { play, sendXml } from './play.ts';
import { openRequestLog } from './request-log.ts';
import type { World } from './rules.ts';
import { openGate } from './security.ts';

export interface SimulatorOptions {
  /** Keys, certificates and the ledger live here; made with mode 0700. One simulator per directory at a time. */
  readonly directory: string;
  /** 0: any free port. */
  readonly port: number;
  readonly controlPort: number;
  readonly now: () => Date;
  /** Numbers from 0 to below 1, for faults with a probability. */
  readonly random: () => number;
  /** Decides validation codes when the directory is new; absent: by chance. */
  readonly seed?: string | undefined;
}

export interface Simulator {
  /** "https://127.0.0.1:port", what the gateway takes as simulatorUrl. */
  readonly url: string;
  readonly controlUrl: string;
  /** The certificate the client must present: PEM, and where it lies. */
  readonly clientCertificate: {
    readonly certPem: string;
    readonly keyPem: string;
    readonly certPath: string;
    readonly keyPath: string;
  };
  readonly caPem: string;
  readonly atPublicKeyPem: string;
  /** Ends every connection at once. */
  close(): Promise<void>;
}

/** Largest request read. A document with 1,000 lines in 1,000 tax groups has 0.5 MB. */
const maxRequestBytes = 4 << 20;
const host = '127.0.0.1';

export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const identity = await identityIn(options.directory, options.seed);
  const ledger = openLedger(options.directory);
  const accounts = openAccounts();
  const log = openRequestLog();
  const faults = openFaults(options.random);
  const world: World = { ledger, now: options.now, seed: identity.seed };
  const gate = openGate(identity.atPrivateKeyPem, options.now, accounts.isRight);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(request);
    const path = request.url ?? '';
    const asked =
      request.method === 'POST' && text !== undefined
        ? readRequest(path, header(request, 'soapaction'), text)
        : undefined;
    const at = options.now().toISOString();
    if (asked === undefined) {
      log.add({
        at,
        operation: 'unreadable',
        username: '',
        subject: '',
        code: unreadable.code,
        message: unreadable.message,
      });
      return sendXml(response, unreadable.status, unreadable.xml);
    }
    const fault = faults.nextRequest(asked.operation);
    const answered = fault === undefined || fault.processed ? judge(world, gate, asked) : undefined;
    log.add({
      at,
      operation: asked.operation,
      username: answered?.username ?? '',
      subject: asked.subject,
      code: answered?.code,
      message: answered?.message,
      fault: fault?.kind,
    });
    if (fault !== undefined) return play(fault, { request, response, asked, answered, now: options.now() });
    if (answered !== undefined) sendXml(response, answered.status, answered.xml);
  }

  const doors = openDoors(
    identity,
    (request, response) => void answer(request, response).catch(() => response.destroy()),
    faults.nextConnection,
  );
  await doors.listen(options.port);
  const { port } = doors.address();

  let reopening: NodeJS.Timeout | undefined;
  async function applyFaults(rule?: FaultRule): Promise<void> {
    clearTimeout(reopening);
    // Kept connections would never meet a fault that is played when a connection begins.
    if (rule !== undefined && rule.kind in connectionFaults) doors.cut();
    const refused = faults.list().find((rule) => rule.kind === 'refused');
    if (refused === undefined) return doors.isOpen() ? undefined : doors.listen(port);
    doors.shut();
    if (refused.milliseconds === undefined) return;
    reopening = setTimeout(() => void doors.listen(port).catch(() => undefined), refused.milliseconds);
    reopening.unref();
  }

  const url = `https://${host}:${port}`;
  const control = createControl({ ledger, faults, log, accounts, url: () => url, applyFaults });
  await listening(control, options.controlPort);
  return {
    url,
    controlUrl: `http://${host}:${(control.address() as AddressInfo).port}`,
    clientCertificate: {
      certPem: identity.clientCertPem,
      keyPem: identity.clientKeyPem,
      certPath: identity.clientCertPath,
      keyPath: identity.clientKeyPath,
    },
    caPem: identity.caPem,
    atPublicKeyPem: identity.atPublicKeyPem,
    async close() {
      clearTimeout(reopening);
      doors.shut();
      control.closeAllConnections();
      await new Promise((resolve) => control.close(resolve));
      ledger.close();
    },
  };
}

type OnRequest = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * The TCP port in front of the TLS server: faults of the connection are played before any TLS, and every socket is
 * known, so that the port can be shut at once.
 */
function openDoors(identity: SimulatorIdentity, onRequest: OnRequest, nextFault: () => string | undefined) {
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
  const impostor = createTlsServer({ key: identity.clientKeyPem, cert: identity.clientCertPem });
  const sockets = new Set<Socket>();
  let front: Server | undefined;

  function meet(socket: Socket): void {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    const fault = nextFault();
    if (fault === undefined) tls.emit('connection', socket);
    else if (fault === 'reset') socket.resetAndDestroy();
    else if (fault === 'not-tls') socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    else if (fault === 'wrong-certificate') impostor.emit('connection', socket);
  }

  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }

  return {
    async listen(port: number): Promise<void> {
      if (front !== undefined) return;
      front = createServer(meet);
      await listening(front, port);
    },
    isOpen: () => front !== undefined,
    address: () => front?.address() as AddressInfo,
    cut,
    shut(): void {
      front?.close();
      front = undefined;
      cut();
    },
  };
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxRequestBytes) return undefined;
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    return undefined;
  }
}
