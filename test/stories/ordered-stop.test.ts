/** A service that was told to end lets finish what is under way, and answers what comes meanwhile on open connections. */
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  ({ A } = service.companies);
});
afterAll(() => service.stop());

const item = () => JSON.stringify({ name: uuidv7(), type: 'SERVICE', unitPrice: 10, vatRate: 'NORMAL' });
function requestText(line: string, body = ''): string {
  const fields = ['host: certo.test', `x-api-key: ${A.key}`, `content-length: ${Buffer.byteLength(body)}`];
  if (body !== '') fields.push('content-type: application/json');
  return `${line} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`;
}

/** Everything that comes until the connection ends. */
async function heardOn(caller: Socket): Promise<string> {
  return (await caller.setEncoding('utf8').toArray()).join('');
}

function expectLast(answer: string, status: number): void {
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toMatch(/^x-request-id: \S+\r$/im);
  expect(answer.match(/^connection: .*$/gim)).toEqual([expect.stringMatching(/^connection: close$/i)]);
}

test.each([
  ['a read', 'GET /company', '', 200],
  ['a write', 'POST /items', item(), 201],
  ['what is refused', 'POST /items', '{}', 400],
  ['what there is not', 'GET /nowhere', '', 404],
  ['the state of the service', 'GET /health/live', '', 200],
])('%s that has begun to arrive is answered as ever, and its connection closed', async (_, line, body, status) => {
  const other = await service.another();
  const { server } = other.app.http;
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const text = requestText(line, body);
  caller.write(text.slice(0, 5));
  const [connection] = await connected;
  await eventually(() => expect(connection.bytesRead).toBe(5));
  const closed = other.app.http.close();
  await eventually(() => expect(server.listening).toBe(false));
  const heard = heardOn(caller);
  caller.write(text.slice(5));
  expectLast(await heard, status);
  await closed;
  await other.stop();
});

test('what is under way is done, its connection closed, and nobody waited for who keeps one open', async () => {
  const other = await service.another();
  const { server } = other.app.http;
  const locker = await service.owner.connect();
  await locker.query('begin; lock table certo.items in access exclusive mode');
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  caller.write(requestText('POST /items', item()));
  const heard = heardOn(caller);
  await eventually(async () => {
    const { rowCount } = await service.owner.query(
      'select from pg_locks join pg_stat_activity a using (pid) where not granted and a.datname = current_database()',
    );
    expect(rowCount).toBe(1);
  });
  const closed = other.app.http.close();
  await eventually(() => expect(server.listening).toBe(false));
  await locker.query('rollback');
  locker.release();
  expectLast(await heard, 201);
  await closed;
  await other.stop();
});
