/**
 * The simulated tax authority: a real SOAP server over mutual TLS on loopback, with its own CA, that decrypts and checks
 * the security header, validates the body, keeps a ledger and plays faults; so the client's real code always runs.
 */
import { mkdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openAccounts } from './accounts.ts';
import { identityIn } from './certificates.ts';
import { createControl } from './control.ts';
import type { Doors } from './doors.ts';
import { host, listenOn, openDoors } from './doors.ts';
import type { FaultRule, Faults } from './faults.ts';
import { connectionFaults, openFaults } from './faults.ts';
import { judge, readRequest, unreadable } from './judge.ts';
import { openLedger } from './ledger.ts';
import { play, sendXml } from './play.ts';
import type { LoggedRequest, RequestLog } from './request-log.ts';
import { openRequestLog } from './request-log.ts';
import type { World } from './rules.ts';
import type { Gate } from './security.ts';
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

/** Listening when it resolves, on both ports. Rejects when a port is taken, with nothing left open. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const identity = await identityIn(options.directory, options.seed);
  const ledger = openLedger(options.directory);
  const accounts = openAccounts();
  const log = openRequestLog();
  const faults = openFaults(options.random);
  const world: World = { ledger, now: options.now, seed: identity.seed };
  const answer = answerer(world, openGate(identity.atPrivateKeyPem, options.now, accounts.isRight), faults, log);
  const doors = openDoors(
    identity,
    (request, response) => void answer(request, response).catch(() => response.destroy()),
    faults.nextConnection,
  );
  const port = portKeeper(doors, faults);
  const url = () => `https://${host}:${doors.port()}`;
  const control = createControl({
    ledger,
    faults,
    log,
    accounts,
    url,
    prepare: doors.prepare,
    applyFaults: port.applyFaults,
  });

  async function close(): Promise<void> {
    port.stop();
    control.closeAllConnections();
    await new Promise((resolve) => control.close(resolve));
    ledger.close();
  }
  try {
    await doors.listen(options.port);
    await listenOn(control, options.controlPort);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url: url(),
    controlUrl: `http://${host}:${(control.address() as AddressInfo).port}`,
    clientCertificate: {
      certPem: identity.clientCertPem,
      keyPem: identity.clientKeyPem,
      certPath: identity.clientCertPath,
      keyPath: identity.clientKeyPath,
    },
    caPem: identity.caPem,
    atPublicKeyPem: identity.atPublicKeyPem,
    close,
  };
}

/** Reads a request, plays the fault that is due or answers, and logs the outcome. */
function answerer(world: World, gate: Gate, faults: Faults, log: RequestLog) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await bodyOf(request);
    const isPost = request.method === 'POST' && text !== undefined;
    const asked = isPost ? readRequest(request.url ?? '', header(request, 'soapaction'), text) : undefined;
    const at = world.now().toISOString();
    if (asked === undefined) {
      const { code, message } = unreadable;
      log.add({ at, operation: 'unreadable', username: '', subject: '', code, message });
      return sendXml(response, unreadable.status, unreadable.xml);
    }
    const fault = faults.nextRequest(asked.operation, asked.subject);
    const answered = fault === undefined || fault.processed ? judge(world, gate, asked) : undefined;
    const entry: LoggedRequest = {
      at,
      operation: asked.operation,
      username: answered?.username ?? '',
      subject: asked.subject,
      code: answered?.code,
      message: answered?.message,
      fault: fault?.kind,
    };
    log.add(entry);
    const before = request.socket.bytesWritten;
    response.once('close', () => {
      if (fault !== undefined) entry.sent = request.socket.bytesWritten - before;
    });
    if (fault !== undefined) return play(fault, { request, response, asked, answered, now: world.now() });
    if (answered !== undefined) sendXml(response, answered.status, answered.xml);
  };
}

/** Opens and closes the port as the faults say. */
function portKeeper(doors: Doors, faults: Faults) {
  let reopening: NodeJS.Timeout | undefined;
  return {
    async applyFaults(changed?: FaultRule): Promise<void> {
      clearTimeout(reopening);
      // Kept connections would never meet a fault that is played when a connection begins.
      if (changed !== undefined && changed.kind in connectionFaults) doors.cut();
      const refused = faults.list().find((rule) => rule.kind === 'refused');
      if (refused === undefined) return doors.isOpen() ? undefined : doors.listen(doors.port());
      doors.shut();
      if (refused.milliseconds === undefined) return;
      reopening = setTimeout(() => {
        faults.end('refused');
        doors.listen(doors.port()).catch(() => undefined);
      }, refused.milliseconds);
      reopening.unref();
    },
    stop(): void {
      clearTimeout(reopening);
      doors.shut();
    },
  };
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
