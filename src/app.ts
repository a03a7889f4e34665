/**
 * The whole service, built from what is handed in: the same for `main` and for every test. Building neither listens nor
 * starts the clock.
 */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { AtGateway, AtMode } from './at/gateway.ts';
import type { Db } from './db/transact.ts';
import { type ClockDoor, startClock } from './doors/clock/clock.ts';
import { oneAtATime } from './doors/http/one-at-a-time.ts';
import { buildServer } from './doors/http/server.ts';
import { AddressLimit } from './engine/address-limit.ts';
import { Press } from './engine/press.ts';
import { fixedMinuteRate } from './engine/rate.ts';
import { openSpool } from './engine/spool.ts';
import type { SaftProgram } from './fiscal/saft/source.ts';
import { booksSeal, type MasterKey } from './keys/sealing.ts';
import type { Signer } from './keys/signer.ts';
import { Memory } from './operations/memory.ts';
import type { World } from './operations/world.ts';
import type { Print } from './print/print.ts';

export interface AppParts {
  readonly db: Db;
  /** For files: `filesAtOnce` connections, with time for long statements. */
  readonly longReads: Db;
  readonly at: AtGateway;
  readonly atMode: AtMode;
  readonly signer: Signer;
  /** Of the newest key that the database has. */
  readonly newestSigner: () => Promise<Signer>;
  readonly master: MasterKey;
  readonly print: Print;
  readonly log: Logger;
  readonly newId: () => string;
  readonly random: () => number;
  /** Milliseconds; for the limits per minute, and to compare the database's clock with. Fiscal time is the database's. */
  readonly milliseconds: () => number;
  readonly companyIds: () => Promise<readonly string[]>;
  readonly publicKeys: () => Promise<readonly { readonly version: number; readonly publicPem: string }[]>;
  readonly observe?: (route: string, status: number, seconds: number) => void;
  readonly config: AppConfig;
}

export interface AppConfig {
  readonly baseUrl: string;
  readonly certificateNumber: number;
  readonly program: SaftProgram;
  /** Folder of temporary files. */
  readonly spoolDirectory: string;
  /** Requests per minute; 0 switches off. */
  readonly apiKeyRate: number;
  readonly ipRate: number;
  readonly trustedProxies: readonly string[];
  /** Longest wait for a caller. */
  readonly httpDeadline_seconds: number;
}

/** Files made at once for all callers, one of each company: each reads and writes as fast as it can. */
export const filesAtOnce = 2;
const downloads_per_company = 2;
const downloads_together = 32;

export interface App {
  readonly http: FastifyInstance;
  readonly world: World;
  /** Starts what happens without a caller: reports to the AT, comparison of series, and of clocks. */
  startClock(): ClockDoor;
}

/** Closing its server closes nothing of `parts`. */
export async function buildApp(parts: AppParts): Promise<App> {
  let clock: ClockDoor | undefined;
  let { signer } = parts;
  const world: World = {
    newId: parts.newId,
    signer: () => signer,
    // Once for all who wait: they go on in the order in which they came.
    renewSigner: oneAtATime(async () => {
      signer = await parts.newestSigner();
    }),
    seal: booksSeal(parts.master),
    master: parts.master,
    print: parts.print,
    baseUrl: parts.config.baseUrl,
    atMode: parts.atMode,
    certificateNumber: parts.config.certificateNumber,
    longReads: parts.longReads,
    program: parts.config.program,
    memory: new Memory(() => performance.now()),
    nudgeReports: () => clock?.nudge(),
  };
  const press = new Press(parts.db, world, (error) =>
    parts.log.error(
      { err: error },
      'what is decided ahead cannot be decided, written or remembered; it is done under locks',
    ),
  );
  const http = await buildServer({
    corridor: {
      db: parts.db,
      world,
      press,
      keyRate: fixedMinuteRate(parts.config.apiKeyRate, parts.milliseconds),
      spool: await openSpool({
        directory: parts.config.spoolDirectory,
        perCompany: downloads_per_company,
        writing: filesAtOnce,
        together: downloads_together,
      }),
    },
    addressLimit: new AddressLimit(parts.config.ipRate, parts.milliseconds),
    trustedProxies: parts.config.trustedProxies,
    log: parts.log,
    deadline_ms: parts.config.httpDeadline_seconds * 1000,
    observe: parts.observe ?? (() => undefined),
    publicKeys: parts.publicKeys,
  });
  return {
    http,
    world,
    startClock() {
      const { certificateNumber } = parts.config;
      clock = startClock({ ...parts, certificateNumber, busy: () => press.busy });
      return clock;
    },
  };
}
