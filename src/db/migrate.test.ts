import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../test/database.ts';

let base: TestDatabase;
beforeAll(async () => {
  const t = performance.now();
  base = await testDatabase();
  console.log('clone', performance.now() - t);
});
afterAll(() => base.drop());

test('x', async () => {
  expect((await base.ownerPool.query('select current_user as u')).rows).toEqual([{ u: 'certo_owner' }]);
});
