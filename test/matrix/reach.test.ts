/**
 * Two nets, each of which holds alone. Row-level security is the second one (books.test.ts); this is the first: every
 * statement of the service names its company for each table it touches. PostgreSQL itself says so: each is planned as the
 * owner of the tables, for whom row-level security hides nothing, and every scan must still be held by the company.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contains } from '../../src/db/page.ts';
import { declaredStatements } from '../../src/db/statement.ts';
import type { Call, Composed, Db, Statement, Tx } from '../../src/db/transact.ts';
import { entryOfCompany } from '../../src/identity/principal.ts';
import { operations } from '../../src/operations/all.ts';
import { customerWords, documentNotes, documentWords, itemWords, searchPage } from '../../src/operations/search.ts';
import { wholeWrites } from '../quick-writes.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { samples, withQuery } from './samples.ts';

const sources = fileURLToPath(new URL('../../src', import.meta.url));

let service: Service;
let A: TestCompany;
/** Text by name; what is composed while it runs goes by the operation. */
const texts = new Map<string, string>();
let running = '';

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  ({ A } = service.companies);
  const files = ['operations', 'engine', 'identity', 'doors', 'keys'].flatMap((folder) =>
    readdirSync(join(sources, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => join(sources, folder, name)),
  );
  for (const file of files) await import(file);
  for (const [name, text] of declaredStatements()) texts.set(name, text);
  await runEverything();
  // As autovacuum may have done meanwhile: plans are others once the server knows how small the tables are.
  await service.owner.query('analyze');
});
afterAll(() => service.stop());

/** Each operation once, and each list with every filter of its own, through a process that writes down what is sent. */
async function runEverything(): Promise<void> {
  const door = await service.another(recording);
  for (const operation of operations) {
    running = operation.name;
    const { path, body } = await samples[operation.name]!(A);
    expect((await door.call(operation.method, path, { key: A.key, body })).status).toBe(operation.reply[0]);
    for (const [name, value] of filtersOf(operation.query as Schema | undefined)) {
      running = `${operation.name} by ${name}`;
      await door.call(operation.method, withQuery(path, `${name}=${encodeURIComponent(value)}`), { key: A.key });
    }
  }
  await door.stop();
  // The other way to search is taken among more documents than there are here.
  running = 'search by grams';
  const listed = { columns: 'id', conditions: [], sortColumns: { createdAt: { by: 'created_at' } }, page: {} };
  const tx = recording(service.db).read(entryOfCompany(A.id, 'test'));
  for (const [from, among, column] of [
    ['certo.documents', documentWords, 'number'],
    ['certo.documents', documentNotes, 'notes'],
    ['certo.customers', customerWords, 'email'],
    ['certo.items', itemWords, 'name'],
  ] as const) {
    await searchPage(tx, { from, ...listed }, { text: 'x', among, itself: contains(column, 'x') }, 0);
  }
}

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

function filtersOf(query: Schema | undefined): [string, string][] {
  return Object.entries(query?.properties ?? {}).flatMap(([name, { type, format, enum: values }]) => {
    if (values !== undefined) return values.map((value): [string, string] => [name, value]);
    if (type === 'boolean') return [[name, 'true'] as [string, string]];
    if (type === 'number' || type === 'integer') return [[name, '1'] as [string, string]];
    const text: Record<string, string> = { uuid: A.id, day: '2026-01-01', country: 'PT', currency: 'EUR' };
    return [[name, text[format ?? ''] ?? 'x'] as [string, string]];
  });
}

function recording(db: Db): Db {
  const note = (query: Statement | Composed): void => {
    if ('sql' in query) texts.set(`${running}: ${query.sql}`, query.sql);
    else texts.set(query.name === '' ? `${running}: ${query.text}` : query.name, query.text);
  };
  const noted = (tx: Tx): Tx => ({
    query: (query, values) => {
      note(query);
      return tx.query(query, values);
    },
    batch: (calls: readonly Call[]) => {
      for (const [called] of calls) note(called);
      return tx.batch(calls);
    },
    commitWith: (calls) => {
      for (const [called] of calls) note(called);
      return tx.commitWith(calls);
    },
  });
  return {
    ...db,
    read: (entry, how) => noted(db.read(entry, how)),
    transact: (entry, fn) => db.transact(entry, (tx) => fn(noted(tx))),
    ...wholeWrites((entry, calls, line) => {
      for (const [called] of calls) note(called);
      return db.write(entry, calls, line);
    }),
  };
}

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Alias?: string;
  readonly Operation?: string;
  readonly Output?: readonly string[];
  readonly Plans?: readonly Plan[];
  readonly [condition: string]: unknown;
}

