/** What operations get handed in: chance, signing, printing, links. Time comes from the database (certo.now()). */
import type { AtMode } from '../at/gateway.ts';
import type { Db } from '../db/transact.ts';
import type { SaftProgram } from '../fiscal/saft/source.ts';
import type { Mac } from '../fiscal/seal.ts';
import type { MasterKey } from '../keys/sealing.ts';
import type { Signer } from '../keys/signer.ts';
import type { Print } from '../print/print.ts';
import type { Memory } from './memory.ts';

export interface World {
  /** A new UUID version 7. */
  readonly newId: () => string;
  /** Of the newest key that this process knows. */
  readonly signer: () => Signer;
  /** Another process has made a newer key: from here on `signer` has that one. */
  readonly renewSigner: () => Promise<void>;
  /** What this process has read and written lately: nothing is answered from it. */
  readonly memory: Memory;
  /** Seals the books. */
  readonly seal: Mac;
  readonly master: MasterKey;
  readonly print: Print;
  /** Address this service is reached under, without a trailing slash. */
  readonly baseUrl: string;
  readonly atMode: AtMode;
  /** Number of the AT's certificate of this program; 9999 against the simulator. */
  readonly certificateNumber: number;
  /** Connections for what reads longer than a request may: a few, apart from those of the requests. */
  readonly longReads: Db;
  /** This program and its producer, as SAF-T names them. */
  readonly program: SaftProgram;
  /** Tells the clock door that something waits to be reported. */
  readonly nudgeReports: () => void;
}
