/**
 * Floods: everything that one company can do much of, each as requests without end over many connections. Answers are
 * read and thrown away, so that the flood costs its own process as little as possible.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { mintToken } from '../../src/identity/tokens.ts';
import type { Sent } from '../client.ts';
import type { SimCompany } from './ground.ts';

/** What a flood is made with. */
export interface Flooding {
  readonly port: number;
  readonly company: SimCompany;
  /** More keys of the company. */
  readonly keys: readonly string[];
  /** Issued invoices of a thousand lines. */
  readonly longInvoices: readonly string[];
  /** Ends it: no request is begun any more. */
  readonly over: () => boolean;
}

export interface Flood {
  readonly name: string;
  readonly connections: number;
  /** The next request, of the caller on this connection; it may first ask for something by `send`. */
  readonly next: (flooding: Flooding, connection: number, send: Send) => Promise<Sent> | Sent;
}

/** Sends it and reads the answer to its end: `id` and `updatedAt` of the record in it, where `read` is set. */
export type Send = (sent: Sent, read?: boolean) => Promise<Answered>;

export interface Answered {
  readonly status: number;
  readonly id: string;
  readonly updatedAt: string;
  readonly url: string;
}

const kilobyte = 1_000;
const letters = (count: number): string => 'x'.repeat(count);
const list = (count: number, element: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => element(i)).join();

/** Bodies that are refused, each for another reason and as large as they may be. */
const wrongBodies: Readonly<Record<string, Buffer>> = {
  'a long type': Buffer.from(`{"type":"${letters(900 * kilobyte)}"}`),
  'long texts': Buffer.from(`{"notes":"${'é'.repeat(200 * kilobyte)}","description":"${letters(400 * kilobyte)}"}`),
  'broken JSON': Buffer.from(`{"type":"INVOICE","notes":"${letters(900 * kilobyte)}`),
  'no UTF-8': Buffer.concat([Buffer.from(`{"notes":"${'é'.repeat(450 * kilobyte)}`), Buffer.from([0xc3, 0x28])]),
  'unknown members': Buffer.from(`{${list(70 * kilobyte, (i) => `"f${i}":1`)}}`),
  'members twice': Buffer.from(`{${list(150 * kilobyte, () => '"a":1')}}`),
  'inexact numbers': Buffer.from(`{"items":[${list(45 * kilobyte, () => '12345678901234567890')}]}`),
  'long exact numbers': Buffer.from(`{"items":[${list(50 * kilobyte, () => '1.00000000000001e1')}]}`),
  'wrong lines': Buffer.from(
    `{"type":"INVOICE","items":[${list(1_000, () => `{"id":"${letters(800)}","quantity":-1}`)}]}`,
  ),
  'too many lines': Buffer.from(`{"type":"INVOICE","items":[${list(200 * kilobyte, () => '{}')}]}`),
  'lists in lists': Buffer.from('['.repeat(900 * kilobyte)),
  'control characters': Buffer.from(`{"notes":"${'\\u0001'.repeat(150 * kilobyte)}"}`),
  'marks on letters': Buffer.from(`{"notes":"${'\u0301'.repeat(450 * kilobyte)}"}`),
};

/** Just below what is read before the database has said who sends it. */
const smallerWrongBody = Buffer.from(`{${list(4_500, (i) => `"f${i}":1`)}}`);

const json = { 'content-type': 'application/json' };
const keyed = ({ company }: Flooding): Record<string, string> => ({ 'x-api-key': company.apiKey });
const post = (flooding: Flooding, path: string, body: string | Buffer, more: Record<string, string> = {}): Sent => ({
  method: 'POST',
  path,
  headers: { ...json, ...keyed(flooding), ...more },
  body,
});
const get = (flooding: Flooding, path: string): Sent => ({ method: 'GET', path, headers: keyed(flooding) });

export function draftOf({ cae, customers, items }: SimCompany, lines: number): string {
  const line = { id: items['NORMAL'], quantity: 1 };
  return JSON.stringify({
    type: 'INVOICE',
    cae: cae[0],
    customerId: customers[0],
    items: Array.from({ length: lines }, () => line),
  });
}

const draft = (flooding: Flooding, lines: number): Sent =>
  post(flooding, '/invoices', draftOf(flooding.company, lines));

const issueOf = (flooding: Flooding, { id, updatedAt }: Answered): Sent =>
  post(flooding, `/invoices/${id}/issue`, JSON.stringify({ expectedUpdatedAt: updatedAt }));

/** A new invoice of a thousand lines; its id. */
export async function issuedLong(flooding: Flooding, send: Send): Promise<string> {
  const drafted = await send(draft(flooding, 1_000), true);
  await send(issueOf(flooding, drafted));
  return drafted.id;
}

function issues(name: string, connections: number, lines: number): Flood {
  return {
    name,
    connections,
    next: async (flooding, _, send) => issueOf(flooding, await send(draft(flooding, lines), true)),
  };
}

const thisYear = new Date().getUTCFullYear();
const papers = ['A4', 'RECEIPT', 'RECEIPT_58'] as const;
const searches = [
  'search=a',
  'search=FT%20DEMO&sort=total:asc',
  'notes=x&limit=100',
  'search=999999990&limit=100',
  'description=e&sort=date:asc',
];

