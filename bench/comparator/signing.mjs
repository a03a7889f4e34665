// The chain of signatures: RSA-SHA1 over the document and the signature before it, with a key that is parsed once.
import { createPrivateKey, createSign } from 'node:crypto';

const key = createPrivateKey(process.env.SIGNING_KEY);

/** Amounts are cents. */
export function sign({ date, systemEntry, number, total }, previousHash) {
  const text = [date, systemEntry, number, euros(total), previousHash].join(';');
  return createSign('RSA-SHA1').update(text, 'utf8').sign(key, 'base64');
}

export const euros = (amount) => (amount / 100).toFixed(2);
