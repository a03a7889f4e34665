/** The thread that signs, started by signing-thread.ts: chain after chain, each whole. */
import { parentPort } from 'node:worker_threads';
import { localSigner, type SignedChain, type Signer } from './signer.ts';
import type { Signed, ToSign } from './signing-thread.ts';

const signers = new Map<number, Signer>();
/** Calls that others may still be signed behind. */
const calls = new Map<number, Promise<SignedChain>>();

parentPort?.on('message', (asked: ToSign) => {
  const { id, from } = asked;
  for (const old of calls.keys()) {
    if (old >= from) break;
    calls.delete(old);
  }
  const signing = sign(asked);
  calls.set(id, signing);
  const tell = (signed: Signed): void => parentPort?.postMessage(signed);
  signing.then(
    (chain) => tell({ id, chain }),
    (error) => tell({ id, failed: (error as Error).message }),
  );
});

/** Rejects when what it follows was not signed. */
async function sign({ keyVersion, privatePem, before, parts }: ToSign): Promise<SignedChain> {
  if (privatePem !== undefined) signers.set(keyVersion, localSigner(privatePem, keyVersion));
  return signers.get(keyVersion)!.sign(typeof before === 'string' ? before : calls.get(before)!, parts);
}
