/** The house rules as a test: what docs/STYLE.md asks for, as far as a machine can see it. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, matchesGlob, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { environment } from '../src/commands/environment.ts';
import type { Outside } from '../src/commands/outside.ts';
import { refusals } from '../src/fiscal/refusal.ts';
import { alone } from './order.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Source {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly tree: ts.SourceFile;
}

function read(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8');
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return { path, text, lines: text.split('\n').length - 1, tree };
}

const inFolder = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    // The bench installs packages of its own.
    .filter((path) => !path.includes('node_modules/'))
    .sort();
const sources = inFolder('src')
  .filter((path) => path.endsWith('.ts'))
  .map(read);
const product = sources.filter(({ path }) => !path.endsWith('.test.ts') && !path.includes('/fixtures/'));
const tests = [
  ...sources.filter(({ path }) => path.endsWith('.test.ts')),
  ...inFolder('test')
    .filter((path) => path.endsWith('.ts'))
    .map(read),
];

function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node;
  for (const child of node.getChildren()) yield* nodesOf(child);
}

function place({ path, tree }: Source, node: ts.Node): string {
  return `${path}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}

const isExported = (node: ts.Node) =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

test('a test that measures the process it is in has it alone', () => {
  const measures = /memoryUsage|cpuUsage|\/proc\/self|\/growth\.ts|declaredStatements/;
  const measuring = tests.filter(
    ({ path, text }) => path.endsWith('.test.ts') && path !== 'test/tidy.test.ts' && measures.test(text),
  );
  expect(measuring.map(({ path }) => path).filter((path) => !alone.some((glob) => matchesGlob(path, glob)))).toEqual(
    [],
  );
  expect(alone.filter((glob) => !tests.some(({ path }) => matchesGlob(path, glob)))).toEqual([]);
});

test('there is something to look at', () => {
  expect(product.length).toBeGreaterThan(100);
  expect(tests.length).toBeGreaterThan(10);
});

describe('small and flat', () => {
  // Tables may be long: they are looked up, not read.
  const tables = ['src/fiscal/refusal.ts'];

  test('no file is longer than 400 lines', () => {
    const long = product.filter(({ path, lines }) => lines > 400 && !tables.includes(path));
    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
  });

  test('the median file has at most 120 lines', () => {
    const lengths = product.map(({ lines }) => lines).sort((a, b) => a - b);
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(120);
  });

  test('a function fits a screen and a half: at most 90 lines', () => {
    const long: string[] = [];
    for (const source of product) {
      for (const node of nodesOf(source.tree)) {
        if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) continue;
        const [from, to] = [node.getStart(), node.getEnd()].map(
          (at) => source.tree.getLineAndCharacterOfPosition(at).line,
        );
        if (to! - from! + 1 > 90) long.push(`${place(source, node)}: ${to! - from! + 1}`);
      }
    }
    expect(long).toEqual([]);
  });
});

describe('names', () => {
  // As a second part: the AT's own word "service" alone is fine.
  const empty = /\w(Manager|Helper|Utils?|Service|Handler|Data|Info)$/;

  test('no class or type is named after nothing', () => {
    const found: string[] = [];
    for (const source of product) {
      for (const node of nodesOf(source.tree)) {
        const named = ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
        if (named && empty.test(node.name?.text ?? '')) found.push(`${place(source, node)} ${node.name?.text}`);
      }
    }
    expect(found).toEqual([]);
  });

  test('no file or folder is a drawer for everything', () => {
    const drawers = /(^|\/)(utils?|helpers?|common|misc|shared|lib|index)(\.ts|\/|$)/;
    expect(product.map(({ path }) => path).filter((path) => drawers.test(path))).toEqual([]);
  });

  test('files are named in kebab-case', () => {
    expect(
      [...product, ...tests]
        .map(({ path }) => basename(path))
        .filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.ts$/.test(name)),
    ).toEqual([]);
  });
});

describe('modules', () => {
  test('no default exports', () => {
    const found = [...product, ...tests].flatMap((source) =>
      source.tree.statements
        .filter(
          (node) =>
            ts.isExportAssignment(node) ||
            (ts.canHaveModifiers(node) &&
              (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)),
        )
        .map((node) => place(source, node)),
    );
    expect(found).toEqual([]);
  });

  test('no barrel files: a file that exports has something of its own', () => {
    const barrels = product.filter(
      ({ tree }) =>
        tree.statements.some((node) => ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) &&
        tree.statements.every((node) => ts.isExportDeclaration(node) || ts.isImportDeclaration(node)),
    );
    expect(barrels.map(({ path }) => path)).toEqual([]);
  });

  test('only main.ts touches process', () => {
    const found: string[] = [];
    for (const source of product) {
      if (source.path === 'src/main.ts') continue;
      for (const node of nodesOf(source.tree)) {
        const used = ts.isPropertyAccessExpression(node) && node.expression.getText() === 'process';
        const imported = ts.isImportDeclaration(node) && /^'(node:)?process'$/.test(node.moduleSpecifier.getText());
        if (used || (imported && !mayName(source.path, node))) found.push(place(source, node));
      }
    }
    expect(found).toEqual([]);
  });

  /** The launcher of the database server looks at other processes and signals them; it reads nothing of this one but its number. */
  function mayName(path: string, node: ts.Node): boolean {
    return path.startsWith('src/db/') && /^import \{ (kill|pid|kill, pid|pid as \w+) \} /.test(node.getText());
  }

  test('the law and the operations take time and chance from outside', () => {
    const taken = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\brandom(UUID|Bytes|Int)\(/;
    const found = product.filter(({ path, text }) => /^src\/(fiscal|operations)\//.test(path) && taken.test(text));
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  test('nothing writes to the console but main and commands', () => {
    const found = product.filter(
      ({ path, text }) => !/^src\/(main\.ts|commands\/)/.test(path) && /\bconsole\./.test(text),
    );
    expect(found.map(({ path }) => path)).toEqual([]);
  });
});

/** Exported as a function, whatever way it is written. Operations are values: their `summary` says what they are. */
function isFunctionOrClass(node: ts.Statement): boolean {
  if (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) return true;
  if (!ts.isVariableStatement(node)) return false;
  return node.declarationList.declarations.some(
    ({ initializer }) =>
      initializer !== undefined && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)),
  );
}

