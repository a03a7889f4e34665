/** Our TypeScript as files that plain node can run, for tests that need another process. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Writes the named folders and files (from the project's root) into a folder of the project; `remove` takes it away. */
export function transpiled(...sources: string[]): { readonly folder: string; remove(): void } {
  // Inside the project, so that node finds its packages.
  const folder = join(root, 'artifacts', `transpiled-${process.pid}-${Math.random().toString(36).slice(2)}`);
  for (const file of sources.flatMap(filesIn)) {
    const { outputText } = ts.transpileModule(readFileSync(join(root, file), 'utf8'), {
      compilerOptions: {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2023,
        rewriteRelativeImportExtensions: true,
      },
    });
    const target = join(folder, file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function filesIn(source: string): string[] {
  if (source.endsWith('.ts')) return [source];
  return readdirSync(join(root, source), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}
