// RSA signatures a second on one core: a chain of them (chain.mjs), and nothing else is done. Told by IPC.
import { signNext } from './chain.mjs';

let count = 0;

process.on('message', ({ seconds }) => {
  const from = performance.now();
  const end = from + seconds * 1000;
  const before = count;
  while (performance.now() < end) for (let i = 0; i < 50; i++) signNext(++count);
  process.send({ perSecond: (count - before) / ((performance.now() - from) / 1000) });
});
