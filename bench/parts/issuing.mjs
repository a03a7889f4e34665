// Issues drafts that were made before the clock runs: what is timed is issuing alone.
import { inFlight } from './client.mjs';
import { createDrafts, issue } from './invoices.mjs';
import { median } from './report.mjs';

export async function measureIssuing({ bench, say, width, count, rounds = 3 }) {
  const service = await bench.service();
  const rates = [];
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`);
    const drafts = await createDrafts(service, count);
    const from = performance.now();
    await inFlight(count, width, (i) => issue(service, drafts[i]));
    rates.push(count / ((performance.now() - from) / 1000));
  }
  return { value: median(rates), details: { words: `${count} documents, one series, ${rounds} rounds`, rates } };
}
