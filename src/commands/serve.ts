/** `certo serve`: the whole service, from the data folder to the open port, and the way back. */
import type { Logger } from 'pino';
import { type Config, readConfig } from '../config.ts';
import type { Authority } from './connect-authority.ts';
import type { Demo } from './demo-file.ts';
import { endingOf, exit } from './exit.ts';
import { dataDirectory, type House, openHouse } from './house.ts';
import { bindMode, checkClock } from './installation.ts';
import { openLog } from './logging.ts';
import { masterKeyFile, openMasterKey } from './master-key.ts';
import type { OpenApp } from './open-app.ts';
import { type Common, type Outside, tell, tellJson } from './outside.ts';
import { restoresOf, restoreWords } from './restores.ts';
import { baseUrlOf, forgetRunning, localUrl, tellRunning } from './running.ts';
import { describeDemo, describeService, noCompany, whereTheDataIs } from './serve-words.ts';
import { freePort } from './simulator-ports.ts';
import { standbysOf, standbyWords } from './standby.ts';

/** Resolves never: the service ends when the process is asked to. */
export async function serve(outside: Outside, options: Common): Promise<number> {
  const config = readConfig(outside.env);
  const log = openLog(config.logLevel, outside.stderr);
  const say = (words: string, facts: Record<string, unknown>): void =>
    options.json === true ? tellJson(outside, facts) : tell(outside, words);
  const directory = await dataDirectory(outside, config);
  const data = whereTheDataIs(config, directory);
  say(data.words, data.facts);

  // The larger half of a start is loading programs: that goes on while the database comes up.
  const programs = Promise.all([import('./open-app.ts'), import('./connect-authority.ts')]);
  programs.catch(() => undefined);
  let isOpen = false;
  const house = await openHouse(outside, config, directory, {
    as: 'service',
    // Once it was there, whatever is said of it is trouble.
    log: (line) => (isOpen ? log.warn(line) : log.info(line)),
    onLost: (error) => end(outside, error, log),
  });
  isOpen = true;
  await bindMode(house.owner, config.atMode);
  await checkClock(house.owner, config.atMode);
  const restored = restoreWords(await restoresOf(house.owner));
  if (restored !== undefined) log.warn(restored);
  const standby = standbyWords(await standbysOf(house.owner));
  if (standby !== undefined) log.warn(standby);
  const master = await openMasterKey(masterKeyFile(config.masterKeyFile, house.directory), house.owner);
  const [{ openApp }, { connectAuthority }] = await programs;
  const authority = await connectAuthority(outside, house, (line) => log.warn(line));
  const port = config.port === 0 ? await freePort(config.host) : config.port;
  const baseUrl = baseUrlOf(config, port);
  const meter = { observe: (_route: string, _status: number, _seconds: number): void => undefined };
  const observe: typeof meter.observe = (...finished) => meter.observe(...finished);
  const app = await openApp(outside, house, { at: authority.at, master, baseUrl, log, observe, limited: true });
  await open(outside, house, app, authority, port, log);
  outside.serves();
  const local = localUrl(config.host, port);
  await tellRunning(house.directory, { baseUrl, local, pid: outside.pid });
  outside.atEnd(() => forgetRunning(house.directory, outside.pid));
  const metricsPort = await openFigures(outside, config, house, meter, log);
  const words = describeService({ atMode: config.atMode, metricsPort, baseUrl, local, control: authority.control });
  say(words.words, words.facts);

  // What nobody waits for to be answered.
  await firstSteps(outside, house, app, authority, baseUrl, log, say);
  return new Promise(() => undefined);
}

