/** The authority as a command or the service uses it: the AT's own servers, or a simulator that is kept running. */
import { join } from 'node:path';
import type { AtGateway } from '../at/gateway.ts';
import { laterGateway, realGateway, simulatorGateway } from './authority.ts';
import { CommandError, exit } from './exit.ts';
import { controlOf, holdSimulator } from './hold-simulator.ts';
import type { House } from './house.ts';
import type { Outside } from './outside.ts';

export interface Authority {
  readonly at: AtGateway;
  /** Address where the simulator is steered; null outside the simulator, or when it is not known. */
  readonly control: string | null;
  /** Starts the simulator, if it is ours to start. Resolves when the authority can be called; rejects after a minute. */
  up(): Promise<void>;
  /** Ends calls under way (their outcome is then unknown) and makes no more. */
  hangUp(): void;
}

/** Closed again when the process ends. Opens the gateway; a simulator is started by `up`. Throws CommandError when files of the AT are wrong. */
export async function connectAuthority(
  outside: Outside,
  house: House,
  warn: (line: string) => void,
): Promise<Authority> {
  const { config } = house;
  const directory = join(house.directory, 'simulator');
  if (config.atMode !== 'simulator' || config.simulatorUrl !== undefined) {
    const gateway =
      config.simulatorUrl !== undefined && config.atMode === 'simulator'
        ? await simulatorGateway(config, directory, config.simulatorUrl)
        : await realGateway(config, warn);
    const control = config.atMode === 'simulator' ? (config.simulatorControlUrl ?? null) : null;
    outside.atEnd(async () => gateway.close());
    return { at: gateway, control, up: async () => {}, hangUp: () => gateway.close() };
  }
  const at = laterGateway('the simulator of the tax authority is not up yet');
  const open = (url: string) => simulatorGateway(config, directory, url);
  let hold: ReturnType<typeof holdSimulator> | undefined;
  outside.atEnd(async () => hold?.stop());
  return {
    at,
    control: await controlOf(directory),
    up() {
      hold ??= holdSimulator({ directory, outside, gateway: at, open, warn });
      return inTime(hold.up);
    },
    hangUp: () => at.hangUp(),
  };
}

const longest_wait_ms = 60_000;

async function inTime(up: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new CommandError(exit.environment, 'The simulator of the tax authority does not start.')),
      longest_wait_ms,
    );
  });
  await Promise.race([up, late]).finally(() => clearTimeout(timer));
}
