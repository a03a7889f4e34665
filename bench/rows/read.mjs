// GET of one issued invoice with an API key, against a bare Fastify "hello": rounds of both in turn, 64 connections.
import { start } from '../parts/children.mjs';
import { createDrafts, issue } from '../parts/invoices.mjs';
import { median } from '../parts/statistics.mjs';

export const title = 'Read an invoice ÷ hello';
export const unit = 'ratio';
export const floor = { least: 0.15 };
export const goal = { least: 0.3 };

const seconds = 4;

export async function measure({ bench, say, rounds, quick }) {
  const service = await bench.fresh();
  const [draft] = await createDrafts(service, 1);
  const invoice = await issue(service, draft);
  const hello = start('hello.mjs');
  const cannon = start('cannon.mjs');
  try {
    const { port } = await hello.ask();
    const targets = {
      hello: { url: `http://127.0.0.1:${port}/` },
      invoice: { url: `${service.baseUrl}/invoices/${invoice.id}`, headers: { 'x-api-key': service.company.apiKey } },
    };
    const fire = async (name, for_seconds) => {
      const result = await cannon.ask({ ...targets[name], connections: 64, seconds: for_seconds });
      if (result.failed > 0) throw new Error(`${result.failed} requests of ${name} failed`);
      return result;
    };
    say('warm-up');
    for (const name of Object.keys(targets)) await fire(name, 2);
    const each = quick ? 1 : seconds;
    const results = [];
    for (let round = 1; round <= rounds; round++) {
      say(`round ${round} of ${rounds}`);
      results.push({ hello: await fire('hello', each), invoice: await fire('invoice', each) });
    }
    const rate = (name) => median(results.map((result) => result[name].perSecond));
    const words = `${rate('invoice').toFixed(0)}/s of ${rate('hello').toFixed(0)}/s, 99 % within ${median(results.map((result) => result.invoice.p99_ms))} ms`;
    return { value: rate('invoice') / rate('hello'), details: { words, rounds: results } };
  } finally {
    hello.stop();
    cannon.stop();
    await service.stop();
  }
}
