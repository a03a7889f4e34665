/**
 * Keeps a simulator running for a service or a command: uses the one that runs on the folder already, else starts one as
 * a child process, and starts it again when it ends. Nobody waits for it: the gateway answers "unknown" until it is up.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SoapGateway } from '../at/soap-gateway.ts';
import { isAlive } from '../db/cluster.ts';
import type { LaterGateway } from './authority.ts';
import type { Outside } from './outside.ts';
import {
  choosePlace,
  controlUrl,
  isRunning,
  readPlace,
  type SimulatorPlace,
  simulatorUrl,
  stillLives,
} from './simulator-ports.ts';

export interface SimulatorHold {
  /** The first time it is up, or stopped: calls then end as unknown. Never rejects; waits as long as it takes. */
  readonly up: Promise<void>;
  /** Ends our own child; one that was running already is left alone. */
  stop(): Promise<void>;
}

export interface HoldOptions {
  readonly directory: string;
  readonly outside: Outside;
  readonly gateway: LaterGateway;
  readonly open: (url: string) => Promise<SoapGateway>;
  readonly warn: (line: string) => void;
}

/**
 * After so many failures in a row the ports are taken by a stranger: sooner where the process that listened there last is
 * gone, since where it lives it may just be ending.
 */
const patience = { gone: 4, lives: 8 };

/** Goes on until `stop`; what it can't do it says through `warn`. */
export function holdSimulator(options: HoldOptions): SimulatorHold {
  const { directory, gateway, warn } = options;
  const stopping = new AbortController();
  let isUp: () => void = () => undefined;
  const up = new Promise<void>((resolve) => {
    isUp = resolve;
  });
  let child: Child | undefined;

  async function attach(place: SimulatorPlace): Promise<void> {
    gateway.use(await options.open(simulatorUrl(place)));
    isUp();
  }

  async function useRunning(place: SimulatorPlace): Promise<void> {
    await attach(place);
    while (!stopping.signal.aborted && (await isRunning(place, isAlive))) await pause(1_000);
  }

  /** Runs our own until it ends. False when it did not come up, with the line it said. */
  async function runOwn(place: SimulatorPlace): Promise<string | undefined> {
    if (stopping.signal.aborted) return undefined;
    child = startChild(options, place);
    if (!(await child.listening)) return (await child.ended) || 'it said nothing';
    await attach(place);
    const line = await child.ended;
    if (!stopping.signal.aborted) warn(`the simulator of the tax authority ended (${line}); it is started again`);
    return undefined;
  }

  /** Its files are in the data folder, whose disk may be full for a while. */
  async function keepAlways(): Promise<void> {
    for (let said = ''; !stopping.signal.aborted; ) {
      try {
        await keep();
      } catch (error) {
        const { message } = error as Error;
        if (message !== said)
          warn(`the simulator of the tax authority cannot be kept running, and is tried again: ${message}`);
        said = message;
        await pause(1_000);
      }
    }
  }

  async function keep(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      const place = (await readPlace(directory)) ?? (await choosePlace(directory, false));
      if (await isRunning(place, isAlive)) {
        await useRunning(place);
        continue;
      }
      const problem = await runOwn(place);
      failures = problem === undefined ? 0 : failures + 1;
      if (problem === undefined || stopping.signal.aborted) continue;
      if (!/is taken/.test(problem)) warn(`the simulator of the tax authority does not start: ${problem}`);
      else if (failures >= (stillLives(place, isAlive) ? patience.lives : patience.gone)) {
        await moveElsewhere();
        failures = 0;
      }
      await pause(Math.min(100 * 2 ** failures, 10_000));
    }
  }

  async function moveElsewhere(): Promise<void> {
    const chosen = await choosePlace(directory, true);
    warn(
      `the ports of the simulator of the tax authority are taken; from now on it is steered at ${controlUrl(chosen)}`,
    );
  }

  const pause = (milliseconds: number): Promise<void> =>
    sleep(milliseconds, undefined, { signal: stopping.signal }).catch(() => undefined);
  const kept = keepAlways();
  return {
    up,
    async stop() {
      stopping.abort();
      gateway.hangUp();
      // Whoever waits for it holds a connection that the end of the process waits for.
      isUp();
      await child?.stop();
      await kept;
    },
  };
}

/** Where the simulator of a folder can be steered, whether it runs or not. */
export async function controlOf(directory: string): Promise<string> {
  return controlUrl((await readPlace(directory)) ?? (await choosePlace(directory, false)));
}

interface Child {
  /** True when it listens, false when it ended before. */
  readonly listening: Promise<boolean>;
  /** The last line it said. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

function startChild({ directory, outside }: HoldOptions, place: SimulatorPlace): Child {
  const args = ['at-simulator', '--json', '--until-input-ends', '--directory', directory];
  const ports = ['--port', String(place.port), '--control-port', String(place.controlPort)];
  const child: ChildProcess = spawn(outside.node, [outside.script, ...args, ...ports], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // It needs nothing of our environment, least of all its secrets.
    env: {},
    cwd: '/',
    // A process group of its own: Ctrl-C in the terminal is for the service, which then ends it in order.
    detached: true,
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000);
  });
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', () => resolve(said.trim().split('\n').at(-1) ?? ''));
  });
  const listening = new Promise<boolean>((resolve) => {
    child.stdout?.once('data', () => resolve(true));
    void ended.then(() => resolve(false));
  });
  return {
    listening,
    ended,
    async stop() {
      child.stdin?.end();
      const late = setTimeout(() => child.kill('SIGKILL'), 3_000);
      await ended;
      clearTimeout(late);
    },
  };
}