async function tenantTables(): Promise<Map<string, string>> {
  const { rows } = await service.owner.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'company_id'
     where c.relnamespace = 'certo'::regnamespace and c.relkind in ('r', 'p')`,
  );
  expect(rows.length).toBeGreaterThan(10);
  return new Map([...rows.map(({ name }) => [name, 'company_id'] as const), ['companies', 'id']]);
}

/** What a plan reads or writes without the company holding it. */
function loose(plan: Plan, tables: ReadonlyMap<string, string>): string[] {
  const found = (plan.Plans ?? []).flatMap((inner) => loose(inner, tables));
  const table = plan['Relation Name'];
  const column = table === undefined ? undefined : tables.get(table);
  if (column === undefined) return found;
  if (plan['Node Type'] === 'ModifyTable') {
    // What is changed or removed was found by a scan below; what is added must say whose it is.
    const added = plan.Operation === 'Insert' && !present.test(JSON.stringify(plan.Plans));
    return added ? [...found, `${table} gets rows`] : found;
  }
  const held = new RegExp(`^(\\w+\\.)?${column} = | = \\(?(\\w+\\.)?${column}$`);
  const isHeld = conditionsOf(plan).some((condition) => held.test(condition));
  return isHeld ? found : [...found, `${table} ${plan.Alias ?? ''}`];
}

/** The company of the transaction, in a plan. */
const present = /current_company\(\)|current_setting\('app\.company_id'/;

function conditionsOf(plan: Plan): string[] {
  const own = ['Index Cond', 'Recheck Cond', 'Filter'].flatMap((name) => conjuncts(String(plan[name] ?? '')));
  return plan['Node Type'] === 'Bitmap Heap Scan' ? [...own, ...(plan.Plans ?? []).flatMap(conditionsOf)] : own;
}

/** What must all hold, of a condition as EXPLAIN writes it: "((a = 1) AND ((b = 2) OR (c = 3)))" has a = 1 and the rest. */
function conjuncts(condition: string): string[] {
  let depth = 0;
  let quoted = false;
  let from = 0;
  const parts: string[] = [];
  for (let at = 0; at < condition.length; at += 1) {
    if (condition[at] === "'") quoted = !quoted;
    if (quoted) continue;
    if (condition[at] === '(') depth += 1;
    if (condition[at] === ')') depth -= 1;
    if (depth === 0 && condition.startsWith(' OR ', at)) return [];
    if (depth === 0 && condition.startsWith(' AND ', at)) {
      parts.push(condition.slice(from, at));
      from = at + 5;
    }
  }
  if (parts.length > 0) return [...parts, condition.slice(from)].flatMap(conjuncts);
  return isWrapped(condition) ? conjuncts(condition.slice(1, -1)) : [condition];
}

/** Whether the first parenthesis closes with the last character. */
function isWrapped(text: string): boolean {
  if (!text.startsWith('(')) return false;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "'") quoted = !quoted;
    else if (!quoted && text[at] === '(') depth += 1;
    else if (!quoted && text[at] === ')') depth -= 1;
    if (depth === 0) return at === text.length - 1;
  }
  return false;
}

async function planOf(text: string): Promise<Plan | undefined> {
  if (!/^\s*(with|select|insert|update|delete)\b/i.test(text)) return undefined;
  const answers = (await service.owner.query(
    `set app.scope = ''; explain (generic_plan, verbose, format json) ${text}`,
  )) as unknown as { rows: { 'QUERY PLAN': { Plan: Plan }[] }[] }[];
  return answers[1]!.rows[0]!['QUERY PLAN'][0]!.Plan;
}

test('every statement of the service names its company for every table it touches', async () => {
  const tables = await tenantTables();
  const touched = new Set<string>();
  const found: string[] = [];
  const tablesOf = (plan: Plan): void => {
    if (plan['Relation Name'] !== undefined) touched.add(plan['Relation Name']);
    for (const inner of plan.Plans ?? []) tablesOf(inner);
  };
  for (const [name, text] of texts) {
    const plan = await planOf(text).catch((error: Error) => `${name}: ${error.message}\n${text}`);
    if (plan === undefined) continue;
    if (typeof plan === 'string') {
      found.push(plan);
      continue;
    }
    tablesOf(plan);
    found.push(...loose(plan, tables).map((what) => `${name}: ${what}`));
  }
  expect(found).toEqual([]);
  expect(texts.size).toBeGreaterThan(120);
  expect([...texts.keys()].filter((name) => name.includes(' by ')).length).toBeGreaterThan(20);
  for (const table of tables.keys()) expect([table, touched.has(table)]).toEqual([table, true]);
});

test.each([
  ['select * from certo.customers where id = $1', ['customers customers']],
  [
    'select d.id from certo.documents d join certo.series s on s.company_id = d.company_id and s.id = d.series_id',
    null,
  ],
  ['select 1 from certo.items where company_id = certo.current_company() or id = $1', ['items items']],
  ['update certo.items set name = $2 where id = $1', ['items items']],
  ['delete from certo.documents where id = $1', ['documents documents']],
  ['insert into certo.audit (company_id, id, actor, operation) values ($1, $2, $3, $4)', ['audit gets rows']],
  ['select name from certo.companies', ['companies companies']],
  [
    'select (select name from certo.customers c where c.id = d.customer_id) from certo.documents d where d.company_id = certo.current_company()',
    ['customers c'],
  ],
  ['select 1 from certo.items where company_id = certo.current_company() and id = $1', []],
])('this check can fail: %s', async (text, expected) => {
  const found = loose((await planOf(text))!, await tenantTables());
  if (expected === null) expect(found).not.toEqual([]);
  else expect(found).toEqual(expected);
});

// Reading it takes longer than the row.
test('no statement reads the clock anew for every row that it looks at', async () => {
  const found: string[] = [];
  for (const [name, text] of texts) {
    const plan = await planOf(text).catch(() => undefined);
    if (plan !== undefined) found.push(...clocksIn(plan).map((table) => `${name}: ${table}`));
  }
  expect(found).toEqual([]);
  const each = 'select 1 from certo.documents where at_next_at <= certo.now()';
  expect(clocksIn((await planOf(each))!)).toEqual(['documents']);
  // What a function asks no plan shows.
  const { rows } = await service.owner.query<{ name: string }>(
    `select p.proname as name from pg_proc p join pg_language l on l.oid = p.prolang
     where p.pronamespace = 'certo'::regnamespace and l.lanname = 'sql' and p.prosrc ~ '[<>=] *certo\\.now'`,
  );
  expect(rows).toEqual([]);
});

function clocksIn(plan: Plan): string[] {
  const own = plan['Relation Name'] !== undefined && String(plan['Filter']).includes('certo.now()');
  return [...(own ? [plan['Relation Name']!] : []), ...(plan.Plans ?? []).flatMap(clocksIn)];
}

// With 1 it reads through what belongs to ten thousand companies for the few rows of one; without it, it may look for a
// document through all of a large company among small ones (db/migrations/0014_many_companies.sql).
test('the planner is told of every table that a company owns a twentieth of it', async () => {
  const { rows } = await service.owner.query<{ name: string; options: string[] | null }>(
    `select c.relname as name, a.attoptions as options from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'company_id'
     where c.relnamespace = 'certo'::regnamespace and c.relkind = 'r'`,
  );
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.filter(({ options }) => !options?.includes('n_distinct=20')).map(({ name }) => name)).toEqual([]);
});

test('beyond the tables of companies the service reaches what is named here, and nothing else', async () => {
  const { rows: others } = await service.owner.query(
    `select c.relname || ' ' || p.privilege as may from pg_class c,
       unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) p (privilege)
     where c.relnamespace = 'certo'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and c.relname <> 'companies'
       and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'company_id')
       and case when c.relkind = 'S' then has_sequence_privilege('certo_app', c.oid, 'usage')
         else has_table_privilege('certo_app', c.oid, p.privilege) or has_any_column_privilege('certo_app', c.oid,
           case when p.privilege in ('delete', 'truncate', 'trigger') then 'select' else p.privilege end)
           and p.privilege not in ('delete', 'truncate', 'trigger') end
     order by 1`,
  );
  expect(others.map(({ may }) => may)).toEqual([
    'clock select',
    'installation select',
    'restores select',
    'signing_keys select',
  ]);
  // Functions that see all companies: what each hands out is whose key it is, ids of companies with work, or of rows of the company
  // of the transaction.
  const { rows: functions } = await service.owner.query(
    `select p.proname as name from pg_proc p where p.pronamespace = 'certo'::regnamespace and p.prosecdef
       and has_function_privilege('certo_app', p.oid, 'execute') order by 1`,
  );
  expect(functions.map(({ name }) => name)).toEqual([
    'companies_to_forget',
    'companies_to_report',
    'companies_to_search',
    'companies_to_sync',
    'customers_with',
    'documents_noting',
    'documents_with',
    'enter_key',
    'items_with',
  ]);
});