/** Listens and starts the clock; at the end stops accepting, lets requests finish and hangs up. */
async function open(outside: Outside, house: House, app: OpenApp, authority: Authority, port: number, log: Logger) {
  const { config } = house;
  let clock: ReturnType<OpenApp['startClock']> | undefined;
  outside.atEnd(async () => {
    // Without a line it would look as if the machine had failed; one that never listened has said why.
    if (clock !== undefined) log.info('ending in order: no new connections, requests under way are finished');
    await finish(app);
    // Reports under way would be waited for as long as the AT takes; unanswered ones are sent again.
    authority.hangUp();
    await clock?.stop();
  });
  await app.http.listen({ host: config.host, port });
  if (config.databaseUrl === undefined) await freeLeases(house);
  clock = app.startClock();
}

/**
 * Frees what a process that was killed had leased for reporting, so that it is told at once and not after the lease. Only
 * where no other process can be reporting: the embedded database serves one service at a time.
 */
async function freeLeases({ owner }: House): Promise<void> {
  await owner.query(
    `update certo.documents set at_lease = null, at_next_at = null where at_status = 'PENDING' and at_lease is not null`,
  );
}

const longest_finish_ms = 10_000;

async function finish({ http }: OpenApp): Promise<void> {
  const late = setTimeout(() => http.server.closeAllConnections(), longest_finish_ms);
  await http.close();
  clearTimeout(late);
}

/** The port that the figures are at; undefined where there are none. */
async function openFigures(
  outside: Outside,
  { metricsPort }: Config,
  house: House,
  meter: { observe: (route: string, status: number, seconds: number) => void },
  log: Logger,
): Promise<number | undefined> {
  if (metricsPort === 0) return undefined;
  try {
    const { openMetrics } = await import('./metrics.ts');
    const metrics = await openMetrics(house.owner, metricsPort);
    outside.atEnd(() => metrics.close());
    meter.observe = metrics.observe;
    return metricsPort;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    log.warn(`no metrics: port ${metricsPort} cannot be opened (${code}); CERTO_METRICS_PORT names another, 0 none`);
    return undefined;
  }
}

/** Against the simulator an empty database gets a company to try things with; a fault there stops nothing. */
async function firstSteps(
  outside: Outside,
  house: House,
  app: OpenApp,
  authority: Authority,
  baseUrl: string,
  log: Logger,
  say: (words: string, facts: Record<string, unknown>) => void,
): Promise<void> {
  const up = authority.up();
  let isEnding = false;
  outside.atEnd(async () => {
    isEnding = true;
  });
  let isMaking = false;
  try {
    const { readDemo } = await import('./demo-file.ts');
    const { rows } = await house.owner.query('select 1 from certo.companies limit 1');
    const known = (await readDemo(house.directory))?.companies;
    // A demo that was begun and never finished (a crash) is finished now.
    const wanted = rows.length === 0 || (known !== undefined && known.A === undefined);
    if (wanted && house.config.atMode === 'simulator') {
      isMaking = true;
      const made = await makeDemo(house, app, authority, baseUrl);
      isMaking = false;
      const { words, facts } = describeDemo(made, baseUrl);
      say(words, facts);
    } else if (rows.length === 0) {
      say(noCompany.words, noCompany.facts);
    }
    await up;
  } catch (error) {
    // Everything is closed under it then: no fault, and the next start goes on where this one ended.
    if (isEnding) return log.info('ended before its first company was ready: the next start goes on with it');
    for (const line of endingOf(error).lines) log.error(line);
    if (isMaking) log.warn('the demo company is not ready: certo demo goes on with it, and so does the next start');
  }
}

async function makeDemo(house: House, app: OpenApp, authority: Authority, baseUrl: string): Promise<Demo> {
  const { ensureDemo } = await import('./demo.ts');
  const { owner, directory } = house;
  const world = { owner, http: app.http, series: app.series, simulatorUp: () => authority.up() };
  return ensureDemo(world, directory, ['A'], { baseUrl, control: authority.control });
}

function end(outside: Outside, error: Error, log: Logger): void {
  const { code, lines } = endingOf(error);
  for (const line of lines) log.fatal(line);
  outside.end(code === exit.fault ? exit.environment : code);
}
