/** A first start that the tax authority leaves alone: whoever waits for the key of the demo company is told what to do. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { type CommandLine, openCommandLine, type Service, takenPort } from './command-line.ts';

let line: CommandLine;

beforeAll(async () => {
  line = await openCommandLine();
});
afterAll(() => line.close());

const theKey = /^ {2}svc_sk_\w+$/m;

async function served(env: Record<string, string>): Promise<Service> {
  const service = await line.serve(env);
  await service.says(theKey);
  return service;
}

test('where it does not answer, the log says how the company is made all the same', async () => {
  // Has the files of a simulator, as one that runs elsewhere would have given them.
  const elsewhere = line.folder('elsewhere');
  expect(await (await served({ CERTO_DATA_DIR: elsewhere })).end()).toBe(0);
  const key = (name: string): string => join(elsewhere, 'simulator', 'keys', name);
  const nobody = await takenPort();
  nobody.release();
  const young = { CERTO_DATA_DIR: line.folder('young') };
  const first = await line.serve({
    ...young,
    CERTO_AT_SIMULATOR_URL: `https://127.0.0.1:${nobody.port}`,
    CERTO_AT_CERTIFICATE_FILE: key('client.pem'),
    CERTO_AT_CERTIFICATE_KEY_FILE: key('client.key'),
    CERTO_AT_PUBLIC_KEY_FILE: key('at-public.pem'),
    CERTO_AT_CA_FILE: key('ca.pem'),
  });
  await eventually(() => expect(first.err()).toMatch(/tax authority does not answer/));
  await eventually(() => expect(first.err()).toMatch(/certo demo goes on with it, and so does the next start/));
  expect(await first.end()).toBe(0);

  expect(await (await served(young)).end()).toBe(0);
});
