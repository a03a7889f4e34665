/**
 * The simulator's control interface, plain HTTP on its own loopback port: GET /__ledger, /__efatura.csv, /__log, /__health,
 * PUT and DELETE /__fault (GET lists), PUT /__accounts. Never reachable from elsewhere, and not from a web page either:
 * requests with a foreign Host or an Origin are refused.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Accounts } from './accounts.ts';
import { efaturaOf } from './efatura.ts';
import type { FaultRule, Faults } from './faults.ts';
import { readRule } from './faults.ts';
import type { Ledger } from './ledger.ts';
import type { RequestLog } from './request-log.ts';

export interface Controlled {
  readonly ledger: Ledger;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly accounts: Accounts;
  readonly url: () => string;
  /** Called before a fault of that kind is added. */
  readonly prepare: (kind: string) => Promise<void>;
  /** Called after the faults changed, with the new rule if any: opens, closes or empties the port. */
  readonly applyFaults: (rule?: FaultRule) => Promise<void>;
}

const maxBodyBytes = 1 << 20;

/** The server; it does not listen yet. */
export function createControl(controlled: Controlled): Server {
  return createServer((request, response) => {
    route(controlled, request, response).catch(() => {
      if (!response.headersSent) json(response, 500, { error: 'the simulator failed' });
      else response.destroy();
    });
  });
}

async function route(controlled: Controlled, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!isLocal(request)) return json(response, 403, { error: 'only from this machine' });
  const url = new URL(request.url ?? '/', 'http://localhost');
  const { faults, log, accounts, ledger } = controlled;
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /__health':
      return json(response, 200, {
        status: 'ok',
        url: controlled.url(),
        documents: ledger.count(),
        series: ledger.allSeries().length,
      });
    case 'GET /__ledger':
      return sendLedger(ledger, url.searchParams, response);
    case 'GET /__efatura.csv':
      return sendEfatura(ledger, url.searchParams, response);
    case 'GET /__log': {
      const limit = Number(url.searchParams.get('limit') ?? 100);
      if (!Number.isSafeInteger(limit) || limit < 1)
        return json(response, 400, { error: 'limit is a whole number above 0' });
      return json(response, 200, log.last(limit));
    }
    case 'GET /__fault':
      return json(response, 200, faults.list());
    case 'PUT /__fault': {
      const rule = readRule(await body(request));
      if (typeof rule === 'string') return json(response, 400, { error: rule });
      await controlled.prepare(rule.kind);
      faults.put(rule);
      await controlled.applyFaults(rule);
      return json(response, 200, faults.list());
    }
    case 'DELETE /__fault':
      faults.clear();
      await controlled.applyFaults();
      return json(response, 200, []);
    case 'PUT /__accounts': {
      const problem = accounts.put(await body(request));
      return problem === undefined
        ? json(response, 200, { accounts: accounts.names() })
        : json(response, 400, { error: problem });
    }
    default:
      return json(response, 404, { error: 'no such page' });
  }
}

/** A web page elsewhere may make a browser call loopback; it cannot hide its Origin, nor a rebound host name. */
function isLocal(request: IncomingMessage): boolean {
  const host = (request.headers.host ?? '').replace(/:\d+$/, '');
  return ['127.0.0.1', 'localhost', '[::1]'].includes(host) && request.headers.origin === undefined;
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' });
  response.end(`${JSON.stringify(value)}\n`);
}

async function body(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** What the portal would export to a taxpayer as issuer: streamed, ?nif=, and with ?from= and ?to= a period. */
async function sendEfatura(ledger: Ledger, query: URLSearchParams, response: ServerResponse): Promise<void> {
  const nif = query.get('nif');
  if (nif === null) return json(response, 400, { error: 'nif is needed: whose documents' });
  response.writeHead(200, { 'Content-Type': 'text/csv; charset=utf-8', 'Cache-Control': 'no-store' });
  await pipeline(efaturaOf(ledger, nif, query.get('from') ?? '', query.get('to') ?? '9999-12-31'), response);
}

/** Streamed: the ledger may hold more documents than memory should. */
async function sendLedger(ledger: Ledger, query: URLSearchParams, response: ServerResponse): Promise<void> {
  const nif = query.get('nif') ?? undefined;
  const number = query.get('number') ?? undefined;
  const series = (nif === undefined ? ledger.allSeries() : ledger.seriesOf(nif)).map((entry) => ({
    ...entry,
    ...ledger.statistics(entry),
  }));
  response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' });
  await pipeline(function* () {
    yield `{"series":${JSON.stringify(series)},"documents":[`;
    let separator = '';
    let waiting = '';
    for (const document of ledger.documents({ nif, number })) {
      waiting += separator + JSON.stringify({ ...document, status: document.history.at(-1)?.status });
      separator = ',';
      if (waiting.length < 65536) continue;
      yield waiting;
      waiting = '';
    }
    yield `${waiting}]}\n`;
  }, response);
}
