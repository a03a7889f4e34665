// The thread of bare-process.mjs: signs texts, each behind the signature before it.
import { createSign, generateKeyPairSync } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
let last = '';

const signOne = (text) => {
  last = createSign('RSA-SHA1')
    .update(text + last, 'utf8')
    .sign(privateKey, 'base64');
  return last;
};

parentPort.on('message', (texts) => parentPort.postMessage(texts.map(signOne)));
