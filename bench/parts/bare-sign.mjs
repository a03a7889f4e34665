// The thread of bare-process.mjs: signs so many documents from this number on.
import { parentPort } from 'node:worker_threads';
import { signNext } from './chain.mjs';

parentPort.on('message', ({ first, count }) =>
  parentPort.postMessage(Array.from({ length: count }, (_, i) => signNext(first + i))),
);
