// `certo verify` beside the running service: every number, signature, seal and event of many documents, in a process of
// its own. Given as seconds for 100,000, from those that other rows left, 5,000 at least; the work is the same for each.
import { verify } from '../parts/books.mjs';
import { inFlight } from '../parts/client.mjs';
import { createDrafts, issue } from '../parts/invoices.mjs';

export const title = 'Verify 100,000 documents';
export const unit = 's';
export const floor = { most: 60 };

const enough = 5_000;

export async function measure({ bench, say, quick }) {
  const service = await bench.service();
  const books = ['--company', service.company.id];
  say('what is there');
  await fill(service, (quick ? 200 : enough) - (await verify(service, books)).told.documents, say);
  say('verifying');
  const { taken, told } = await verify(service, books);
  if (told.findings !== 0) throw new Error(`verify found ${told.findings} in ${told.documents} documents`);
  // What a command costs before its first document.
  const idle = await verify(service, ['--company', service.others.Z.id]);
  const each = (taken - idle.taken) / (told.documents - idle.told.documents);
  const details = { words: `${told.documents} documents of three lines`, documents: told.documents, each };
  return { value: each * 100_000, details };
}

async function fill(service, count, say) {
  if (count <= 0) return;
  say(`${count} documents`);
  const drafts = await createDrafts(service, count, 32);
  await inFlight(count, 32, (i) => issue(service, drafts[i]));
}
