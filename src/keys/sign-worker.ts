/** The thread that signs, started by signing-thread.ts: chain after chain, each whole. */
import { parentPort } from 'node:worker_threads';
import { localSigner, type Signer } from './signer.ts';
import type { Signed, ToSign } from './signing-thread.ts';

const signers = new Map<number, Signer>();

parentPort?.on('message', async ({ id, keyVersion, privatePem, previous, parts }: ToSign) => {
  try {
    if (privatePem !== undefined) signers.set(keyVersion, localSigner(privatePem, keyVersion));
    const { signatures } = await signers.get(keyVersion)!.sign(previous, parts);
    parentPort?.postMessage({ id, signatures } satisfies Signed);
  } catch (error) {
    parentPort?.postMessage({ id, failed: (error as Error).message } satisfies Signed);
  }
});
