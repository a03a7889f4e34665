/** Where the service of a data folder can be reached: told by the service, asked by commands. */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { readOwnFile, writeAside } from '../db/data-directory.ts';

interface Running {
  readonly baseUrl: string;
  /** Where it listens, as seen from this machine. */
  readonly local: string;
  readonly pid: number;
}

const file = (directory: string): string => join(directory, 'service.json');

/** Remembers it in the data folder, in place of what stood there: a link would lead root to any file. */
export async function tellRunning(directory: string, running: Running): Promise<void> {
  await writeAside(file(directory), `${JSON.stringify(running)}\n`, rename);
}

/** Also when nothing was remembered. What another process has told since stays: where one relieves the other both are there. */
export async function forgetRunning(directory: string, pid: number): Promise<void> {
  const told = await readOwnFile(file(directory)).then(
    (text) => JSON.parse(text) as Running,
    () => undefined,
  );
  if (told?.pid === pid) await rm(file(directory), { force: true });
}

/** The base address of the service that runs on this folder; undefined when none answers. */
export async function runningBaseUrl(directory: string): Promise<string | undefined> {
  try {
    const { baseUrl, local } = JSON.parse(await readOwnFile(file(directory))) as Running;
    const answer = await fetch(`${local}/health/live`, { signal: AbortSignal.timeout(2_000) });
    return answer.ok ? baseUrl : undefined;
  } catch {
    return undefined;
  }
}

/** The address of this machine itself for a service that listens on `host`. */
export function localUrl(host: string, port: number): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** As configured, else that of this machine with the given port; without a trailing slash. */
export function baseUrlOf(config: Config, port: number): string {
  return config.baseUrl ?? localUrl(config.host, port);
}
