/** The wire to PostgreSQL is cut before and after each message of issue, pay, cancel and credit note. */
import type { Part } from '../part.ts';
import { actNames, sweeps } from '../sweep.ts';

export const part: Part = {
  name: 'crash-points',
  title: 'the wire to PostgreSQL cut before and after each message of the four acts, connections new and used',
  unit: 'sweeps',
  target: 2 * actNames.length,
  run: (options) => sweeps(options, { how: 'cut', share: 30 }),
};