const hasDocstring = (node: ts.Node) => node.getFullText().slice(0, node.getLeadingTriviaWidth()).includes('/**');

test('every exported function and class says what it is', () => {
  const silent = product.flatMap((source) =>
    source.tree.statements
      .filter((node) => isExported(node) && isFunctionOrClass(node) && !hasDocstring(node))
      .map((node) => place(source, node)),
  );
  expect(silent).toEqual([]);
});

test('every exported table of the law, the engine and identity says what it is', () => {
  const silent: string[] = [];
  for (const source of product.filter(({ path }) => /^src\/(fiscal|engine|identity)\//.test(path))) {
    // A file that holds one table says at its top what the table is.
    if (source.text.startsWith('/**')) continue;
    for (const node of source.tree.statements)
      if (isExported(node) && ts.isVariableStatement(node) && !hasDocstring(node)) silent.push(place(source, node));
  }
  expect(silent).toEqual([]);
});

/** Everything that is written by hand. */
const written = [
  ...['src', 'test', 'docs', 'bench', '.ci'].flatMap(inFolder),
  ...readdirSync(root).filter((name) => /\.(md|json|ts|mjs|cjs)$/.test(name) && name !== 'package-lock.json'),
]
  .filter((path) => !/\.(png|jpg|pdf|ttf|woff2?)$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
const texts = (ending: string) => written.filter(({ path }) => path.endsWith(ending));

describe('texts', () => {
  const where = (pattern: RegExp) =>
    written.filter(({ path, text }) => path !== 'test/tidy.test.ts' && pattern.test(text)).map(({ path }) => path);

  test('no places of somebody’s machine', () => {
    expect(where(/(?<![\w.])\/(work|home|Users)\/\w|\.\.\/shared\b/)).toEqual([]);
  });

  test('nothing is left to do in the text', () => {
    expect(where(/\b(TODO|FIXME|HACK)\b/)).toEqual([]);
  });

  test('no words about how it was typed', () => {
    // Kept as digests, so that this file does not hold the words either.
    const unwelcome = new Set([
      'c857d09db23e',
      'c70eca6b0f88',
      '60965168ce76',
      '7d3194f79e64',
      '3ea125d0bff3',
      '57de4cf40144',
      '5d72436256ad',
      '94a168d2da57',
      '487b91042c7c',
      '053ea4804ef1',
    ]);
    const digest = (word: string) => createHash('sha256').update(word).digest('hex').slice(0, 12);
    const seen = new Map<string, string>();
    for (const { path, text } of written)
      for (const [word] of text.toLowerCase().matchAll(/[a-z]{3,20}/g)) seen.set(word, path);
    expect([...seen].filter(([word]) => unwelcome.has(digest(word))).map(([, path]) => path)).toEqual([]);
  });
});

describe('migrations', () => {
  const files = inFolder('src/db/migrations').map((path) => basename(path));

  test('are numbered without a gap, in snake_case', () => {
    expect(files.map((name) => Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]))).toEqual(
      files.map((_, i) => i + 1),
    );
  });
});

