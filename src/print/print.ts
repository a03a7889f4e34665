/**
 * Prints issued documents: PDF/A-3a, tagged, the same bytes for the same input.
 *
 * A page takes a millisecond, but a document of 10,000 lines half a second: so prints are made in a thread of their own,
 * started at the first one, so that a cold start does not pay for it. A whole process with it has 110 MB after 1,000 prints
 * (45 MB of them before the first).
 */
import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Piscina } from 'piscina';
import type { PrintInput } from './input.ts';
import { type Delivery, takeOut } from './outbox.ts';
import { PrintQueue, type Ticket } from './queue.ts';

export interface PrintOptions {
  /** Threads, default 1 (each takes about 30 MB). 0: typeset in the calling thread, for commands that print little. */
  readonly workers?: number | undefined;
  /** Other place of the fonts; default: the npm package. */
  readonly fontDirectory?: string | undefined;
  /** A print that takes longer is given up, with its thread; default 60 s. Not in the calling thread. */
  readonly longest_ms?: number | undefined;
}

export interface Print {
  /**
   * The PDF of an issued document. Rejects with DOWNLOADS_BUSY when too much waits already, else only for faults of ours;
   * a broken logo is left out. Without a ticket it is nobody's, and like no other.
   */
  readonly render: (input: PrintInput, ticket?: Ticket) => Promise<Uint8Array>;
  /** Ends the threads; renders under way fail. */
  readonly close: () => Promise<void>;
}

/** In short lines of documents: some 10 s of work, and 20 MB. */
const most_ofOne = 10_000;
const most_ofAll = 40_000;
/** What a page takes beside its lines, in lines. */
const page_size = 10;
/** So many characters take what a line does: a thousand lines may say 2.2 million, which is seven seconds. */
const line_length = 300;

/** Costs nothing before the first print. */
export function openPrint({ workers = 1, fontDirectory, longest_ms = 60_000 }: PrintOptions = {}): Print {
  const { render, close } = workers === 0 ? openHere(fontDirectory) : openThreads(workers, fontDirectory, longest_ms);
  const queue = new PrintQueue({ together: Math.max(workers, 1), mostOfOne: most_ofOne, mostOfAll: most_ofAll });
  let unnamed = 0;
  return {
    render: (input, ticket = { whose: '', name: String(++unnamed) }) =>
      queue.run(ticket, sizeOf(input), () => render(input)),
    close,
  };
}

/** In short lines. */
function sizeOf({ content: { lines } }: PrintInput): number {
  const characters = lines.reduce((sum, { name, description = '' }) => sum + name.length + description.length, 0);
  return page_size + lines.length + Math.floor(characters / line_length);
}

interface Renderer {
  readonly render: (input: PrintInput) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
}

type Pool = Piscina<PrintInput, Delivery>;

function openThreads(workers: number, fontDirectory: string | undefined, longest_ms: number): Renderer {
  const pool = keptOnceThere(async (forget) => {
    const started = await startPool(workers, fontDirectory);
    // A thread that fails while nobody waits for it (its files are being replaced, say) would end the process, and a pool
    // whose thread failed at its start begins no other.
    return started.on('error', () => {
      forget();
      started.destroy().catch(() => undefined);
    });
  });
  return {
    render: async (input) => {
      const started = await pool.get();
      const signal = AbortSignal.timeout(longest_ms);
      return takeOut(await started.run(input, { name: 'renderPdf', signal }));
    },
    close: async () => {
      await (await pool.now())?.destroy();
    },
  };
}

/** Made when it is first asked for; again after it could not be made, or was forgotten. */
function keptOnceThere<T>(make: (forget: () => void) => Promise<T>) {
  let kept: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    const forget = (): void => {
      if (kept === making) kept = undefined;
    };
    const making = make(forget);
    making.catch(forget);
    return making;
  };
  return {
    get: (): Promise<T> => (kept ??= begin()),
    now: (): Promise<T> | undefined => kept,
  };
}

/** Piscina itself takes 18 ms and 8 MB to load, which a service that prints nothing does not spend. */
async function startPool(workers: number, fontDirectory: string | undefined): Promise<Pool> {
  const { Piscina } = await import('piscina');
  return new Piscina({
    filename: workerFile(),
    minThreads: 1,
    maxThreads: workers,
    // With atomics a busy thread takes job after job without a turn of its loop, and native memory is not freed.
    atomics: 'disabled',
    workerData: { fontDirectory },
    // A young generation of 4 MB saves 10 MB, but of 300 lines two fifths of the time went into collecting it. A document
    // of 30,000 lines takes 65 MB.
    resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 192 },
  });
}

/** Node 20 runs no TypeScript in a thread: from the sources (tests) the built worker is taken. */
function workerFile(): string {
  const beside = fileURLToPath(new URL('./worker.js', import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL('../../dist/print/worker.js', import.meta.url));
}

function openHere(fontDirectory: string | undefined): Renderer {
  const typesetter = keptOnceThere(async () => (await import('./typesetter.ts')).openTypesetter(fontDirectory));
  return {
    render: async (input) => {
      const { typeset } = await typesetter.get();
      // Whoever else waits has a turn between two of them.
      await setImmediate();
      return typeset(input);
    },
    close: async () => {},
  };
}
