/** The thread that typesets, so that the service's own thread goes on answering. Started by print.ts through piscina. */
import { workerData } from 'node:worker_threads';
import type { PrintInput } from './input.ts';
import { type Delivery, openOutbox } from './outbox.ts';
import { openTypesetter } from './typesetter.ts';

const { fontDirectory } = workerData as { fontDirectory?: string };
const typesetter = openTypesetter(fontDirectory);
const deliver = openOutbox();

/** One PDF. */
export function renderPdf(input: PrintInput): Delivery {
  return deliver(typesetter.typeset(input));
}
