import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { ensureBuilt, script } from './built.ts';

test('the built program starts by its name, as after npm link, which marks it only once', async () => {
  await ensureBuilt();
  const { error, status, stdout } = spawnSync(script, ['--version'], { encoding: 'utf8' });
  expect({ error, status, stdout }).toEqual({
    error: undefined,
    status: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  });
}, 180_000);
