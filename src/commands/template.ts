/** `certo template`: how a company's PDFs look. Each change raises the version, so what was printed stays as it was. */

import { Buffer } from 'node:buffer';
import type { Pool, PoolClient } from 'pg';
import { uuidv7 } from 'uuidv7';
import { ownerTransaction } from '../db/owner-transaction.ts';
import { Refusal } from '../fiscal/refusal.ts';
import { writeAct } from '../operations/operator.ts';
import { builtIn, paperFormats } from '../operations/templates/template.ts';
import { contrastOnWhite, leastContrast, readableColour } from '../print/colour.ts';
import type { PaperFormat } from '../print/input.ts';
import { cleanLogo } from '../print/logo.ts';
import { LogoRefused } from '../print/logo-limits.ts';
import { CommandError, exit } from './exit.ts';
import { logo as logoFile, readGiven } from './given-file.ts';
import { checkText } from './given-text.ts';
import { enterHouse, findCompany, needId, type OfCompany } from './guest.ts';
import { type Outside, tell, tellJson } from './outside.ts';
import { table } from './table.ts';

interface Looks {
  readonly name?: string;
  readonly logo?: string;
  readonly colour?: string;
  readonly footer?: string;
  readonly language?: 'pt' | 'en';
  readonly format?: readonly PaperFormat[];
}
export type AddOptions = OfCompany & Looks & { readonly name: string; readonly default?: boolean };
export type ChangeOptions = OfCompany & Looks;

/** Columns of what was asked, checked; an empty text takes logo, colour or footer away. Throws CommandError. */
async function columnsOf({ name, logo, colour, footer, language, format }: Looks): Promise<Record<string, unknown>> {
  return {
    ...(name === undefined ? {} : { name: checkedName(name) }),
    ...(logo === undefined ? {} : { logo: logo === '' ? null : await checkedLogo(logo) }),
    ...(colour === undefined ? {} : { colour: colour === '' ? null : checkedColour(colour) }),
    ...(footer === undefined ? {} : { footer: footer.trim() === '' ? null : checkedFooter(footer) }),
    ...(language === undefined ? {} : { language }),
    ...(format === undefined ? {} : { formats: paperFormats.filter((one) => format.includes(one)) }),
  };
}

/** Version 1. Throws CommandError for a logo, colour or text that can't be used, before anything is written. */
export async function add(outside: Outside, options: AddOptions): Promise<number> {
  const columns = { formats: paperFormats, ...(await columnsOf(options)) };
  const { owner } = await enterHouse(outside);
  const company = await findCompany(owner, options.company);
  const id = uuidv7();
  await ofCompany(owner, company.id, ['addTemplate', id], async (client) => {
    const names = Object.keys(columns);
    await client.query(
      `insert into certo.templates (company_id, id, ${names.join(', ')}) values ($1, $2, ${names.map((_, i) => `$${i + 3}`).join(', ')})`,
      [company.id, id, ...Object.values(columns)],
    );
    if (options.default === true) await makeDefault(client, company.id, id);
  });
  return told(outside, options, { id, version: 1 }, `The template ${options.name} was added with the id ${id}.`);
}

/**
 * Changes what was said and raises the version; an empty text takes logo, colour or footer away. Throws
 * TEMPLATE_NOT_FOUND.
 */
export async function change(outside: Outside, options: ChangeOptions, templateId: string): Promise<number> {
  const id = needId(templateId, 'a template');
  const columns = await columnsOf(options);
  const names = Object.keys(columns);
  if (names.length === 0) {
    throw new CommandError(exit.usage, 'Say what changes: --name, --logo, --colour, --footer, --language or --format.');
  }
  refuseBuiltIn(id);
  const { owner } = await enterHouse(outside);
  const company = await findCompany(owner, options.company);
  const version = await ofCompany(owner, company.id, ['changeTemplate', id], async (client) => {
    const { rows } = await client.query<{ version: number }>(
      `update certo.templates set version = version + 1, updated_at = certo.now(), ${names.map((name, i) => `${name} = $${i + 3}`).join(', ')}
       where company_id = $1 and id = $2 and not is_archived returning version`,
      [company.id, id, ...Object.values(columns)],
    );
    if (rows[0] === undefined) throw new Refusal('TEMPLATE_NOT_FOUND');
    return rows[0].version;
  });
  const sentence = `The template ${id} has version ${version} now. What was printed before stays as it was.`;
  return told(outside, options, { id, version }, sentence);
}

/** Also the built-in one. Throws TEMPLATE_NOT_FOUND. */
export async function setDefault(outside: Outside, options: OfCompany, templateId: string): Promise<number> {
  const id = needId(templateId, 'a template');
  const { owner } = await enterHouse(outside);
  const company = await findCompany(owner, options.company);
  await ofCompany(owner, company.id, ['setDefaultTemplate', id], (client) => makeDefault(client, company.id, id));
  return told(outside, options, { id, isDefault: true }, `The template ${id} is the default of ${company.name}.`);
}

/** For good. If it was the default, the built-in one takes its place. Throws TEMPLATE_NOT_FOUND. */
export async function archive(outside: Outside, options: OfCompany, templateId: string): Promise<number> {
  const id = needId(templateId, 'a template');
  refuseBuiltIn(id);
  const { owner } = await enterHouse(outside);
  const company = await findCompany(owner, options.company);
  await ofCompany(owner, company.id, ['archiveTemplate', id], async (client) => {
    const { rowCount } = await client.query(
      `update certo.templates set is_archived = true, is_default = false, updated_at = certo.now()
       where company_id = $1 and id = $2 and not is_archived`,
      [company.id, id],
    );
    if (rowCount === 0) throw new Refusal('TEMPLATE_NOT_FOUND');
  });
  const sentence = `The template ${id} is archived: only documents that name it are still printed with it.`;
  return told(outside, options, { id, isArchived: true }, sentence);
}

