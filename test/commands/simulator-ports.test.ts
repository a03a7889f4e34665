// Where a simulator listens is remembered, and a stranger may listen there when it is started again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, expect, test } from 'vitest';
import type { SoapGateway } from '../../src/at/soap-gateway.ts';
import { laterGateway } from '../../src/commands/authority.ts';
import { holdSimulator, type SimulatorHold } from '../../src/commands/hold-simulator.ts';
import type { Outside } from '../../src/commands/outside.ts';
import {
  choosePlace,
  controlUrl,
  readPlace,
  type SimulatorPlace,
  simulatorUrl,
  writePlace,
} from '../../src/commands/simulator-ports.ts';
import { ensureBuilt, script } from './built.ts';

let directory: string;
let stranger: Server;
let hold: SimulatorHold;
const opened: string[] = [];
const warnings: string[] = [];

beforeAll(ensureBuilt);

afterEach(async () => {
  await hold.stop();
  stranger.close();
  rmSync(directory, { recursive: true, force: true });
  opened.length = 0;
  warnings.length = 0;
});

/** Holds the simulator of a folder whose remembered port somebody else has; `pid`: of whoever listened there last. */
async function holdBesideStranger(pid: number): Promise<SimulatorPlace> {
  directory = mkdtempSync(join(tmpdir(), 'certo-ports-'));
  const { port, controlPort } = await choosePlace(directory, false);
  const place = { port, controlPort };
  await writePlace(directory, { ...place, pid });
  stranger = createServer().listen(place.port, '127.0.0.1');
  await once(stranger, 'listening');
  hold = holdSimulator({
    directory,
    outside: { node: process.execPath, script } as Outside,
    gateway: laterGateway('it is not up yet'),
    open: async (url) => {
      opened.push(url);
      return { close: () => undefined } as SoapGateway;
    },
    warn: (line) => warnings.push(line),
  });
  return place;
}

async function goneProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '0']);
  await once(child, 'exit');
  return child.pid!;
}

test('of a simulator that is gone: others are chosen, and where it is steered is said again', async () => {
  const before = await holdBesideStranger(await goneProcess());
  await hold.up;
  const after = (await readPlace(directory))!;
  expect(after.port).not.toBe(before.port);
  expect(opened).toEqual([simulatorUrl(after)]);
  expect(warnings).toEqual([expect.stringContaining(controlUrl(after))]);
  const health = await fetch(`${controlUrl(after)}/__health`);
  expect(await health.json()).toMatchObject({ url: simulatorUrl(after) });
});

test('of a simulator that lives and may be ending: they are waited for', async () => {
  const before = await holdBesideStranger(process.pid);
  // Longer than it takes to give up those of one that is gone.
  await sleep(4_000);
  expect(await readPlace(directory)).toEqual({ ...before, pid: process.pid });
  stranger.close();
  await hold.up;
  expect(opened).toEqual([simulatorUrl(before)]);
  expect(warnings).toEqual([]);
});

test('whoever waits for it to come up is not kept once it is stopped', async () => {
  await holdBesideStranger(process.pid);
  await hold.stop();
  expect(await Promise.race([hold.up.then(() => 'told'), sleep(60_000, 'kept waiting', { ref: false })])).toBe('told');
});
