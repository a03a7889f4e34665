// Issuing on one series at 1, 8 and 64 in flight, in turn with what it is measured against: signatures of one core, the
// same parts without the product, and the same transaction by pgbench. Measured once for all rows, since they are ratios
// of one run.
import { cpus } from 'node:os';
import { openBare } from './bare.mjs';
import { openBooks, unlessBroken } from './books.mjs';
import { start } from './children.mjs';
import { openFiring } from './firing.mjs';
import { draftBody } from './invoices.mjs';
import { openPgbench } from './pgbench.mjs';
import { countFor, joinHistograms, median } from './statistics.mjs';

/** Requests of a round at each width: about two seconds, so many at least that 99 % means something. */
const bounds = { 1: { least: 100, most: 1_000 }, 8: { least: 600, most: 8_000 }, 64: { least: 1_500, most: 12_000 } };
const quick_bounds = { 1: { least: 20, most: 20 }, 8: { least: 100, most: 100 }, 64: { least: 300, most: 300 } };
const widths = [64, 8, 1];
/** Issues before the first round: a service runs for weeks, and V8 compiles for speed what has run often enough. */
const warm_up = { 64: 2_000, 8: 600, 1: 200 };
const seconds = 2;

let measured;

export function issueFigures(tools) {
  measured ??= measure(tools);
  return measured;
}

/** A row of these figures; its value is 0 when the books are broken afterwards. */
export async function issueRow(tools, figure) {
  const figures = await issueFigures(tools);
  return unlessBroken(figures.broken, figure(figures));
}

/** 64 in flight against transactions of pgbench a second, where there is a pgbench. */
export function beside({ perSecond }, transactions) {
  if (transactions === undefined)
    return { details: { words: 'pgbench is not on this machine (Debian: postgresql-contrib)' } };
  const words = `${perSecond[64].toFixed(0)}/s and ${transactions.toFixed(0)}/s, the latter unsigned`;
  return { value: perSecond[64] / transactions, details: { words } };
}

async function measure({ bench, say, rounds, quick }) {
  const service = await bench.service();
  const { company } = service;
  const firing = openFiring({ port: service.port, apiKey: company.apiKey, draftBody: (i) => draftBody(company, i) });
  // One for each core: what cores that share their parts sign together is the room for everything, the signature included.
  const signing = cpus().map(() => start('rsa-process.mjs'));
  const sign = async (some) => {
    const told = await Promise.all(some.map((one) => one.ask({ seconds: quick ? 0.5 : seconds })));
    return told.reduce((sum, { perSecond }) => sum + perSecond, 0);
  };
  const bare = await openBare(quick ? 0.5 : seconds);
  try {
    const pgbench = await openPgbench(bench);
    const books = await openBooks(service, company);
    const issue = async (count, width) => {
      const drafts = await firing.drafts(count);
      const figures = await firing.issue(drafts, width);
      books.issued(count);
      return figures;
    };
    const yardsticks = [
      async () => ({
        rsa: await sign(signing.slice(0, 1)),
        rsaTogether: await sign(signing),
        bare: await bare.issue(),
      }),
      async () => ({ sevenTrips: await pgbench?.play('seven-trips', { quick }) }),
      async () => ({
        oneStatement: await pgbench?.play('one-statement', { quick }),
        ownTables: await pgbench?.play('own-tables', { quick }),
      }),
    ];
    say('issuing: warm-up');
    await bare.issue();
    const rate = { 1: 0, 8: 0, 64: 0 };
    for (const width of widths) rate[width] = (await issue(quick ? 64 : warm_up[width], width)).perSecond;
    const results = [];
    for (let round = 1; round <= rounds; round++) {
      const result = {};
      for (const [i, width] of widths.entries()) {
        say(`issuing: round ${round} of ${rounds}, ${width} in flight`);
        const count = countFor(rate[width], seconds, (quick ? quick_bounds : bounds)[width]);
        result[width] = await issue(count, width);
        rate[width] = result[width].perSecond;
        say(`issuing: round ${round} of ${rounds}, what it is measured against`);
        Object.assign(result, await yardsticks[i]());
      }
      say(`issuing: round ${round} of ${rounds}, reading the books again`);
      await books.check();
      results.push(result);
    }
    return summary(results, books.broken);
  } finally {
    firing.stop();
    bare.stop();
    for (const one of signing) one.stop();
  }
}

function summary(results, broken) {
  const of = (pick) => (results.some((one) => pick(one) === undefined) ? undefined : median(results.map(pick)));
  return {
    broken,
    rsa: of(({ rsa }) => rsa),
    rsaTogether: of(({ rsaTogether }) => rsaTogether),
    bare: of((one) => one.bare),
    sevenTrips: of(({ sevenTrips }) => sevenTrips),
    oneStatement: of(({ oneStatement }) => oneStatement),
    ownTables: of(({ ownTables }) => ownTables),
    perSecond: Object.fromEntries(widths.map((width) => [width, of((one) => one[width].perSecond)])),
    p50_ms: of((one) => one[64].p50_ms),
    p99_ms: of((one) => one[64].p99_ms),
    tail: of((one) => one[64].p99_ms / one[64].p50_ms),
    histogram: joinHistograms(results.map((one) => one[64].histogram)),
    rounds: results,
  };
}
