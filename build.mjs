// Builds dist/ from src/: TypeScript by tsc (incremental), the files that travel beside the code, then the bundles.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

// Packages of several hundred small modules, each a file to find, read and compile at every start: one file each.
// Together 350 ms of a start of 1.6 s on the slowest machine it was measured on, and 40 ms as bundles.
const bundled = ['typebox', 'kysely'];
const bundles = 'bundles';

const begun = new Date();
const root = dirname(fileURLToPath(import.meta.url));
const at = (...parts) => join(root, ...parts);

// A renamed source must not leave its old output behind: stale outputs are removed before tsc runs.
for (const file of files(at('dist'))) {
  const name = file.slice(at('dist').length + 1);
  const source = at('src', name).replace(/\.js(\.map)?$/, '.ts');
  if (/\.js(\.map)?$/.test(file) && !name.startsWith(bundles) && !existsSync(source)) rmSync(file);
}

const tsc = spawnSync(process.execPath, [at('node_modules/typescript/bin/tsc'), '-p', at('tsconfig.json')], {
  stdio: 'inherit',
});
if (tsc.status !== 0) process.exit(tsc.status ?? 1);

const assets = /\.(sql|css|svg|ttf|json|html)$/;
for (const file of files(at('src'))) {
  if (!assets.test(file)) continue;
  const target = at('dist', file.slice(at('src').length + 1));
  if (!existsSync(target) || statSync(target).mtimeMs < statSync(file).mtimeMs) cpSync(file, target);
}

await Promise.all(bundled.map(bundle));
const named = new RegExp(`(\\bfrom |\\bimport\\()'(${bundled.join('|')})'`, 'g');
for (const file of files(at('dist'))) {
  if (!file.endsWith('.js') || file.startsWith(at('dist', bundles))) continue;
  const text = readFileSync(file, 'utf8');
  const to = relative(dirname(file), at('dist', bundles)).replaceAll('\\', '/');
  const pointed = text.replace(
    named,
    (_, before, name) => `${before}'${to.startsWith('.') ? to : `./${to}`}/${name}.js'`,
  );
  if (pointed !== text) writeFileSync(file, pointed);
}

// What npm link marked is gone with a dist/ that is made from nothing, and the link stays.
chmodSync(at('dist/main.js'), 0o755);

// When the sources were read: who needs the program built (test/commands/built.ts) builds no second time. A source that was
// changed in the meantime is newer.
writeFileSync(at('dist/.built'), '');
utimesSync(at('dist/.built'), begun, begun);

/** One package as one file, made anew when another version of it is installed. */
async function bundle(name) {
  const { version } = JSON.parse(readFileSync(at('node_modules', name, 'package.json'), 'utf8'));
  const file = at('dist', bundles, `${name}.js`);
  const banner = `// ${name} ${version}`;
  if (existsSync(file) && readFileSync(file, 'utf8').startsWith(`${banner}\n`)) return;
  const build = await rolldown({ input: name, cwd: root, platform: 'node' });
  await build.write({
    file,
    format: 'esm',
    minify: { mangle: false, compress: false, codegen: true },
    postBanner: banner,
  });
  await build.close();
}

function files(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
