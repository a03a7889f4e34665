/** A process that holds an embedded database, for tests that kill it. Arguments: mode, data folder. "stop" on stdin ends it. */
import { createInterface } from 'node:readline';
import { startEmbedded, useEmbedded } from '../src/db/embedded.ts';

const [mode, dataDirectory = ''] = process.argv.slice(2);
const options = { dataDirectory, uid: process.getuid?.() ?? 0, log: () => undefined };

function say(what: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

try {
  const held = await (mode === 'service' ? startEmbedded(options) : useEmbedded(options));
  say({ adopted: held.adopted, connection: held.connection });
  createInterface({ input: process.stdin }).once('line', () => {
    void held.stop().then(() => process.exit(0));
  });
} catch (error) {
  say({ error: (error as Error).name, message: (error as Error).message });
}
