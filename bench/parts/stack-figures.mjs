// Create and issue, by 1 and by 32 clients, on the product and on the usual stack in turn. Measured once for its rows.
import { openBooks, unlessBroken } from './books.mjs';
import { install, startComparator } from './comparator.mjs';
import { openFiring } from './firing.mjs';
import { draftBody } from './invoices.mjs';
import { countFor, median } from './statistics.mjs';

const widths = [1, 32];
const seconds = 4;
/** Pairs of a round: about four seconds. */
const bounds = { 1: { least: 40, most: 1_000 }, 32: { least: 320, most: 8_000 } };

/** Before the first round: V8 compiles on either side what has run often enough, and a service runs for weeks. */
const warm_up = { 32: 4_000, 1: 400 };

let measured;

/** A row of these figures at one width; its value is 0 when the books of either side are broken afterwards. */
export async function stackRow(tools, width) {
  measured ??= measure(tools);
  const { absent, broken, certo, stack, rounds } = await measured;
  if (absent !== undefined) return { details: { words: absent } };
  const words = `${certo[width].toFixed(0)}/s and ${stack[width].toFixed(0)}/s`;
  return unlessBroken(broken, { value: certo[width] / stack[width], details: { words, certo, stack, rounds } });
}

async function measure(tools) {
  const absent = install(tools.say);
  if (absent !== undefined) return { absent };
  const service = await tools.bench.fresh();
  // A company of its own, so that what is read again after each round stays small.
  const company = service.others.B;
  const comparator = await startComparator();
  const sides = {
    certo: side({ port: service.port, apiKey: company.apiKey, company }, await openBooks(service, company)),
    stack: side(comparator, comparator.books),
  };
  try {
    return await rounded(sides, tools);
  } finally {
    for (const { firing } of Object.values(sides)) firing.stop();
    comparator.stop();
    await service.stop();
  }
}

function side({ port, apiKey, company }, books) {
  const firing = openFiring({ port, apiKey, draftBody: (i) => draftBody(company, i) });
  return {
    firing,
    books,
    async play(count, width) {
      const { perSecond } = await firing.createAndIssue(count, width);
      books.issued(count);
      return perSecond;
    },
  };
}

async function rounded(sides, { say, rounds, quick }) {
  const rate = {};
  const results = { certo: { 1: [], 32: [] }, stack: { 1: [], 32: [] } };
  for (const [name, { play }] of Object.entries(sides)) {
    say(`create and issue: warm-up of ${name}`);
    rate[name] = { 32: await play(quick ? 32 : warm_up[32], 32), 1: await play(quick ? 5 : warm_up[1], 1) };
  }
  for (let round = 1; round <= rounds; round++) {
    for (const width of widths) {
      for (const [name, { play }] of Object.entries(sides)) {
        say(`create and issue: round ${round} of ${rounds}, ${width} at once, ${name}`);
        const count = quick ? 4 * width : countFor(rate[name][width], seconds, bounds[width]);
        rate[name][width] = await play(count, width);
        results[name][width].push(rate[name][width]);
      }
    }
    say(`create and issue: round ${round} of ${rounds}, reading the books again`);
    for (const { books } of Object.values(sides)) await books.check();
  }
  const broken = sides.certo.books.broken ?? (sides.stack.books.broken && `usual stack: ${sides.stack.books.broken}`);
  const medians = (name) => Object.fromEntries(widths.map((width) => [width, median(results[name][width])]));
  return { broken, certo: medians('certo'), stack: medians('stack'), rounds: results };
}