describe('refusals', () => {
  const places = (sentence: string) => [...sentence.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort();
  // Chosen where it is refused: both of its sentences are checked there.
  const spoken = Object.entries(refusals).filter(([code]) => code !== 'IDEMPOTENCY_CONFLICT');

  test.each(spoken)(
    '%s: a status, and a whole sentence in both languages with the same facts',
    (code, { status, en, pt }) => {
      expect(code).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/);
      expect(status).toBeGreaterThanOrEqual(400);
      for (const sentence of [en, pt]) expect(sentence).toMatch(/^[\p{L}\d{].*\.$/su);
      expect(pt).not.toBe(en);
      expect(places(pt)).toEqual(places(en));
    },
  );

  test('a conflict of idempotency keys is made in one place', () => {
    const made = product.flatMap(({ path, text }) =>
      [...text.matchAll(/new Refusal\(\s*'IDEMPOTENCY_CONFLICT'/g)].map(() => path),
    );
    expect(made).toEqual(['src/engine/claim.ts']);
  });

  test('every code is thrown or told somewhere', () => {
    // Of parts that are not there yet: applications of others (OAuth).
    const later = ['RECORD_NOT_OWNED'];
    const rest = product
      .filter(({ path }) => path !== 'src/fiscal/refusal.ts')
      .map(({ text }) => text)
      .join('\n');
    expect(Object.keys(refusals).filter((code) => !later.includes(code) && !rest.includes(`'${code}'`))).toEqual([]);
  });
});

describe('documents', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');

  test('the README has every variable of the environment as the program tells it', async () => {
    const printed: string[] = [];
    const stdout = { write: (text: string) => printed.push(text) };
    await environment({ stdout } as unknown as Outside, { json: true });
    const variables: { name: string; default: string; description: string }[] = JSON.parse(printed.join(''));
    expect(variables.map(({ name }) => name)).toContain('CERTO_DATA_DIR');
    const rows = variables.map(
      (row) => `| \`${row.name}\` | ${row.default} | ${row.description.replaceAll('|', '\\|')} |`,
    );
    expect(readme).toContain(['| Variable | Default | Meaning |', '|---|---|---|', ...rows, ''].join('\n'));
  });

  test('what documents link to is there', () => {
    const dead = texts('.md').flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)#\s]+)(#[^)]*)?\)/g)]
        .map((match) => match[1]!)
        .filter((target) => !/^https?:/.test(target) && !existsSync(join(root, dirname(path), target)))
        .map((target) => `${path}: ${target}`),
    );
    expect(dead).toEqual([]);
  });

  test('every decision record is in the list, and has its three parts', () => {
    const records = inFolder('docs/decisions')
      .map((path) => basename(path))
      .filter((name) => /^\d/.test(name));
    const list = readFileSync(join(root, 'docs/decisions/README.md'), 'utf8');
    expect([...list.matchAll(/\((\d{4}-[a-z0-9-]+\.md)\)/g)].map((match) => match[1])).toEqual(records);
    for (const name of records) {
      const text = readFileSync(join(root, 'docs/decisions', name), 'utf8');
      for (const part of ['**Context.**', '**Decision.**', '**Price paid.**']) expect(text, name).toContain(part);
    }
  });
});

test.each(['.', 'bench/comparator'])(
  'dependencies of %s are pinned, and the lock holds no download addresses',
  (folder) => {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(root, folder, 'package.json'), 'utf8'),
    ) as Record<string, Record<string, string>>;
    const loose = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    );
    expect(loose).toEqual([]);
    expect(readFileSync(join(root, folder, 'package-lock.json'), 'utf8')).not.toContain('"resolved"');
  },
);
