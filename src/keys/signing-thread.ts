/**
 * Signatures on a thread of their own. Under load the service's own thread is what limits it, and a signature is a fifth of
 * what that has to do for a document; a message to the thread and back costs as much for sixteen as for one. So groups are
 * signed there, and what comes alone is signed at once (docs/decisions/0064-groups-are-signed-on-a-thread.md, 0068).
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { SignedParts } from '../fiscal/hash-chain.ts';
import { lastOf, localSigner, type SignedChain, type Signer } from './signer.ts';

/** Texts of a chain from which on it pays to hand them over, when nothing of it is being signed there. */
const enough = 4;

/** What the thread is told. Calls are numbered as they come. */
export interface ToSign {
  readonly id: number;
  /** No call before this one will be named any more. */
  readonly from: number;
  readonly keyVersion: number;
  /** PKCS#8, with the first chain of a key. */
  readonly privatePem: string | undefined;
  /** The signature before the first, or the call that gives it. */
  readonly before: string | number;
  readonly parts: readonly SignedParts[];
}

export type Signed =
  | { readonly id: number; readonly chain: SignedChain }
  | { readonly id: number; readonly failed: string };

interface Waiting {
  readonly resolve: (chain: SignedChain) => void;
  readonly reject: (error: Error) => void;
}

/** One for a process; it starts with the first group that is signed. */
export class SigningThread {
  /** In the order of their numbers, as they are answered. */
  readonly #waiting = new Map<number, Waiting>();
  readonly #numbers = new WeakMap<Promise<SignedChain>, number>();
  #worker: Worker | undefined;
  /** Versions of the keys that the worker has been given. */
  #known = new Set<number>();
  #calls = 0;

  /** Signs with this key, chains of some length on the thread. Rejects as `localSigner` does. */
  signer(privatePem: string, keyVersion: number): Signer {
    const here = localSigner(privatePem, keyVersion);
    const sign: Signer['sign'] = (before, parts) => {
      const there = (last: string | number) => this.#ask({ keyVersion, before: last, parts }, privatePem);
      if (typeof before === 'string') return parts.length < enough ? here.sign(before, parts) : there(before);
      // Behind what is being signed there it is sent at once: the thread needs no answer of ours to go on.
      const number = this.#numbers.get(before);
      if (number !== undefined && this.#waiting.has(number)) return there(number);
      return before.then((chain) => sign(lastOf(chain), parts));
    };
    return { keyVersion, sign };
  }

  /** What is being signed fails. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  /** Rejects also where there is no thread to be had: whoever asks waits for an answer. */
  #ask(asked: Pick<ToSign, 'keyVersion' | 'before' | 'parts'>, privatePem: string): Promise<SignedChain> {
    const id = ++this.#calls;
    const signing = new Promise<SignedChain>((resolve, reject) => {
      this.#worker ??= this.#start();
      const from = this.#waiting.keys().next().value ?? id;
      const isKnown = this.#known.has(asked.keyVersion);
      const told: ToSign = { id, from, ...asked, privatePem: isKnown ? undefined : privatePem };
      this.#worker.postMessage(told);
      this.#known.add(asked.keyVersion);
      this.#waiting.set(id, { resolve, reject });
    });
    this.#numbers.set(signing, id);
    return signing;
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
      else waiting?.resolve(signed.chain);
    });
    // Whoever waits fails, and is signed for again one by one; the next group begins another thread.
    const ended = (why: string): void => {
      // After an error it ends as well: whoever waits by then waits for another.
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#known = new Set();
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
