// `certo verify` in a process of its own, and what it means for a run: figures of books that are not whole count as zero.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Every number, signature, seal and event; `taken` in seconds, `told` as `certo verify --json` says it. */
export async function verify({ environment }, args) {
  const from = performance.now();
  const child = spawn(process.execPath, [main, 'verify', '--json', ...args], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  await once(child, 'close');
  return { taken: (performance.now() - from) / 1000, told: JSON.parse(text) };
}

/**
 * The books of a company of the service while a run issues. `issued(count)` says how many answers said so; `check()` reads every
 * series again. `broken` is undefined, or what is wrong, and stays so.
 */
export async function openBooks(service, company) {
  const args = ['--company', company.id];
  let expected = (await verify(service, args)).told.documents;
  const books = {
    broken: undefined,
    issued(count) {
      expected += count;
    },
    async check() {
      const { told } = await verify(service, args);
      books.broken ??= faultOf(told, expected);
    },
  };
  return books;
}

/** What is wrong with books that were verified; undefined when nothing is. */
export function faultOf({ findings, documents, list = [] }, expected) {
  if (findings !== 0) {
    const first = list[0];
    return `${findings} findings, the first: ${first?.number ?? first?.series ?? ''} ${first?.problem ?? ''}`.trim();
  }
  return documents === expected ? undefined : `${documents} documents in the books, ${expected} answers said issued`;
}

/** The figure of a run, or nothing at all when the books it left are broken. */
export function unlessBroken(broken, figure) {
  if (broken === undefined) return figure;
  return { ...figure, value: 0, broken, details: { ...figure.details, words: `counts as zero: ${broken}` } };
}
