/** Templates as the operator makes and changes them; the command itself is tested in test/commands. */
import { uuidv7 } from 'uuidv7';
import type { Service, TestCompany } from '../service.ts';

/** A template for all papers with words at the foot; returns its id. `more`: other columns. */
export async function addTemplate(
  { owner }: Service,
  company: TestCompany,
  footer: string,
  more: Record<string, unknown> = {},
): Promise<string> {
  const columns: Record<string, unknown> = {
    company_id: company.id,
    id: uuidv7(),
    name: footer,
    footer,
    formats: ['A4', 'RECEIPT', 'RECEIPT_58'],
    ...more,
  };
  const names = Object.keys(columns);
  await owner.query(
    `insert into certo.templates (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})`,
    Object.values(columns),
  );
  return String(columns['id']);
}

/** Makes its next version; `change` is SQL. */
export async function changeTemplate({ owner }: Service, company: TestCompany, id: string, change: string) {
  await owner.query(`update certo.templates set version = version + 1, ${change} where company_id = $1 and id = $2`, [
    company.id,
    id,
  ]);
}
