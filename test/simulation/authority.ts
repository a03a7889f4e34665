/** The simulated tax authority as a part of the simulation steers it: its faults, and what it holds in the end. */
import { join } from 'node:path';
import type { FaultRule } from '../../src/at/simulator/faults.ts';
import type { DocumentEntry, SeriesEntry } from '../../src/at/simulator/ledger.ts';
import type { LoggedRequest } from '../../src/at/simulator/request-log.ts';
import { controlUrl, readPlace } from '../../src/commands/simulator-ports.ts';

export interface Authority {
  /** Plays this and nothing else from now on. */
  play(rule: FaultRule): Promise<void>;
  /** Ends faults; says how many were played since the last time. */
  heal(): Promise<number>;
  /** Calls that have met the fault so far. */
  met(): Promise<number>;
  /** The password of a sub-user; undefined: any. */
  password(username: string, password: string | undefined): Promise<void>;
  ledger(nif: string): Promise<{ series: readonly SeriesEntry[]; documents: readonly DocumentEntry[] }>;
  /** Its last thousand requests. */
  heard(): Promise<readonly LoggedRequest[]>;
}

/** That of a data folder, which runs. */
export async function authorityOf(directory: string): Promise<Authority> {
  const place = await readPlace(join(directory, 'simulator'));
  if (place === undefined) throw new Error('the simulator of this folder never ran');
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(controlUrl(place) + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`the simulator answered ${answer.status} to ${method} ${path}`);
    return (await answer.json()) as T;
  };
  const met = async (): Promise<number> => {
    const rules = await call<{ played: number }[]>('GET', '/__fault');
    return rules.reduce((sum, { played }) => sum + played, 0);
  };
  const heal = async (): Promise<number> => {
    const played = await met();
    await call('DELETE', '/__fault');
    return played;
  };
  return {
    async play(rule) {
      await heal();
      await call('PUT', '/__fault', rule);
    },
    heal,
    met,
    password: (username, password) => call('PUT', '/__accounts', { [username]: password ?? null }),
    ledger: (nif) => call('GET', `/__ledger?nif=${nif}`),
    heard: () => call('GET', '/__log?limit=1000'),
  };
}
