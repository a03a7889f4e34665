// Makes the certification dossier: plays the documents that the tax authority asks for against the simulator, checks
// each of them (test/certification/documents.test.ts), and writes the folder when all of it has passed.
//   npm run certification -- [--out DIR] [--producer NAME] [--producer-nif NIF]
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
const usage = `Makes the certification dossier: the PDF of each document, the SAF-T of all, the public key, an index page.

  npm run certification -- [options]

  --out DIR           folder to write, or to replace when it holds a dossier (artifacts/certification)
  --producer NAME     name of the producer, in the SAF-T header (Certo)
  --producer-nif NIF  NIF of the producer, in the SAF-T header
  --help              this text`;

const text = { type: 'string' };
const options = { out: text, producer: text, 'producer-nif': text, help: { type: 'boolean' } };
let given;
try {
  given = parseArgs({ options }).values;
} catch (error) {
  console.error(`certification: ${error.message}\n\n${usage}`);
  process.exit(2);
}
if (given.help) {
  console.log(usage);
  process.exit(0);
}

const out = resolve(given.out ?? fileURLToPath(new URL('../../artifacts/certification', import.meta.url)));
if (existsSync(out) && readdirSync(out).length > 0 && !existsSync(`${out}/index.html`)) {
  console.error(`certification: ${out} is not empty and holds no dossier: choose another folder.`);
  process.exit(2);
}
const env = { ...process.env, CERTIFICATION_OUT: out };
if (given.producer !== undefined) env.CERTIFICATION_PRODUCER = given.producer;
if (given['producer-nif'] !== undefined) env.CERTIFICATION_PRODUCER_NIF = given['producer-nif'];
const started = Date.now();
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/certification/documents.test.ts'], {
  cwd: root,
  env,
  stdio: 'inherit',
});
const written = status === 0 && existsSync(`${out}/index.html`) && readdirSync(out).length > 4;
if (!written) {
  rmSync(`${out}.part`, { recursive: true, force: true });
  console.error('certification: not everything the dossier has to show is right; nothing was written.');
  process.exit(status === 0 ? 70 : (status ?? 70));
}
const seconds = Math.round((Date.now() - started) / 1000);
console.log(`The dossier is in ${out} (${readdirSync(out).length} files, ${seconds} s). Open index.html.`);
