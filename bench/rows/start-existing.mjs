// From `serve` on a data folder that has a company to the first answered request that asks the database.

import { dataFolder, demo, firstAnswer, freePort, serve } from '../parts/service.mjs';
import { median } from '../parts/statistics.mjs';

export const title = 'Start, existing data';
export const unit = 's';
export const floor = { most: 1.5 };

export async function measure({ say, rounds }) {
  const folder = dataFolder();
  const port = await freePort();
  say('preparing');
  const first = serve(folder, port);
  await firstAnswer(first, '/health/ready');
  const { companies } = await demo(folder, port);
  await first.stop();
  const times = [];
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`);
    const from = performance.now();
    const service = serve(folder, port);
    times.push((await firstAnswer(service, '/company', { headers: { 'x-api-key': companies.A.apiKey }, from })) / 1000);
    await service.stop();
  }
  return { value: median(times), details: { words: `slowest ${Math.max(...times).toFixed(2)} s of ${rounds}`, times } };
}
