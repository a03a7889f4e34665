/** A command line on the service's database, in this process, with the service's master key. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ended, runInProcess } from '../commands/in-process.ts';
import type { Service } from '../service.ts';

export async function runCommand(service: Service, args: readonly string[]): Promise<Ended> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-command-'));
  const masterKey = join(folder, 'master.key');
  writeFileSync(masterKey, service.masterKeyHex, { mode: 0o600 });
  const ended = await runInProcess({ database: service, folder }, args, { env: { CERTO_MASTER_KEY_FILE: masterKey } });
  rmSync(folder, { recursive: true, force: true });
  return ended;
}
