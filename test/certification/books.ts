/** What stands in a company's books, table by table: two readings are equal exactly when nothing was changed between. */
import { expect } from 'vitest';
import { StatementError } from '../../src/db/errors.ts';
import { entryOfCompany } from '../../src/identity/principal.ts';
import type { Answer, Refused } from '../client.ts';
import type { Service, TestCompany } from '../service.ts';

/** Who asked and with which idempotency key is written down also when the answer is no. */
const aside = ['claims', 'audit'];

/** Each table of the company with its number of rows and a digest of them. Tables are asked of the catalogue. */
async function booksOf(service: Service, company: TestCompany): Promise<Readonly<Record<string, string>>> {
  const { rows } = await service.owner.query(
    `select c.relname as name, case when c.relname = 'companies' then 'id' else 'company_id' end as company
     from pg_class c where c.relnamespace = 'certo'::regnamespace and c.relkind in ('r', 'p') and not c.relname = any ($1)
       and (c.relname = 'companies' or exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'company_id'))`,
    [aside],
  );
  const books: Record<string, string> = {};
  for (const { name, company: column } of rows) {
    const found = await service.owner.query(
      `select count(*) || ' rows ' || coalesce(md5(string_agg(t::text, chr(10) order by t::text)), '') as digest
       from certo.${name} t where ${column} = $1`,
      [company.id],
    );
    books[name] = found.rows[0].digest;
  }
  return books;
}

/** Does something that must change nothing, and hands back what it gave. */
export async function changingNothing<T>(
  service: Service,
  company: TestCompany,
  attempt: () => Promise<T>,
): Promise<T> {
  const before = await booksOf(service, company);
  expect(before).toHaveProperty('documents');
  const result = await attempt();
  expect(await booksOf(service, company)).toEqual(before);
  return result;
}

/** The code of a refusal, or with it those of the problems that it names. */
export function codesOf({ status, json, text }: Answer<unknown>): string[] {
  if (status < 400) throw new Error(`not refused: ${status} ${text}`);
  const { code, errors = [], detail } = json as Refused;
  expect(detail.length).toBeGreaterThan(20);
  return [code, ...errors.map((problem) => `${problem.code} ${problem.pointer}`)];
}

/** A statement as the service's own role runs it in the company: the rows it gives, or the SQLSTATE that refused it. */
export async function asService(service: Service, company: TestCompany, sql: string, parameters: unknown[] = []) {
  try {
    const rows = await service.db.transact(entryOfCompany(company.id, 'test'), (tx) => tx.query({ sql, parameters }));
    return rows.length;
  } catch (error) {
    if (error instanceof StatementError) return error.code;
    throw error;
  }
}
