import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('V8 knows every flag that a service sets', async () => {
  const file = fileURLToPath(new URL('../../dist/commands/v8.js', import.meta.url));
  const program = `import { setV8ForService } from ${JSON.stringify(file)}; setV8ForService(process.versions.v8); console.log('set')`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  // One that it does not know it names on stderr.
  expect([stdout, stderr]).toEqual(['set\n', '']);
});
