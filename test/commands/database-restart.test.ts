/** PostgreSQL is stopped under a running service, which starts it again: whoever was told to try again does, with the same key. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { type CommandLine, openCommandLine, type Service } from './command-line.ts';

let line: CommandLine;
let service: Service;
let directory: string;
let apiKey: string;

beforeAll(async () => {
  line = await openCommandLine();
  directory = line.folder('data');
  service = await line.serve({ CERTO_DATA_DIR: directory });
  apiKey = (await service.says(/^ {2}(svc_sk_\w+)$/m))[1]!;
});
afterAll(() => line.close());

const postmaster = (): number =>
  Number(readFileSync(join(directory, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

async function superuser(): Promise<Client> {
  const client = new Client({ host: join(directory, 'socket'), port: 5432, database: 'certo', user: 'postgres' });
  // Its server is about to go.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function post(key: string, name: string) {
  const answer = await fetch(`${service.baseUrl}/items`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ name, type: 'SERVICE', unitPrice: 10, vatRate: 'NORMAL' }),
  });
  const { status, headers } = answer;
  return {
    status,
    wait: headers.get('retry-after'),
    replayed: headers.get('idempotent-replayed'),
    text: await answer.text(),
  };
}

test.each(['SIGINT', 'SIGKILL'] as const)(
  'a write that waits when PostgreSQL gets %s is done when it is repeated',
  async (signal) => {
    const [key, name] = [uuidv7(), uuidv7()];
    const watcher = await superuser();
    // It waits within its own session, as long as this server runs. A lock would go with its holder, whom the server may end
    // first: then the write goes on to its commit, and its outcome is unknown indeed.
    const { rows } = await watcher.query<{ start: string }>('select pg_postmaster_start_time()::text as start');
    await watcher.query(`create or replace function certo.waits() returns trigger language plpgsql as $$ begin
        if pg_postmaster_start_time() = '${rows[0]!.start}' then perform pg_sleep(60); end if;
        return new;
      end $$;
      create or replace trigger waits before insert on certo.items for each row execute function certo.waits()`);
    const first = post(key, name);
    await eventually(async () =>
      expect((await watcher.query(`select from pg_stat_activity where wait_event = 'PgSleep'`)).rowCount).toBe(1),
    );
    process.kill(postmaster(), signal);
    expect(await first).toMatchObject({ status: 503, wait: '1' });
    await watcher.end().catch(() => undefined);

    const again = await eventually(async () => {
      const answer = await post(key, name);
      expect(answer.status).not.toBe(503);
      return answer;
    });
    expect(again, again.text).toMatchObject({ status: 201, replayed: null });
    expect(await post(key, name)).toMatchObject({ status: 201, replayed: 'true', text: again.text });
  },
);

test('and the service ends in order afterwards', async () => {
  expect(await service.end()).toBe(0);
});
