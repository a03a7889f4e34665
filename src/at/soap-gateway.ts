/**
 * The gateway that speaks to a real server: the AT's production or test environment, or the simulator on loopback.
 * The same code in all modes; only addresses and trust differ. It logs nothing and keeps no message.
 */
import type { KeyObject } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { endpointOf } from './endpoints.ts';
import {
  type AtGateway,
  type AtMode,
  type CallOptions,
  type Credentials,
  calls_at_once,
  type Operation,
  type Outcome,
} from './gateway.ts';
import { bodies, envelope } from './messages.ts';
import type { XmlElement } from './read-xml.ts';
import type { Message } from './readers.ts';
import { readers } from './readers.ts';
import { openEnvelope, outcomeOfFault, unknown } from './replies.ts';
import type { Reply, TlsMaterial } from './soap-post.ts';
import { openAgent, post } from './soap-post.ts';
import { securityHeader } from './wsse.ts';

export interface SoapGatewayOptions {
  readonly mode: AtMode;
  /** Address of the simulator, without a path; only in mode simulator. */
  readonly simulatorUrl?: string | undefined;
  /** Client certificate and, for the simulator, the CA to trust. */
  readonly tls: TlsMaterial;
  /** The AT's cipher key, see readAtPublicKey. */
  readonly atPublicKey: KeyObject;
  readonly now: () => Date;
  /** Cryptographic randomness. */
  readonly randomBytes: (size: number) => Uint8Array;
  /** For a whole call: waiting for a connection, TLS, the reply. */
  readonly deadlineMilliseconds: number;
  /** Connections at once to each service; default as many as calls of one process. */
  readonly maxConnections?: number | undefined;
}

export interface SoapGateway extends AtGateway {
  /** Closes connections; calls under way, and all that come, end as unknown. */
  close(): void;
}

/**
 * Connects when it is first asked; its connections stay open for the next call. Each call has a session key of its
 * own.
 */
export function openSoapGateway(options: SoapGatewayOptions): SoapGateway {
  const agent = openAgent(options.tls, options.maxConnections ?? calls_at_once.reports + calls_at_once.series);
  const closing = new AbortController();
  // As many as there are calls at once.
  setMaxListeners(0, closing.signal);

  async function exchange(
    operation: Operation,
    credentials: Credentials,
    body: string,
    call?: CallOptions,
  ): Promise<Reply> {
    const header = securityHeader({
      ...credentials,
      atPublicKey: options.atPublicKey,
      now: options.now(),
      sessionKey: options.randomBytes(16),
    });
    const endpoint = endpointOf(operation, options.mode, options.simulatorUrl);
    return post(agent, endpoint, envelope(header, body), {
      deadlineMilliseconds: options.deadlineMilliseconds,
      signal: call?.signal,
      closed: closing.signal,
    });
  }

  function calling<Name extends Operation>(operation: Name) {
    return async (
      credentials: Credentials,
      message: Message<Name>,
      call?: CallOptions,
    ): Promise<ReturnType<(typeof readers)[Name]>> => {
      const build = bodies[operation] as (message: Message<Name>) => string;
      const reply = await exchange(operation, credentials, build(message), call);
      const read = readers[operation] as (
        body: XmlElement,
        message: Message<Name>,
      ) => ReturnType<(typeof readers)[Name]>;
      return judge(operation, reply, (body) => read(body, message)) as ReturnType<(typeof readers)[Name]>;
    };
  }

  return {
    registerSeries: calling('registerSeries'),
    finalizeSeries: calling('finalizeSeries'),
    annulSeries: calling('annulSeries'),
    listSeries: calling('listSeries'),
    reportInvoice: calling('reportInvoice'),
    changeInvoiceStatus: calling('changeInvoiceStatus'),
    reportWork: calling('reportWork'),
    changeWorkStatus: calling('changeWorkStatus'),
    reportPayment: calling('reportPayment'),
    changePaymentStatus: calling('changePaymentStatus'),
    reportTransport: calling('reportTransport'),
    close() {
      closing.abort();
      agent.destroy();
    },
  };
}

function judge(operation: Operation, reply: Reply, read: (body: XmlElement) => Outcome): Outcome {
  if (reply.kind === 'failed') return unknown(reply.problem, reply.sent);
  const opened = openEnvelope(reply.text);
  if (opened.kind === 'strange') return unknown(opened.problem);
  if (opened.kind === 'fault') return outcomeOfFault(operation, opened.fault);
  return reply.status === 200 ? read(opened.body) : unknown(`the AT answered HTTP ${reply.status}`);
}
