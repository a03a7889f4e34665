/** The service dies, with SIGKILL, at each message that it sends to PostgreSQL for issue, pay, cancel and credit note. */
import type { Part } from '../part.ts';
import { actNames, sweeps } from '../sweep.ts';

export const part: Part = {
  name: 'kill-points',
  title: 'SIGKILL of the service before and after each message to PostgreSQL of the four acts',
  unit: 'sweeps',
  target: actNames.length,
  run: (options) => sweeps(options, { how: 'kill', share: 40 }),
};
