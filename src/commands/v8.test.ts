import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test.each([1, 4])('V8 knows every flag that a service sets on %i cores', async (cores) => {
  const file = fileURLToPath(new URL('../../dist/commands/v8.js', import.meta.url));
  const program = `import { setV8ForService } from ${JSON.stringify(file)}; setV8ForService(process.versions.v8, ${cores}); console.log('set')`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  // One that it does not know it names on stderr.
  expect([stdout, stderr]).toEqual(['set\n', '']);
});
