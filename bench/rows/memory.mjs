// Peak resident memory of the service that the other rows used, its threads inside, after their runs and 100 PDFs.
import { inFlight } from '../parts/client.mjs';
import { createDrafts, issue } from '../parts/invoices.mjs';
import { issueFigures } from '../parts/issue-figures.mjs';
import { peakMemory } from '../parts/service.mjs';

export const title = 'Peak memory after the runs';
export const unit = 'MB';
export const floor = { most: 250 };
export const goal = { most: 180 };
/** After every row that uses the service. */
export const last = true;

const pdfs = 100;

export async function measure(tools) {
  const { bench, say, quick } = tools;
  const service = await bench.service();
  // Alone it means nothing: at least the issuing has been.
  await issueFigures(tools);
  const before = peakMemory(service.pid);
  say('printing');
  const drafts = await createDrafts(service, quick ? 5 : pdfs);
  await inFlight(drafts.length, 8, async (i) => {
    const { id } = await issue(service, drafts[i]);
    const { url } = await service.client.expect(200, 'GET', `/invoices/${id}/pdf`);
    const { pathname, search } = new URL(url);
    const file = await service.client.call('GET', pathname + search);
    if (file.status !== 200 || file.body.subarray(0, 5).toString() !== '%PDF-') throw new Error('that is no PDF');
  });
  const value = peakMemory(service.pid);
  return { value, details: { words: `${before.toFixed(0)} before ${drafts.length} PDFs`, before } };
}