/** It has no row, and looks the same everywhere. */
function refuseBuiltIn(id: string): void {
  if (id !== builtIn.id) return;
  throw new CommandError(
    exit.no,
    'The built-in template cannot be changed or archived: make one with certo template add.',
  );
}

interface TemplateRow {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly is_default: boolean;
  readonly formats: readonly string[];
  readonly language: string;
  readonly colour: string | null;
  readonly footer: string | null;
  readonly logo: number | null;
}

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly isDefault: boolean;
  readonly formats: readonly string[];
  readonly language: string;
  readonly hasLogo: boolean;
  readonly colour?: string;
  readonly footer?: string;
}

/** The built-in one first, then those that are not archived, by name. */
export async function list(outside: Outside, options: OfCompany): Promise<number> {
  const { owner } = await enterHouse(outside);
  const { id: companyId } = await findCompany(owner, options.company);
  const { rows } = await owner.query<TemplateRow>(
    `select id, name, version, is_default, formats, language, colour, footer, length(logo) as logo
     from certo.templates where company_id = $1 and not is_archived order by lower(name), id`,
    [companyId],
  );
  const templates: Listed[] = [
    { ...builtIn, version: 1, isDefault: rows.every((row) => row.is_default !== true), language: 'pt', hasLogo: false },
    ...rows.map(({ is_default, logo, colour, footer, ...row }) => ({
      ...row,
      isDefault: is_default === true,
      hasLogo: logo !== null,
      ...(colour === null ? {} : { colour }),
      ...(footer === null ? {} : { footer }),
    })),
  ];
  if (options.json === true) tellJson(outside, templates);
  else {
    const cells = templates.map(({ id, name, version, isDefault, language, colour = '-', hasLogo, formats }) => [
      isDefault ? `${name} (default)` : name,
      version,
      language,
      colour,
      hasLogo ? 'yes' : '-',
      formats.join(', '),
      id,
    ]);
    tell(outside, table(['Name', 'Version', 'Language', 'Colour', 'Logo', 'Formats', 'Id'], cells, ''));
  }
  return exit.ok;
}

type TemplateAct = 'addTemplate' | 'changeTemplate' | 'setDefaultTemplate' | 'archiveTemplate';

/** One change of a company's templates after the other, in one transaction. */
async function ofCompany<T>(
  owner: Pool,
  companyId: string,
  [act, id]: readonly [act: TemplateAct, id: string],
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  try {
    return await ownerTransaction(owner, async (client) => {
      await client.query('select 1 from certo.companies where id = $1 for no key update', [companyId]);
      const result = await work(client);
      await writeAct(client, companyId, act, id);
      return result;
    });
  } catch (error) {
    if ((error as { constraint?: string }).constraint === 'templates_name') {
      throw new CommandError(exit.no, 'The company has a template of this name already: choose another name.');
    }
    throw error;
  }
}

/** The built-in one has no row: it is the default when no other is. */
async function makeDefault(client: PoolClient, companyId: string, id: string): Promise<void> {
  await client.query('update certo.templates set is_default = false where company_id = $1 and is_default', [companyId]);
  if (id === builtIn.id) return;
  const { rowCount } = await client.query(
    'update certo.templates set is_default = true, updated_at = certo.now() where company_id = $1 and id = $2 and not is_archived',
    [companyId, id],
  );
  if (rowCount === 0) throw new Refusal('TEMPLATE_NOT_FOUND');
}

function told(outside: Outside, { json }: OfCompany, result: object, sentence: string): number {
  if (json === true) tellJson(outside, result);
  else tell(outside, sentence);
  return exit.ok;
}

function checkedName(name: string): string {
  const length = [...name].length;
  if (name.trim() === '' || length > 60 || /\p{Cc}/u.test(name)) {
    throw new CommandError(exit.usage, '--name has 1 to 60 characters on one line.');
  }
  checkText('--name', name);
  return name.trim();
}

async function checkedLogo(path: string): Promise<Buffer> {
  const file = await readGiven(path, logoFile);
  try {
    return Buffer.from(cleanLogo(file));
  } catch (error) {
    if (error instanceof LogoRefused) throw new CommandError(exit.no, error.message);
    throw error;
  }
}

function checkedColour(colour: string): string {
  if (!/^#[0-9a-f]{6}$/i.test(colour)) {
    throw new CommandError(exit.usage, `--colour ${colour} is no colour: write #rrggbb, such as #0f766e.`);
  }
  const contrast = contrastOnWhite(colour.toLowerCase());
  if (contrast < leastContrast) {
    throw new CommandError(
      exit.no,
      `${colour} is hard to read on white (contrast ${contrast.toFixed(1)}, at least ${leastContrast} is needed): ${readableColour(colour)} is dark enough.`,
    );
  }
  return colour.toLowerCase();
}

function checkedFooter(footer: string): string {
  // A command line has no easy line breaks: "\n" stands for one.
  const text = footer.replaceAll('\\n', '\n').trim();
  if ([...text].length > 1000 || text.split('\n').length > 12) {
    throw new CommandError(exit.usage, '--footer has at most 1000 characters and 12 lines.');
  }
  checkText('--footer', text);
  return text;
}
