/**
 * Where the simulator of a folder listens: chosen once and remembered, so that addresses stay the same over restarts.
 * The ports are also the lock: two simulators on one folder would need the same ones.
 */
import { link, mkdir, rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { giveToOwner } from '../db/belongings.ts';
import { readOwnFile, writeAside } from '../db/data-directory.ts';

export interface SimulatorPlace {
  readonly port: number;
  readonly controlPort: number;
  /** The process that listens there, or last did. */
  readonly pid?: number | undefined;
}

const file = (directory: string): string => join(directory, 'simulator.json');

/** What was remembered; undefined when nothing was, or it can't be read. */
export async function readPlace(directory: string): Promise<SimulatorPlace | undefined> {
  try {
    const { port, controlPort, pid } = JSON.parse(await readOwnFile(file(directory)));
    return isPort(port) && isPort(controlPort) ? { port, controlPort, pid } : undefined;
  } catch {
    return undefined;
  }
}

/** Remembers new ports. `instead` false: whoever was first has chosen. */
export async function choosePlace(directory: string, instead: boolean): Promise<SimulatorPlace> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await giveToOwner(directory);
  let controlPort = 0;
  const port = await freePort('127.0.0.1', async () => {
    controlPort = await freePort();
  });
  const place = { port, controlPort };
  await writePlace(directory, place, instead);
  return (await readPlace(directory)) ?? place;
}

/** Written aside first: a reader sees all of it or nothing. */
export async function writePlace(directory: string, place: SimulatorPlace, instead = true): Promise<void> {
  const give = (aside: string, path: string): Promise<void> =>
    instead
      ? rename(aside, path)
      : link(aside, path).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') throw error;
        });
  await writeAside(file(directory), `${JSON.stringify(place)}\n`, give);
}

/** What the gateway calls. */
export const simulatorUrl = (place: SimulatorPlace): string => `https://127.0.0.1:${place.port}`;
/** Where its faults are set and its ledger is read. */
export const controlUrl = (place: SimulatorPlace): string => `http://127.0.0.1:${place.controlPort}`;

/** Whether the process that listens there, or last did, lives. */
export const stillLives = ({ pid }: SimulatorPlace, lives: (pid: number) => boolean): boolean =>
  pid !== undefined && lives(pid);

/** Whether the simulator of that place answers: its process lives and its control port tells the same address. */
export async function isRunning(place: SimulatorPlace, lives: (pid: number) => boolean): Promise<boolean> {
  if (!stillLives(place, lives)) return false;
  try {
    const answer = await fetch(`${controlUrl(place)}/__health`, { signal: AbortSignal.timeout(2_000) });
    const { url } = (await answer.json()) as { url?: unknown };
    return url === simulatorUrl(place);
  } catch {
    return false;
  }
}

/** A port that is free now. `meanwhile` runs while it is still held, so that what it asks for is another one. */
export function freePort(host = '127.0.0.1', meanwhile?: () => Promise<void>): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, host, async () => {
      const address = probe.address();
      await meanwhile?.().catch(reject);
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) < 65536;
}
