/** A database that has no room, memory or connection left: told as what passes, done once, and logged with its cause. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Refused } from '../client.ts';
import { eventually } from '../eventually.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  A = service.companies.A;
});
afterAll(() => service.stop());

/** From now on nothing is numbered, for want of what the SQLSTATE says. */
async function short(sqlstate: string): Promise<void> {
  await service.owner.query(`create or replace function certo.short() returns trigger language plpgsql as
    $$ begin raise exception 'no room for %', new.id using errcode = '${sqlstate}', detail = 'a value of the row'; end $$;
    create trigger short before update on certo.documents for each row when (new.number is not null)
    execute function certo.short()`);
}

const healed = () => service.owner.query('drop trigger short on certo.documents');

const linesSince = (before: number) =>
  service.logs.slice(before).map((line) => JSON.parse(line) as Record<string, unknown>);

test.each([
  ['53100', '5'],
  ['53200', '1'],
  ['53300', '1'],
  ['58030', '5'],
])('%s: 503, and when it is over the same keys are done once', async (sqlstate, retryAfter) => {
  const drafts = await Promise.all([1, 2, 3, 4].map(() => A.draft()));
  const requests = drafts.map(({ id, updatedAt }) => {
    const options = { body: { expectedUpdatedAt: updatedAt }, headers: { 'idempotency-key': uuidv7() }, mayFail: true };
    return () => A.call<InvoiceJson & Refused>('POST', `/invoices/${id}/issue`, options);
  });
  await short(sqlstate);
  const before = service.logs.length;
  // The first alone, and others together with it: what is decided ahead, the groups, and one by one.
  for (const answers of [[await requests[0]!()], await Promise.all(requests.map((send) => send()))]) {
    for (const { status, json, headers, text } of answers) {
      expect([status, json.code, headers['retry-after']]).toEqual([503, 'UNAVAILABLE', retryAfter]);
      expect(text).not.toContain('no room');
    }
  }
  // Five lines in a moment are one, and how many more there were.
  let lines: Record<string, unknown>[] = [];
  await eventually(() => {
    lines = linesSince(before);
    expect(lines.reduce((sum, { more = 1 }) => sum + Number(more), 0)).toBe(5);
  });
  expect(lines.length).toBeLessThan(5);
  const said = { level: 40, msg: 'request failed', code: 'UNAVAILABLE', sqlstate };
  for (const line of lines) expect(line).toMatchObject({ ...said, cause: expect.stringContaining('no room for') });
  expect(lines[0]).toHaveProperty('requestId');
  expect(JSON.stringify(lines)).not.toMatch(/a value of the row|"stack"/);

  await healed();
  const done = await Promise.all(requests.map((send) => send()));
  const numbers = done.map(({ status, json }) => [status, json.number]);
  expect(numbers.map(([status]) => status)).toEqual([200, 200, 200, 200]);
  const again = await Promise.all(requests.map((send) => send()));
  expect(again.map(({ status, json }) => [status, json.number])).toEqual(numbers);
  expect(new Set(numbers.map(([, number]) => number)).size).toBe(4);
});
