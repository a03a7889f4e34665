// `npm run sim`: the parts are TypeScript over the built program, so they are stripped of their types first.
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));
const program = join(root, 'artifacts', 'sim', `program-${process.pid}`);
mkdirSync(program, { recursive: true });
process.on('exit', () => rmSync(program, { recursive: true, force: true }));
// Imports of src/ find the built files, with what travels beside them.
symlinkSync(join(root, 'dist'), join(program, 'src'));
const options = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2023,
  rewriteRelativeImportExtensions: true,
};
for (const name of readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })) {
  // Beside the simulation only what stands at the top of test/: its clients and sockets.
  if (!/^(simulation\/.*|[^/]+)\.ts$/.test(name) || name.endsWith('.test.ts')) continue;
  const { outputText } = ts.transpileModule(readFileSync(join(root, 'test', name), 'utf8'), {
    compilerOptions: options,
  });
  const target = join(program, 'test', name.replace(/\.ts$/, '.js'));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, outputText);
}
const { simulate } = await import(pathToFileURL(join(program, 'test/simulation/runner.js')).href);
process.exit(await simulate(process.argv.slice(2), join(root, 'artifacts', 'sim')));