export const floods: readonly Flood[] = [
  ...Object.entries(wrongBodies).map(
    ([name, body]): Flood => ({ name, connections: 8, next: (flooding) => post(flooding, '/invoices', body) }),
  ),
  {
    name: 'wrong, with keys',
    connections: 8,
    next: (flooding) =>
      post(flooding, '/invoices', wrongBodies['wrong lines']!, { 'idempotency-key': randomBytes(12).toString('hex') }),
  },
  { name: 'many smaller wrong', connections: 64, next: (flooding) => post(flooding, '/invoices', smallerWrongBody) },
  {
    name: 'drafts of 1,000 lines',
    connections: 16,
    next: (flooding) => draft(flooding, 1_000),
  },
  issues('issues of 1,000 lines', 8, 1_000),
  {
    name: 'reads of 1,000 lines',
    connections: 32,
    next: (flooding, i) => get(flooding, `/invoices/${flooding.longInvoices[i % flooding.longInvoices.length]}`),
  },
  {
    name: 'prints of 1,000 lines',
    connections: 16,
    async next(flooding, i, send) {
      // What was printed before is only read again: every other one prints a new document.
      const { longInvoices } = flooding;
      const of = i % 2 === 0 ? longInvoices[i % longInvoices.length]! : await issuedLong(flooding, send);
      const { url } = await send(get(flooding, `/invoices/${of}/pdf?format=${papers[i % papers.length]}`), true);
      return { method: 'GET', path: url.replace(/^https?:\/\/[^/]+/, '') };
    },
  },
  {
    name: 'SAF-T',
    connections: 8,
    next: (flooding) => get(flooding, `/saft?fromDate=${thisYear}-01-01&toDate=${thisYear}-12-31`),
  },
  {
    name: 'searches',
    connections: 32,
    next: (flooding, i) => get(flooding, `/invoices?${searches[i % searches.length]}`),
  },
  issues('issues at full speed', 64, 1),
  {
    name: 'one item changed',
    connections: 64,
    next: ({ company, ...flooding }, i) => ({
      ...post({ company, ...flooding }, `/items/${company.items['NORMAL']}`, JSON.stringify({ description: `n ${i}` })),
      method: 'PATCH',
    }),
  },
  {
    name: 'unknown keys',
    connections: 128,
    next: () => ({
      method: 'POST',
      path: '/invoices',
      headers: { ...json, 'x-api-key': mintToken('svc_sk_', createHash('sha256').update(randomBytes(16)).digest()) },
      body: '{}',
    }),
  },
  {
    name: 'unknown keys, large',
    connections: 16,
    next: () => ({
      method: 'POST',
      path: '/invoices',
      headers: { ...json, 'x-api-key': mintToken('svc_sk_', randomBytes(32)) },
      body: wrongBodies['wrong lines']!,
    }),
  },
  {
    name: 'many keys',
    connections: 128,
    next(flooding, i) {
      const headers = { ...json, 'x-api-key': flooding.keys[i % flooding.keys.length]! };
      if (i % 4 === 0) return { method: 'POST', path: '/invoices', headers, body: wrongBodies['a long type']! };
      if (i % 4 === 1) return { method: 'POST', path: '/invoices', headers, body: draftOf(flooding.company, 100) };
      return { method: 'GET', path: i % 4 === 2 ? '/invoices?limit=100&search=a' : '/company', headers };
    },
  },
];

/** Plays it until it is over; how many requests were answered. What breaks is begun again. */
export async function play(flood: Flood, flooding: Flooding): Promise<number> {
  const { connections, next } = flood;
  const { port, over } = flooding;
  const { send: sendOnce, close } = sender(port, connections);
  let answered = 0;
  const send: Send = async (sent, read) => {
    const answer = await sendOnce(sent, read);
    answered += 1;
    return answer;
  };
  const caller = async (connection: number): Promise<void> => {
    while (!over()) {
      try {
        await send(await next(flooding, connection, send));
      } catch {
        // It was hung up on: that is an answer, too.
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, i) => caller(i)));
  close();
  return answered;
}

/** Sends over so many connections at most. */
export function sender(port: number, connections: number): { readonly send: Send; close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return { send: (sent, read = false) => exchange(agent, port, sent, read), close: () => agent.destroy() };
}

/** No flood waits for longer. */
const patience_ms = 20_000;
/** What is needed of an answer stands at its beginning. */
const most_read = 4_000_000;

function exchange(agent: Agent, port: number, { method, path, headers, body }: Sent, read: boolean): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = request(
      { host: '127.0.0.1', port, agent, method, path, headers: { ...length, ...headers }, timeout: patience_ms },
      (incoming) => {
        const pieces: Buffer[] = [];
        let held = 0;
        incoming.on('data', (piece: Buffer) => {
          if (read && held < most_read) pieces.push(piece);
          held += piece.length;
        });
        incoming.on('error', reject);
        incoming.on('end', () => {
          const text = read ? Buffer.concat(pieces).toString('latin1') : '';
          const member = (name: string): string => new RegExp(`"${name}":"([^"]*)"`).exec(text)?.[1] ?? '';
          resolve({
            status: incoming.statusCode ?? 0,
            id: member('id'),
            updatedAt: member('updatedAt'),
            url: member('url'),
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
    outgoing.end(body);
  });
}
