// Builds dist/ from src/: TypeScript by tsc (incremental), then the files that travel beside the code.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(fileURLToPath(import.meta.url));
const at = (...parts) => join(root, ...parts);

// A renamed source must not leave its old output behind: stale outputs are removed before tsc runs.
for (const file of files(at('dist'))) {
  const source = at('src', file.slice(at('dist').length + 1)).replace(/\.js(\.map)?$/, '.ts');
  if (/\.js(\.map)?$/.test(file) && !existsSync(source)) rmSync(file);
}

const tsc = spawnSync(process.execPath, [at('node_modules/typescript/bin/tsc'), '-p', at('tsconfig.json')], {
  stdio: 'inherit',
});
if (tsc.status !== 0) process.exit(tsc.status ?? 1);

const assets = /\.(sql|typ|css|svg|ttf|json|html)$/;
for (const file of files(at('src'))) {
  if (!assets.test(file)) continue;
  const target = at('dist', file.slice(at('src').length + 1));
  if (!existsSync(target) || statSync(target).mtimeMs < statSync(file).mtimeMs) cpSync(file, target);
}

function files(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
