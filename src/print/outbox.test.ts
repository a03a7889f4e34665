/** Between two real threads: one puts in as fast as it may, the other takes out when it gets to it. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transpiled } from '../../test/transpiled.ts';
import { type Delivery, takeOut } from './outbox.ts';

const capacity = 512 * 1024;

let code: ReturnType<typeof transpiled>;
beforeAll(() => {
  code = transpiled('src/print/outbox.ts');
});
afterAll(() => code.remove());

/** A thread that delivers files of these lengths one behind the other, the bytes of each its number. */
const delivering = (lengths: readonly number[]): Worker =>
  new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     import(workerData.outbox).then(({ openOutbox }) => {
       const deliver = openOutbox();
       for (const [i, length] of workerData.lengths.entries())
         parentPort.postMessage(deliver(new Uint8Array(length).fill(i)));
     });`,
    { eval: true, workerData: { outbox: `file://${code.folder}/src/print/outbox.js`, lengths } },
  );

test('each is what was put in, however late it is taken: what fits goes the short way, and one byte more as it is', async () => {
  const lengths = [1, capacity, ...Array.from({ length: 100 }, (_, i) => 1_000 - i), capacity + 1, 2, 3];
  const worker = delivering(lengths);
  const arrived: Delivery[] = [];
  for (const [i, length] of lengths.entries()) {
    const [delivery] = (await once(worker, 'message')) as [Delivery];
    arrived.push(delivery);
    const pdf = takeOut(delivery);
    expect([pdf.length, pdf.every((byte) => byte === i)], `file ${i}`).toEqual([length, true]);
  }
  expect(arrived.filter((delivery) => delivery instanceof Uint8Array).map(({ length }) => length)).toEqual([
    capacity + 1,
  ]);
  await once(worker, 'exit');
});
