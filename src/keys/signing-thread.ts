/**
 * Signatures on a thread of their own. Under load the service's own thread is what limits it, and a signature is a fifth of
 * what that has to do for a document; a message to the thread and back costs as much for sixteen as for one. So groups are
 * signed there, and what comes alone is signed at once (docs/decisions/0064-groups-are-signed-on-a-thread.md).
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { SignedParts } from '../fiscal/hash-chain.ts';
import { localSigner, type SignedChain, type Signer } from './signer.ts';

/** Texts of a chain from which on it pays to hand them over. */
const enough = 4;

/** `privatePem`: PKCS#8, with the first chain of a key. */
export interface ToSign {
  readonly id: number;
  readonly keyVersion: number;
  readonly privatePem: string | undefined;
  readonly previous: string;
  readonly parts: readonly SignedParts[];
}

export type Signed =
  | { readonly id: number; readonly signatures: readonly string[] }
  | { readonly id: number; readonly failed: string };

interface Waiting {
  readonly resolve: (signatures: readonly string[]) => void;
  readonly reject: (error: Error) => void;
}

/** One for a process; it starts with the first group that is signed. */
export class SigningThread {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  /** Versions of the keys that the worker has. */
  #known = new Set<number>();
  #calls = 0;

  /** Signs with this key, chains of some length on the thread. Throws what `localSigner` throws. */
  signer(privatePem: string, keyVersion: number): Signer {
    const here = localSigner(privatePem, keyVersion);
    return {
      keyVersion,
      sign: async (previous, parts): Promise<SignedChain> => {
        if (parts.length < enough) return here.sign(previous, parts);
        const pem = this.#known.has(keyVersion) ? undefined : privatePem;
        const signatures = await this.#ask({ keyVersion, privatePem: pem, previous, parts });
        this.#known.add(keyVersion);
        return { signatures, keyVersion };
      },
    };
  }

  /** What is being signed fails. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #ask(chain: Omit<ToSign, 'id'>): Promise<readonly string[]> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, ...chain } satisfies ToSign);
    });
  }

  #start(): Worker {
    const worker = new Worker(workerFile(), {
      // It holds a key and a few texts: a small heap takes no longer, and spares 10 MB.
      resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 },
    });
    worker.unref();
    worker.on('message', (signed: Signed) => {
      const waiting = this.#waiting.get(signed.id);
      this.#waiting.delete(signed.id);
      if ('failed' in signed) waiting?.reject(new Error(`the signing thread cannot sign: ${signed.failed}`));
      else waiting?.resolve(signed.signatures);
    });
    // Whoever waits fails, and is signed for again one by one; the next group begins another thread.
    const ended = (why: string): void => {
      if (this.#worker === worker) {
        this.#worker = undefined;
        this.#known = new Set();
      }
      const all = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const { reject } of all) reject(new Error(`the signing thread has ended: ${why}`));
    };
    worker.on('error', (error) => ended(error.message));
    worker.on('exit', (code) => ended(`exit code ${code}`));
    return worker;
  }
}

/** Node 20 runs no TypeScript in a thread: from the sources (tests) the built worker is taken. */
function workerFile(): string {
  const beside = fileURLToPath(new URL('./sign-worker.js', import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL('../../dist/keys/sign-worker.js', import.meta.url));
}
