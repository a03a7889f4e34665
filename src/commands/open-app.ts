/** The service of a house, with the real clock, signer, printer and authority, but for listening. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type App, buildApp, filesAtOnce } from '../app.ts';
import type { AtGateway } from '../at/gateway.ts';
import { openDb } from '../db/open.ts';
import { watchRoom } from '../db/room.ts';
import type { Db } from '../db/transact.ts';
import type { MasterKey } from '../keys/sealing.ts';
import { listSigningKeys } from '../keys/signing-keys.ts';
import { SigningThread } from '../keys/signing-thread.ts';
import { programOf } from '../operations/saft/program.ts';
import type { SeriesWorld } from '../operations/series/registration.ts';
import type { Print } from '../print/print.ts';
import type { House } from './house.ts';
import { signingKey } from './installation.ts';
import { newId } from './new-id.ts';
import type { Outside } from './outside.ts';
import { version } from './version.ts';

export interface AppParts {
  readonly at: AtGateway;
  readonly master: MasterKey;
  readonly baseUrl: string;
  readonly log: Logger;
  readonly observe?: (route: string, status: number, seconds: number) => void;
  /** False for a command that calls its own operations. */
  readonly limited: boolean;
}

export interface OpenApp extends App {
  readonly db: Db;
  readonly series: SeriesWorld;
}

/** Sums over millions of documents take minutes. */
const long_statement_ms = 600_000;

/**
 * Of a process that is stopped in the middle of one, others wait for its locks no longer than that. A claim's lease is 90 s:
 * what takes longer with a key is not kept anyway.
 */
const long_transaction_ms = 120_000;

/** Closed again when the process ends. Throws CommandError when there is no key to sign with, DatabaseUnavailable. */
export async function openApp(outside: Outside, house: House, parts: AppParts): Promise<OpenApp> {
  const { config, owner } = house;
  const { at, master, log } = parts;
  const thread = new SigningThread();
  outside.atEnd(() => thread.close());
  const newestSigner = async () => {
    const { privatePem, version: keyVersion } = await signingKey(owner, master, config.atMode);
    return thread.signer(privatePem, keyVersion);
  };
  const signer = await newestSigner();
  // Of a server elsewhere this process can't see the disk; and what an operator asks for is tried.
  const isWatched = 'connection' in house.target && parts.limited;
  const room = isWatched ? watchRoom(house.directory, (line) => log.warn(line)) : undefined;
  outside.atEnd(async () => room?.close());
  const db = await openDb({
    ...house.target,
    max: config.databaseConnections,
    transactionTimeout: long_transaction_ms,
    applicationName: 'certo',
    guard: room?.guard,
  });
  outside.atEnd(() => db.close());
  const longReads = await openDb({
    ...house.target,
    max: filesAtOnce,
    statementTimeout: long_statement_ms,
    applicationName: 'certo files',
  });
  outside.atEnd(() => longReads.close());
  const print = laterPrint(config.printWorkers);
  outside.atEnd(() => print.close());
  const app = await buildApp({
    db,
    longReads,
    at,
    atMode: config.atMode,
    signer,
    newestSigner,
    master,
    print,
    log,
    newId,
    random: Math.random,
    milliseconds: Date.now,
    companyIds: () => listCompanies(owner),
    publicKeys: () => listSigningKeys(owner),
    ...(parts.observe === undefined ? {} : { observe: parts.observe }),
    config: {
      baseUrl: parts.baseUrl,
      certificateNumber: config.certificateNumber,
      program: programOf({
        producer: config.producer.name,
        producerNif: config.producer.nif,
        version: version(),
        certificateNumber: config.certificateNumber,
      }),
      spoolDirectory: join(house.directory, 'spool'),
      apiKeyRate: parts.limited ? config.apiKeyRate : 0,
      ipRate: parts.limited ? config.ipRate : 0,
      trustedProxies: config.trustedProxies,
      httpDeadline_seconds: config.httpDeadline_seconds,
    },
  });
  return { ...app, db, series: { db, at, master, newId, certificateNumber: config.certificateNumber } };
}

async function listCompanies(owner: House['owner']): Promise<string[]> {
  const { rows } = await owner.query<{ id: string }>('select id from certo.companies order by id');
  return rows.map(({ id }) => id);
}

/** The printer is loaded with the first document that is printed: a start need not wait for it. */
function laterPrint(workers: number): Print {
  let opened: Promise<Print> | undefined;
  return {
    render: async (input, ticket) => {
      opened ??= import('../print/print.ts').then(({ openPrint }) => openPrint({ workers }));
      return (await opened).render(input, ticket);
    },
    close: async () => (await opened)?.close(),
  };
}
