/** The conventions of tables (docs/ARCHITECTURE.md, Database), asked of the catalogue: a new table has to keep them, and be listed. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../database.ts';

let base: TestDatabase;
beforeAll(async () => {
  base = await testDatabase();
});
afterAll(() => base.drop());

const architecture = readFileSync(new URL('../../docs/ARCHITECTURE.md', import.meta.url), 'utf8');

// kysely_… is the list of migrations.
const tables = `pg_class c where c.relnamespace = 'certo'::regnamespace and c.relkind in ('r', 'p') and c.relname not like 'kysely%'`;
const ofCompany = `(c.relname = 'companies' or exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'company_id'))`;
const columns = `pg_attribute a join ${tables.replace(' where ', ' on c.oid = a.attrelid where ')} and a.attnum > 0 and not a.attisdropped`;

/** One text a row. */
async function asked(sql: string): Promise<string[]> {
  const { rows } = await base.ownerPool.query<{ told: string }>(sql);
  return rows.map(({ told }) => told);
}

test('each table of a company is listed with its key, what the service may do, and its seals', async () => {
  const found = await asked(
    `select format('| %s | %s | %s | %s |', c.relname,
       (select string_agg(a.attname, ', ' order by k.place) from pg_constraint p, unnest(p.conkey) with ordinality k (at, place)
          join pg_attribute a on a.attrelid = c.oid and a.attnum = k.at where p.conrelid = c.oid and p.contype = 'p' and a.attname <> 'company_id'),
       concat_ws(', ', case when has_table_privilege('certo_app', c.oid, 'insert') then 'insert' end,
         case when has_table_privilege('certo_app', c.oid, 'update') then 'update'
           when has_any_column_privilege('certo_app', c.oid, 'update') then 'update columns' end,
         case when has_table_privilege('certo_app', c.oid, 'delete') then 'delete' end),
       (select string_agg(a.attname, ', ' order by a.attnum) from pg_attribute a where a.attrelid = c.oid and a.attname ~ '(^|_)seal$')) as told
     from ${tables} and ${ofCompany}`,
  );
  expect(found.length).toBeGreaterThan(10);
  const listed = architecture.split('\n').filter((line) => /^\| `[a-z_]+` \| `/.test(line));
  const cells = (line: string) => line.split('|').map((cell) => cell.replaceAll('`', '').trim());
  expect(listed.map(cells).sort()).toEqual(found.map(cells).sort());
});

test('the others are named, and the service only reads them', async () => {
  const others = await asked(`select c.relname as told from ${tables} and not ${ofCompany} order by 1`);
  const named = /^Of the installation.*?:(.*?)\./m.exec(architecture)![1]!;
  expect([...named.matchAll(/`(\w+)`/g)].map((match) => match[1]).sort()).toEqual(others);
  const written = await asked(
    `select c.relname as told from ${tables} and not ${ofCompany}
       and (has_any_column_privilege('certo_app', c.oid, 'insert, update') or has_table_privilege('certo_app', c.oid, 'delete'))`,
  );
  expect(written).toEqual([]);
});

describe('the company comes first', () => {
  const exceptions = {
    // A key says which company it is of.
    indexes: ['api_keys_hash_key'],
    // Written with each act, by who has entered the company, which is never deleted: to look it up for each row is dear. And
    // written long after the document: the check of a foreign key would lock it once more.
    references: ['audit', 'claims', 'document_note_words', 'document_words'],
    // What a restore has closed names the restore, which is the installation's.
    keys: ['series_closed_by_fkey'],
  };
  const others = `${ofCompany} and c.relname <> 'companies'`;

  test('in the table', async () => {
    const wrong = await asked(
      `select c.relname as told from ${tables} and ${others} and not exists (select from pg_attribute a
         where a.attrelid = c.oid and a.attname = 'company_id' and a.attnum = 1 and a.attnotnull and a.atttypid = 'uuid'::regtype)`,
    );
    expect(wrong).toEqual([]);
  });

  test('in each index', async () => {
    const wrong = await asked(
      `select i.relname as told from pg_index x join pg_class i on i.oid = x.indexrelid join ${tables.replace(' where ', ' on c.oid = x.indrelid where ')}
         and ${others} and pg_get_indexdef(x.indexrelid, 1, true) <> 'company_id'`,
    );
    expect(wrong).toEqual(exceptions.indexes);
  });

  test('in each foreign key; every table has one that leads to its company', async () => {
    const wrong = await asked(
      `select p.conname as told from pg_constraint p join ${tables.replace(' where ', ' on c.oid = p.conrelid where ')} and ${others} and p.contype = 'f'
         and pg_get_constraintdef(p.oid) !~ '^FOREIGN KEY \\(company_id\\) REFERENCES (certo\\.)?companies\\(id\\)$'
         and pg_get_constraintdef(p.oid) !~ '^FOREIGN KEY \\(company_id, \\w+\\) REFERENCES (certo\\.)?\\w+\\(company_id, id\\)$'`,
    );
    expect(wrong).toEqual(exceptions.keys);
    const loose = await asked(
      `select c.relname as told from ${tables} and ${others}
         and not exists (select from pg_constraint p where p.conrelid = c.oid and p.contype = 'f' and p.conname <> 'series_closed_by_fkey')`,
    );
    expect(loose).toEqual(exceptions.references);
  });
});

test('the same two policies stand on each table of a company, and others narrow what is inserted and deleted', async () => {
  const found = await asked(
    `select format('%s: %s %s to %s using %s check %s', p.tablename, p.permissive, p.cmd, array_to_string(p.roles, ','), p.qual, p.with_check) as told
     from pg_policies p where p.schemaname = 'certo' order by 1`,
  );
  const names = await asked(`select c.relname as told from ${tables} and ${ofCompany}`);
  const expected = names.flatMap((name) => {
    const own = `(${name === 'companies' ? 'id' : 'company_id'} = certo.current_company())`;
    return [
      `${name}: PERMISSIVE ALL to certo_app using ${own} check ${own}`,
      `${name}: PERMISSIVE ALL to certo_owner using true check true`,
    ];
  });
  const narrowed = [
    `documents: RESTRICTIVE DELETE to certo_app using ((number IS NULL) AND (status = ANY (ARRAY['DRAFT'::text, 'CREATED'::text]))) check `,
    'documents: RESTRICTIVE INSERT to certo_app using  check (number IS NULL)',
    `series: RESTRICTIVE INSERT to certo_app using  check ((last_number = 0) AND (last_hash = ''::text) AND (last_seal IS NULL))`,
  ];
  const qualified = found.map((told) => told.replaceAll(/ current_company\(\)/g, ' certo.current_company()'));
  expect(qualified.sort()).toEqual([...expected, ...narrowed].sort());
});

describe('columns', () => {
  test('are named in small letters', async () => {
    expect(await asked(`select a.attname as told from ${columns} and a.attname !~ '^[a-z]+(_[a-z]+)*$'`)).toEqual([]);
  });

  test('of instants are timestamptz(3) and end in _at', async () => {
    const instants = `format_type(a.atttypid, null) like 'timestamp%'`;
    const odd = await asked(
      `select format('%s.%s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod)) as told from ${columns}
         and (${instants} or a.attname like '%\\_at') and (format_type(a.atttypid, a.atttypmod) <> 'timestamp(3) with time zone' or a.attname not like '%\\_at')
       order by 1`,
    );
    // What happened has the word alone; ends and beginnings of something else say what they are.
    const named = ['audit.at', 'claims.lease_until', 'document_events.at', 'documents.movement_start', 'rates.minute'];
    expect(odd).toEqual(named.map((name) => `${name} timestamp(3) with time zone`));
  });

  test('of days are dates, and end so', async () => {
    const odd = await asked(
      `select format('%s.%s', c.relname, a.attname) as told from ${columns}
         and (a.atttypid = 'date'::regtype) <> (a.attname ~ '(^|_)(date|from|until)$' and a.attname <> 'lease_until')`,
    );
    expect(odd).toEqual([]);
  });

  test('never hold binary fractions, times without a zone, padded or bounded text, or JSON as it was typed', async () => {
    const odd = await asked(
      `select format('%s.%s', c.relname, a.attname) as told from ${columns}
         and format_type(a.atttypid, null) ~ '^(real|double precision|money|json|character.*|time.* without time zone)$'`,
    );
    expect(odd).toEqual([]);
  });

  test('a record that changes says since when, and was changed when it was made', async () => {
    const made = await asked(
      `select c.relname as told from ${columns} and a.attname = 'created_at' and (not a.attnotnull
         or (select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d where d.adrelid = c.oid and d.adnum = a.attnum) not in ('certo.now()', 'now()'))`,
    );
    expect(made).toEqual([]);
    const changed = await asked(
      `select c.relname as told from ${columns} and a.attname = 'updated_at' and (not a.attnotnull
         or not exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'changed_when_made' and t.tgenabled = 'O')
         or not exists (select from pg_attribute m where m.attrelid = c.oid and m.attname = 'created_at'))`,
    );
    expect(changed).toEqual([]);
  });

  test('seals are bytes, and what is encrypted is, too', async () => {
    const odd = await asked(
      `select format('%s.%s', c.relname, a.attname) as told from ${columns} and a.attname ~ '(^|_)seal(ed)?$' and a.atttypid <> 'bytea'::regtype`,
    );
    expect(odd).toEqual([]);
  });
});
