/**
 * Prints issued documents: PDF/A-3a, tagged, the same bytes for the same input.
 *
 * The typesetter runs in its own thread, started at the first print, so that a cold start does not pay for it. A whole
 * process with one such thread has 140 MB after 1,000 prints (50 MB of them before the first).
 */
import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Piscina } from 'piscina';
import type { PrintInput } from './input.ts';
import { type Delivery, takeOut } from './outbox.ts';
import type { Typesetter } from './typst.ts';

export interface PrintOptions {
  /** Threads, default 1 (each takes about 60 MB). 0: typeset in the calling thread, for commands that print little. */
  readonly workers?: number | undefined;
  /** Other place of the fonts; default: the npm package. */
  readonly fontDirectory?: string | undefined;
}

export interface Print {
  /** The PDF of an issued document. Rejects only for faults of ours; a broken logo is left out. */
  readonly render: (input: PrintInput) => Promise<Uint8Array>;
  /** Ends the threads; renders under way fail. */
  readonly close: () => Promise<void>;
}

export function openPrint({ workers = 1, fontDirectory }: PrintOptions = {}): Print {
  return workers === 0 ? openHere(fontDirectory) : openThreads(workers, fontDirectory);
}

type Pool = Piscina<PrintInput, Delivery>;

function openThreads(workers: number, fontDirectory: string | undefined): Print {
  let starting: Promise<Pool> | undefined;
  return {
    render: async (input) => {
      starting ??= startPool(workers, fontDirectory);
      return takeOut(await (await starting).run(input, { name: 'renderPdf' }));
    },
    close: async () => {
      await (await starting)?.destroy();
    },
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
    // The thread composes small texts for the native typesetter: a small heap costs no time and saves 20 MB at the peak.
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 96 },
  });
}

/** Node 20 runs no TypeScript in a thread: from the sources (tests) the built worker is taken. */
function workerFile(): string {
  const beside = fileURLToPath(new URL('./worker.js', import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL('../../dist/print/worker.js', import.meta.url));
}

function openHere(fontDirectory: string | undefined): Print {
  let opening: Promise<Typesetter> | undefined;
  return {
    render: async (input) => {
      opening ??= import('./typst.ts').then(({ openTypesetter }) => openTypesetter(fontDirectory));
      const pdf = new Uint8Array((await opening).typeset(input));
      // The file's native memory is freed between turns of the loop: without this one, 1,000 prints in a row keep 60 MB.
      await setImmediate();
      return pdf;
    },
    close: async () => {},
  };
}
