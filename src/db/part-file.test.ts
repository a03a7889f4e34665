import { expect, test } from 'vitest';
import { partOf } from './part-file.ts';

test('a part is called after its file, and never longer than a name may be', () => {
  expect(partOf('/a/books.backup', 4)).toMatch(/^\/a\/books\.backup\.[0-9a-f]{8}\.part$/);
  expect(partOf(`/a/${'x'.repeat(250)}`, 8)).toMatch(/^\/a\/x{233}\.[0-9a-f]{16}\.part$/);
  // A sign of three bytes is there or not there.
  expect(partOf('€'.repeat(85), 4)).toMatch(/^€{80}\.[0-9a-f]{8}\.part$/);
});
