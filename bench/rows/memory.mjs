// Peak resident memory of the service's process, its threads inside, after 1,000 issued invoices and 100 PDFs.
import { inFlight } from '../parts/client.mjs';
import { createDrafts, issue } from '../parts/invoices.mjs';
import { peakMemory, startPrepared } from '../parts/service.mjs';

export const title = 'Peak memory, 1,000 invoices';
export const unit = 'MiB';
export const floor = { most: 200 };

const invoices = 1000;
const pdfs = 100;

export async function measure({ say }) {
  const service = await startPrepared();
  const atStart = peakMemory(service.pid);
  say('drafts');
  const drafts = await createDrafts(service, invoices);
  say('issuing');
  await inFlight(invoices, 16, (i) => issue(service, drafts[i]));
  const afterIssuing = peakMemory(service.pid);
  say('printing');
  await inFlight(pdfs, 8, async (i) => {
    const { url } = await service.client.expect(200, 'GET', `/invoices/${drafts[i].id}/pdf`);
    const { pathname, search } = new URL(url);
    const file = await service.client.call('GET', pathname + search);
    if (file.status !== 200 || file.body.subarray(0, 5).toString() !== '%PDF-') throw new Error('that is no PDF');
  });
  const value = peakMemory(service.pid);
  await service.stop();
  const words = `${atStart.toFixed(0)} at the start, ${afterIssuing.toFixed(0)} after issuing, then ${pdfs} PDFs`;
  return { value, details: { words, atStart, afterIssuing } };
}
