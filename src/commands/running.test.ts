import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { forgetRunning, runningBaseUrl, tellRunning } from './running.ts';

const directory = mkdtempSync(join(tmpdir(), 'certo-running-'));
const server = createServer((_request, response) => response.end());
let local: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  local = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(directory, { recursive: true });
});

test('a service that another one has relieved does not make that one forgotten', async () => {
  await tellRunning(directory, { baseUrl: 'https://old.example', local, pid: 1 });
  await tellRunning(directory, { baseUrl: 'https://new.example', local, pid: 2 });
  await forgetRunning(directory, 1);
  expect(await runningBaseUrl(directory)).toBe('https://new.example');
  await forgetRunning(directory, 2);
  expect(await runningBaseUrl(directory)).toBeUndefined();
  // Nothing is there any more.
  await forgetRunning(directory, 2);
});
