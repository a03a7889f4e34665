/** The thread that signs, started by signing-thread.ts: chain after chain, each whole. */
import { parentPort } from 'node:worker_threads';
import { lastOf, localSigner, type Signer } from './signer.ts';
import type { Signed, ToSign } from './signing-thread.ts';

const signers = new Map<number, Signer>();
/** The last signature of each call that others may still be signed behind. What failed has none. */
const lasts = new Map<number, string>();

parentPort?.on('message', async ({ id, from, keyVersion, privatePem, before, parts }: ToSign) => {
  for (const old of lasts.keys()) {
    if (old >= from) break;
    lasts.delete(old);
  }
  try {
    if (privatePem !== undefined) signers.set(keyVersion, localSigner(privatePem, keyVersion));
    const previous = typeof before === 'string' ? before : lasts.get(before);
    if (previous === undefined) throw new Error('what they follow was not signed');
    const signed = await signers.get(keyVersion)!.sign(previous, parts);
    lasts.set(id, lastOf(signed));
    parentPort?.postMessage({ id, signatures: signed.signatures } satisfies Signed);
  } catch (error) {
    parentPort?.postMessage({ id, failed: (error as Error).message } satisfies Signed);
  }
});
