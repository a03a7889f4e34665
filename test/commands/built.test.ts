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
});

test('in a folder that was removed meanwhile it says so, and is no answer that says no', () => {
  const inside = (command: string) =>
    spawnSync(
      '/bin/sh',
      ['-c', `cd "$(mktemp -d)" && rmdir "$PWD" && exec "${process.execPath}" "${script}" ${command}`],
      {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] },
      },
    );
  expect(inside('--version')).toMatchObject({ status: 0, stderr: '' });
  expect(inside('verify')).toMatchObject({
    status: 3,
    stderr: 'certo: The folder that this was started in is gone: change to one that is there (cd), and try again.\n',
  });
});
