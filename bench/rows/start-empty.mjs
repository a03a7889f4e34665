// From `serve` on an empty data folder (initdb, migrations, keys) to the first answer that says it is ready.

import { dataFolder, firstAnswer, freePort, serve } from '../parts/service.mjs';
import { median } from '../parts/statistics.mjs';

export const title = 'Start, empty data folder';
export const unit = 's';
export const floor = { most: 4 };

export async function measure({ say, rounds }) {
  const times = [];
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`);
    const port = await freePort();
    const folder = dataFolder();
    const from = performance.now();
    const service = serve(folder, port);
    times.push((await firstAnswer(service, '/health/ready', { from })) / 1000);
    await service.stop();
  }
  return { value: median(times), details: { words: `slowest ${Math.max(...times).toFixed(2)} s of ${rounds}`, times } };
}
