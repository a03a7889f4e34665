import type { Signer } from '../src/keys/signer.ts';

/** In front of a signer. */
export interface WatchedSigner {
  /** Happens before the next signature is made. */
  before: (() => Promise<unknown>) | undefined;
  /** Documents that were signed. */
  signatures: number;
  around(signer: Signer): Signer;
}

export function watchedSigner(): WatchedSigner {
  const watch: WatchedSigner = {
    before: undefined,
    signatures: 0,
    around: (signer) => ({
      ...signer,
      async sign(previous, parts) {
        const first = watch.before;
        watch.before = undefined;
        await first?.();
        const chain = await signer.sign(previous, parts);
        watch.signatures += parts.length;
        return chain;
      },
    }),
  };
  return watch;
}
