/** What is kept while there is no database. With a real one that goes away: test/stories/database-away.test.ts. */
import { uuidv7 } from 'uuidv7';
import { expect, test } from 'vitest';
import { DatabaseUnavailable } from '../db/errors.ts';
import type { Db } from '../db/transact.ts';
import type { Principal } from '../identity/principal.ts';
import { Releases } from './releases.ts';

const who: Principal = { kind: 'key', companyId: uuidv7(), region: 'PT', actor: 'test', scope: 'key:test' };
const claim = () => ({ operation: 'POST /test', key: uuidv7(), fingerprint: Buffer.alloc(32), fence: uuidv7() });

test('beyond a bound nothing is kept, and the end does not try each', async () => {
  let asked = 0;
  const query = () => {
    asked += 1;
    return Promise.reject(new DatabaseUnavailable('gone'));
  };
  const releases = new Releases({ read: () => ({ query }) } as unknown as Db);
  for (let i = 0; i < 10_010; i += 1) await releases.letGo('name', claim(), who);
  expect(releases.size).toBe(10_000);
  asked = 0;
  await releases.close();
  expect(asked).toBe(2);
});
