/** What the tax authority holds of documents, compared with what the API says of them. */
import type { DocumentEntry } from '../../src/at/simulator/ledger.ts';
import type { Scene } from './at-scene.ts';
import type { Made } from './issuers.ts';
import { several } from './several.ts';

interface Read {
  readonly number: string;
  readonly atDocCode?: string;
  readonly syncWithAt: { readonly status: string; readonly atCode?: string };
}

/**
 * Everything that is wrong. In the end each stands there once, as it was issued, and cancelled where it was. `mayLose`:
 * answers were lost, and with them perhaps the codes of transport documents.
 */
export async function recorded(
  { at, wire, company }: Scene,
  made: readonly Made[],
  where: string,
  mayLose: boolean,
): Promise<string[]> {
  const found: string[] = [];
  const { documents, series } = await at.ledger(company.taxpayerNumber);
  const held = new Map(documents.map((document) => [document.number, document]));
  for (const { documentCode, series: code, gaps } of series as readonly ((typeof series)[number] & {
    gaps: unknown[];
  })[])
    if (gaps.length > 0) found.push(`the AT misses numbers of ${documentCode} ${code}`);
  await several(made.length, 8, async (i) => {
    const document = made[i]!;
    const headers = { 'x-api-key': company.apiKey };
    const { json } = await wire.send<Read>({ method: 'GET', path: document.path, headers });
    const words = judged(document, json, held.get(document.number), mayLose);
    if (words !== undefined) found.push(`${document.number} ${words}`);
  });
  return found.map((words) => `${words} (${where})`);
}

function judged(
  { number, atcud, canceled }: Made,
  read: Read,
  held: DocumentEntry | undefined,
  mayLose: boolean,
): string | undefined {
  const { status, atCode } = read.syncWithAt;
  if (read.number !== number) return `answers as ${read.number}`;
  if (held === undefined) return `is not at the AT (${status} ${atCode})`;
  if (held.atcud !== atcud) return `has the ATCUD ${held.atcud} at the AT`;
  const history = held.history.map((entry) => entry.status).join('');
  if (held.service === 'transport') {
    // The AT tells its code once. Where that answer was lost, a person has to look it up, and cancels there.
    const known = read.atDocCode !== undefined;
    if (known && read.atDocCode !== held.atDocCode)
      return `has the code ${read.atDocCode}, at the AT ${held.atDocCode}`;
    if (!known && !mayLose) return `has no code of the AT (${status} ${atCode})`;
    if (!known && canceled)
      return status === 'REJECTED' && history === 'N' ? undefined : `is ${status}, at the AT ${history}`;
  }
  const wanted = canceled ? 'NA' : 'N';
  return status === 'ACCEPTED' && history === wanted
    ? undefined
    : `is ${status} ${atCode}, at the AT ${history}, and should be ${wanted}`;
}
