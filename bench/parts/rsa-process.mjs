// RSA signatures a second on one core: the key's size and the way of signing are the product's (RSA-SHA1, 1024 bits, a
// kept key object), each text ends in the signature before it, and nothing else is done. Told by IPC.
import { createSign, generateKeyPairSync } from 'node:crypto';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
let last = '';
let count = 0;

const signOne = () => {
  const text = `2026-11-20;2026-11-20T10:00:00;FT A2026/${++count};123.45;${last}`;
  last = createSign('RSA-SHA1').update(text, 'utf8').sign(privateKey, 'base64');
};

process.on('message', ({ seconds }) => {
  const from = performance.now();
  const end = from + seconds * 1000;
  const before = count;
  while (performance.now() < end) for (let i = 0; i < 50; i++) signOne();
  process.send({ perSecond: (count - before) / ((performance.now() - from) / 1000) });
});
