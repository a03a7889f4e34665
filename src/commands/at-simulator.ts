/** `certo at-simulator`: the simulated tax authority in the foreground. The service runs it as a process of its own. */
import { join, resolve } from 'node:path';
import { type Simulator, startSimulator } from '../at/simulator/simulator.ts';
import { readConfig } from '../config.ts';
import { giveAllToOwner, giveToOwner } from '../db/belongings.ts';
import { makeFolders } from '../db/data-directory.ts';
import { CommandError, exit } from './exit.ts';
import { dataDirectory } from './house.ts';
import { type Common, type Outside, remark, tell, tellJson } from './outside.ts';
import { choosePlace, readPlace, writePlace } from './simulator-ports.ts';
import { pairs } from './table.ts';

export interface SimulatorCommand extends Common {
  readonly directory?: string;
  readonly port?: number;
  readonly controlPort?: number;
  /** Ends when standard input does: the lifeline of whoever started it, which breaks however that process dies. */
  readonly untilInputEnds?: boolean;
}

/** Runs until it is asked to end. Throws CommandError when a port is taken. */
export async function atSimulator(outside: Outside, options: SimulatorCommand): Promise<number> {
  const directory = options.directory ?? join(await dataDirectory(outside, readConfig(outside.env)), 'simulator');
  await makeFolders(resolve(outside.cwd, directory), 0o700).catch((error: NodeJS.ErrnoException) => {
    const why =
      error.code === 'EEXIST' || error.code === 'ENOTDIR' ? 'is not a folder' : `cannot be made (${error.code})`;
    throw new CommandError(exit.environment, `${directory} ${why}: choose another --directory.`);
  });
  const remembered = (await readPlace(directory)) ?? (await choosePlace(directory, false));
  const port = options.port ?? remembered.port;
  const controlPort = options.controlPort ?? remembered.controlPort;
  const simulator = await start(directory, port, controlPort);
  outside.atEnd(() => simulator.close());
  await giveToOwner(directory);
  await giveToOwner(join(directory, 'ledger.jsonl'));
  await giveAllToOwner(join(directory, 'keys'));
  outside.serves();
  await writePlace(directory, {
    port: portOf(simulator.url),
    controlPort: portOf(simulator.controlUrl),
    pid: outside.pid,
  });
  if (options.untilInputEnds === true) {
    for (const event of ['end', 'error']) outside.stdin.once(event, () => outside.end(exit.ok));
    outside.stdin.resume();
  }
  announce(outside, simulator, directory, options);
  return new Promise(() => undefined);
}

function start(directory: string, port: number, controlPort: number): Promise<Simulator> {
  const chance = { now: () => new Date(), random: Math.random };
  return startSimulator({ directory, port, controlPort, ...chance }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new CommandError(
      exit.environment,
      `Port ${(error as { port?: number }).port} is taken, perhaps by the simulator of a running service: choose others with --port and --control-port.`,
    );
  });
}

function announce(outside: Outside, simulator: Simulator, directory: string, options: SimulatorCommand): void {
  const { url, controlUrl } = simulator;
  if (options.json === true) {
    tellJson(outside, { url, controlUrl, directory });
    return;
  }
  remark(outside, 'this is a simulator of the tax authority: nothing it answers has any value');
  const keys = join(directory, 'keys');
  tell(
    outside,
    pairs([
      ['Address', url],
      ['Control', controlUrl],
      ['Keys', keys],
    ]),
  );
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
