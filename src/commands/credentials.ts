/** `certo company credentials`: the company's sub-user at the AT, tried at once. The password never stands in argv. */
import { createInterface } from 'node:readline';
import { setAtCredentials } from '../operations/company/create-company.ts';
import { compareSeries, type SyncResult } from '../operations/series/registration.ts';
import { connectSeries } from './connect-series.ts';
import { CommandError, exit } from './exit.ts';
import { readGiven, secret } from './given-file.ts';
import { enterHouse, findCompany } from './guest.ts';
import { type Common, type Outside, tell, tellJson } from './outside.ts';

export interface CredentialOptions extends Common {
  readonly username: string;
  readonly passwordFile?: string;
}

const longest_file_bytes = 4096;

const answers: Readonly<Record<SyncResult, readonly [code: number, words: string]>> = {
  ok: [exit.ok, 'The AT accepted them, and its series are those known here.'],
  differ: [
    exit.no,
    "The AT accepted them, but series here differ from the AT's. Compare them (certo series list) with the tax portal:",
  ],
  'wrong-credentials': [
    exit.no,
    'The AT refused them: wrong user or password. Set the right ones; nothing is sent until then.',
  ],
  'no-credentials': [exit.no, 'There are none: they were taken away while they were tried.'],
  unreachable: [
    exit.environment,
    'They are kept; the AT gives no answer at the moment. The service tries them as soon as it does.',
  ],
};

/**
 * Kept whatever the AT says of them; ends with 1 when it refuses them or a series differs, 3 when it gives no answer.
 */
export async function credentials(outside: Outside, options: CredentialOptions, company: string): Promise<number> {
  const house = await enterHouse(outside);
  const { id } = await findCompany(house.owner, company);
  const password = await readPassword(outside, options.passwordFile);
  const series = await connectSeries(outside, house);
  await setAtCredentials(house.owner, series.master, id, { username: options.username, password });
  await series.up();
  const { result, differing } = await compareSeries(series, id);
  const [code, words] = answers[result];
  const named = result === 'differ' ? { series: differing } : {};
  if (options.json === true) tellJson(outside, { result, ...named });
  else for (const line of [words, ...differing]) tell(outside, line);
  return code;
}

async function readPassword(outside: Outside, file: string | undefined): Promise<string> {
  const text = file === undefined ? await readInput(outside) : (await readGiven(file, secret)).toString('utf8');
  const password = text.replace(/\r?\n$/, '');
  if (password === '' || /[\r\n]/.test(password) || text.length > longest_file_bytes) {
    throw new CommandError(exit.usage, 'The password must be one line of text.');
  }
  return password;
}

async function readInput({ stdin, stderr }: Outside): Promise<string> {
  if (stdin.isTTY === true) return askHidden(stdin, stderr);
  let text = '';
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > longest_file_bytes) break;
  }
  return text;
}

/** Asks at the terminal without showing what is typed. */
function askHidden(stdin: Outside['stdin'], stderr: Outside['stderr']): Promise<string> {
  stderr.write('Password: ');
  const lines = createInterface({ input: stdin, terminal: true });
  return new Promise((resolve, reject) => {
    lines.once('line', (line) => {
      stderr.write('\n');
      resolve(line);
      lines.close();
    });
    lines.once('SIGINT', () => {
      lines.close();
      reject(new CommandError(exit.usage, 'Given up.'));
    });
  });
}
