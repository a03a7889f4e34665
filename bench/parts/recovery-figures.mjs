// Seconds from a kill -9 under modest load to the next write that is done.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openClient } from './client.mjs';
import { draftBody } from './invoices.mjs';
import { dataFolder, demo, firstAnswer, freePort, serve } from './service.mjs';
import { median } from './statistics.mjs';

const patience_ms = 60_000;
/** Between two writes of each of the clients, so that the service is busy and not full. */
const pause_ms = 20;
const clients = 4;

/**
 * A row: kills what `whom` says, "service", "postgres" or "both", while clients make drafts. A killed service is started
 * again at once, as a supervisor would.
 */
export async function recoveryRow({ say, rounds, quick }, whom) {
  const folder = dataFolder();
  const port = await freePort();
  say('preparing');
  let service = serve(folder, port);
  await firstAnswer(service, '/health/ready');
  const { companies } = await demo(folder, port);
  const company = companies.A;
  const times = [];
  for (let round = 1; round <= (quick ? 1 : Math.max(5, rounds)); round++) {
    say(`round ${round}`);
    let over = false;
    const headers = { 'x-api-key': company.apiKey };
    const client = openClient(`http://127.0.0.1:${port}`, headers);
    let done = 0;
    const write = async (i) => {
      const answer = await client.call('POST', '/invoices', draftBody(company, i)).catch(() => undefined);
      if (answer?.status === 201) done += 1;
      return answer?.status === 201;
    };
    const working = Array.from({ length: clients }, async (_, i) => {
      for (; !over; i += clients) {
        await write(i);
        await sleep(pause_ms);
      }
    });
    await until(() => done > 50);
    const from = performance.now();
    // Both at the same instant: the database first, so that the service has no time to start it again.
    if (whom !== 'service') for (const pid of serverProcesses(folder)) kill(pid);
    if (whom !== 'postgres') {
      service.child.kill('SIGKILL');
      await until(() => service.child.signalCode !== null);
      service = serve(folder, port);
    }
    // Of the service that was killed nothing answers any more, and of a killed database nothing is written.
    while (!(await write(0))) {
      if (performance.now() - from > patience_ms)
        throw new Error(`nothing is written again; it said:\n${service.said()}`);
      await sleep(2);
    }
    times.push((performance.now() - from) / 1000);
    over = true;
    await Promise.all(working);
    client.close();
  }
  await service.stop();
  return {
    value: median(times),
    details: { words: `longest ${Math.max(...times).toFixed(2)} s of ${times.length}`, times },
  };
}

/** PostgreSQL's first process and all that it has started (Linux). */
function serverProcesses(folder) {
  const first = Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  const children = readdirSync('/proc').filter((name) => {
    try {
      return (
        /^\d+$/.test(name) && Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1].split(' ')[1]) === first
      );
    } catch {
      return false;
    }
  });
  return [first, ...children.map(Number)];
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

async function until(condition) {
  const from = performance.now();
  while (!condition()) {
    if (performance.now() - from > patience_ms) throw new Error('it did not happen in a minute');
    await sleep(2);
  }
}
