// The arrows of the house (docs/ARCHITECTURE.md, "Rooms"): an import only points left.
//   fiscal ← db, at, print, keys, bank, mail ← identity ← operations ← engine ← doors ← app ← commands ← main
// operations/operation.ts and operations/world.ts are the declaration's types: leaves that the engine may import.

/** Rooms from left to right; those on one line do not know each other. */
const floors = [
  ['fiscal'],
  ['db', 'at', 'print', 'keys', 'bank', 'mail'],
  ['identity'],
  ['operations'],
  ['engine'],
  ['doors'],
];

const room = (name) => `^src/${name}/`;

/** One rule per room: it may import itself and what stands on floors further left, nothing else of src. */
const arrows = floors.flatMap((floor, at) =>
  floor.map((name) => ({
    name: `arrow-${name}`,
    comment: `${name} may import only ${[name, ...floors.slice(0, at).flat()].join(', ')}`,
    severity: 'error',
    from: { path: room(name) },
    to: {
      path: '^src/',
      pathNot: [
        ...[name, ...floors.slice(0, at).flat()].map(room),
        ...(name === 'engine' ? ['^src/operations/(operation|rendered|world)\\.ts$'] : []),
      ],
    },
  })),
);
// The engine stands right of operations, but knows them only by their declaration.
const engine = arrows.find((rule) => rule.name === 'arrow-engine');
engine.to.pathNot = engine.to.pathNot.filter((path) => path !== room('operations'));
engine.comment =
  'the engine knows operations only by their declarations and replies (operation.ts, rendered.ts, world.ts)';

module.exports = {
  forbidden: [
    ...arrows,
    {
      name: 'arrow-commands',
      comment: 'main starts everything; nothing starts main',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/main\\.ts$' },
    },
    {
      name: 'simulator-stays-out',
      comment: 'the service meets the simulator over TLS only; commands start it in a process of its own',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(at/simulator|commands)/' },
      to: { path: '^src/at/simulator/' },
    },
    {
      name: 'arrow-app',
      comment: 'the app is built from what is handed in: no command, no configuration',
      severity: 'error',
      from: { path: '^src/app\\.ts$' },
      to: { path: '^src/(config\\.ts$|commands/)' },
    },
    {
      name: 'arrow-config',
      comment: 'the configuration is read, and nothing else happens there',
      severity: 'error',
      from: { path: '^src/config\\.ts$' },
      to: { path: '^src/(app\\.ts$|commands/|doors/|engine/|operations/|identity/)' },
    },
    {
      name: 'law-is-pure',
      comment: 'fiscal has no clock, no files, no network: only exact decimals, and crypto to verify a chain',
      severity: 'error',
      from: { path: '^src/fiscal/' },
      to: {
        dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional'],
        pathNot: '^(crypto|node:crypto|node_modules/big\\.js/.+|node_modules/@types/big\\.js/.+)$',
      },
    },
    {
      name: 'law-verifies-in-one-place',
      comment: 'only the hash chain needs crypto',
      severity: 'error',
      from: { path: '^src/fiscal/', pathNot: '^src/fiscal/hash-chain\\.ts$' },
      to: { path: '^(node:)?crypto$' },
    },
    {
      name: 'one-place-for-decimals',
      comment: 'money is decimal text; big.js is behind fiscal/decimal.ts',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/fiscal/decimal\\.ts$' },
      to: { path: '^node_modules/(@types/)?big\\.js/' },
    },
    {
      name: 'one-place-for-pg',
      comment: 'only db speaks to PostgreSQL',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/db/' },
      to: { path: '^node_modules/(@types/)?(pg|kysely)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'owner-pool-by-type',
      comment: "the operator's functions take an owner Pool, which others opened",
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(db|keys|commands)/|^src/operations/company/' },
      to: { path: '^node_modules/(@types/)?(pg|kysely)/' },
    },
    {
      name: 'one-place-for-http',
      comment: 'fastify belongs to the HTTP door; others may name its types',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/doors/http/' },
      to: { path: '^node_modules/(fastify|@fastify)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-orphans',
      comment: 'what nothing imports is dead (worker.ts is started by its file name)',
      severity: 'error',
      from: { orphan: true, pathNot: '^src/(main|print/worker)\\.ts$' },
      to: {},
    },
    {
      name: 'resolvable',
      comment: 'an import that leads nowhere',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'declared',
      comment: 'what runs is a declared dependency, not a development one',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.test\\.ts$|/fixtures/|\\.test-d\\.ts$' },
    // Type-only imports count: a type is knowledge too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'require'] },
  },
};
