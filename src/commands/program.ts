/** The commands, their options and their help. Each is loaded when it is called. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { documentTypes } from '../fiscal/document.ts';
import type { Add } from './add-command.ts';
import { addBackup } from './backup-program.ts';
import { exit } from './exit.ts';
import type { Outside } from './outside.ts';
import { addReports } from './reports-program.ts';
import { addTemplates } from './template-program.ts';
import { version } from './version.ts';

const unchangeable = `
Issued documents keep what they say. A draft whose activity code the company has
no more is not issued until another one is given to it.

NIF and region stay as they are: series, documents and their seals are of this
taxpayer, and its day, by which documents follow each other, is the region's.`;

type Run = (outside: Outside, options: never, ...args: never[]) => Promise<number>;

const exitCodes = `
Exit codes:
  0   done
  1   the answer is no: findings, a refusal, wrong credentials
  2   wrong arguments or configuration; also a file to read that is not
      there, or one to write that is
  3   a port, the database, the data folder, the tax authority, or an output
      that can't be written
  70  a fault of Certo itself
  129, 130, 143  ended by a signal: the terminal gone, Ctrl-C, kill
      (serve ends in order, with 0)`;

/** Runs one command line and resolves with its exit code. Throws what endingOf explains. */
export async function runCommandLine(outside: Outside, args: readonly string[]): Promise<number> {
  let code: number = exit.ok;
  const program = new Command('certo')
    .description('Certified invoicing for Portugal.')
    .version(version(), '-V, --version', 'print the version')
    .helpCommand('help [command]', 'help on a command')
    .addHelpText('after', exitCodes)
    .showHelpAfterError('certo: "certo help" lists the commands, "certo help <command>" says how one is called.')
    .exitOverride()
    // An option belongs to the command that it stands behind: --json of "backup check" is not that of "backup".
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => void outside.stdout.write(text),
      writeErr: (text) => void outside.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'certo: ').replace('\n(Did you', ' (Did you')),
    });
  /** One command; `load` gives what runs it with (outside, options, ...arguments). */
  const add = (parent: Command, usage: string, summary: string, example: string, load: () => Promise<unknown>) => {
    const command = parent
      .command(usage)
      .description(summary)
      .option('--json', 'print JSON')
      .addHelpText('after', `\nExample:\n  ${example}`);
    command.action(async (...given: unknown[]) => {
      const run = (await load()) as Run;
      // Commander hands over the arguments, then the options, then the command itself.
      const [options, ...rest] = [given.at(-2), ...given.slice(0, -2)] as [never, ...never[]];
      code = await run(outside, options, ...rest);
    });
    return command;
  };
  addService(program, add);
  addBackup(program, add);
  addCompanies(program, add);
  addSeries(program, add);
  addReports(program, add);
  addTemplates(program, add);
  addKeys(program, add);
  addSaft(program, add);
  addImport(program, add);
  try {
    await program.parseAsync([...unfolded(program, args)], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exit.ok : exit.usage;
  }
  return code;
}

/** `help saft export` as `saft export --help`: Commander's own `help` reads one word, and tells nobody of one it does not know. */
function unfolded(program: Command, args: readonly string[]): readonly string[] {
  const [first, ...words] = args;
  if (first !== 'help' || words[0] === undefined) return args;
  // The variables are a table of their own, wherever they are asked for.
  if (words[0] === 'environment') return words;
  const known: string[] = [];
  let command: Command | undefined = program;
  for (const word of words) {
    command = command.commands.find((one) => one.name() === word);
    if (command === undefined) break;
    known.push(word);
  }
  return known.length === 0 ? [words[0]] : [...known, '--help'];
}

function addService(program: Command, add: Add): void {
  add(program, 'serve', 'run the service', 'PORT=8080 certo serve', async () => (await import('./serve.ts')).serve);
  add(
    program,
    'demo',
    'make three companies to try things with, once, and print them (users and applications are not part of it yet)',
    'certo demo --json',
    async () => (await import('./demo.ts')).demo,
  );
  add(program, 'migrate', 'bring the database to this version', 'certo migrate', async () => {
    return (await import('./migrate.ts')).migrateCommand;
  });
  add(
    program,
    'verify',
    'check every issued document: gaps, numbers, signatures, totals, seals, and what happened to it since',
    'certo verify --company 599999900',
    async () => (await import('./verify.ts')).verify,
  )
    .option('--company <id or NIF>', 'only this company')
    .option(
      '--resolve <note>',
      'accept what is found of the company, for ever on record with this note: it can issue again',
    );
  add(
    program,
    'at-simulator',
    'run the simulated tax authority in the foreground',
    'certo at-simulator --directory ./at --port 7443 --control-port 7080',
    async () => (await import('./at-simulator.ts')).atSimulator,
  )
    .option('--directory <folder>', 'keys, certificates and ledger (default: simulator in the data folder)')
    .option('--port <number>', 'port of the web services', portNumber)
    .option('--control-port <number>', 'port of the control interface', portNumber)
    .option('--until-input-ends', 'end when standard input ends');
  add(program, 'environment', 'list the environment variables', 'certo help environment', async () => {
    return (await import('./environment.ts')).environment;
  });
}

function addCompanies(program: Command, add: Add): void {
  const company = program.command('company').description('the companies that issue');
  const contact = (command: Command) =>
    command
      .option('--address <text>', 'street and number')
      .option('--postal-code <code>', 'NNNN-NNN')
      .option('--city <text>', 'city')
      .option('--email <address>', 'e-mail address')
      .option('--phone <number>', 'telephone, 20 characters at most')
      .option('--website <address>', 'website, 60 characters at most');
  const created = add(
    company,
    'create',
    'add a company',
    'certo company create --name "Casa Nova, Lda" --nif 599999942 --cae 62010 --address "Rua Nova, 7" --postal-code 1100-001 --city Lisboa',
    async () => (await import('./company.ts')).create,
  )
    .requiredOption('--name <name>', 'as printed on documents')
    .requiredOption('--nif <nif>', 'tax number, nine digits')
    .requiredOption('--cae <code...>', 'activity code, five digits; repeat it for more')
    .addOption(
      new Option('--region <region>', 'mainland, Madeira or Azores').choices(['PT', 'PT-MA', 'PT-AC']).default('PT'),
    );
  contact(created);
  const changed = add(
    company,
    'change <company>',
    'change what a company says of itself on open drafts and whatever is issued from now on; an empty text takes a field away',
    'certo company change 599999942 --address "Rua Nova, 7" --postal-code 1100-001',
    async () => (await import('./company.ts')).change,
  )
    .option('--name <name>', 'as printed on documents')
    .option('--cae <code...>', 'all of its activity codes, five digits each')
    .addHelpText('after', unchangeable);
  contact(changed);
  add(company, 'list', 'list the companies', 'certo company list', async () => (await import('./company.ts')).list);
  add(company, 'show <company>', 'show a company, by id or NIF', 'certo company show 599999942', async () => {
    return (await import('./company.ts')).show;
  });
  add(
    company,
    'credentials <company>',
    "set the company's sub-user at the AT and try it; the password comes from a file, a pipe or the keyboard",
    'certo company credentials 599999942 --username 599999942/1 --password-file ./password',
    async () => (await import('./credentials.ts')).credentials,
  )
    .requiredOption('--username <user>', 'sub-user of the tax portal, NIF/number')
    .option('--password-file <file>', 'file with the password; without it, standard input is read');
  add(
    company,
    'cash-vat <company>',
    'set from when to when the company is in the cash VAT scheme (regime de IVA de caixa)',
    'certo company cash-vat 599999942 --from 2027-01-01',
    async () => (await import('./cash-vat.ts')).cashVat,
  )
    .option('--from <day>', 'first day of the scheme, YYYY-MM-DD')
    .option('--until <day>', 'last day of it; without, it goes on')
    .option('--never', 'the company is not in it');
}

function addSeries(program: Command, add: Add): void {
  const series = program.command('series').description("a company's document series");
  add(
    series,
    'register',
    'register series at the AT',
    'certo series register --company 599999942 --type INVOICE --type CREDIT_NOTE --code A2026',
    async () => (await import('./series.ts')).register,
  )
    .requiredOption('--company <id or NIF>', 'whose')
    .requiredOption('--code <code>', 'identifier, e.g. A2026')
    .addOption(new Option('--type <type...>', 'document type; repeat it for more').choices(Object.keys(documentTypes)))
    .option('--all-types', 'one for every document type')
    .addOption(
      new Option('--kind <kind>', 'training and recovery documents have series of their own')
        .choices(['normal', 'training', 'recovery'])
        .default('normal'),
    )
    .option('--cash-vat', 'for the cash VAT scheme: invoices, notes, and receipts with their VAT (RC)');
  add(series, 'list', 'list series', 'certo series list --company 599999942', async () => {
    return (await import('./series.ts')).list;
  }).requiredOption('--company <id or NIF>', 'whose');
  add(
    series,
    'default <series>',
    'use it for documents of its type that name no series',
    'certo series default 0197a5c2-… --company 599999942',
    async () => (await import('./series.ts')).setDefault,
  ).requiredOption('--company <id or NIF>', 'whose');
  add(
    series,
    'finalize <series>',
    'end a series at the AT, for good; nothing more is issued in it',
    'certo series finalize 0197a5c2-… --company 599999942',
    async () => (await import('./end-series.ts')).finalize,
  )
    .requiredOption('--company <id or NIF>', 'whose')
    .option('--justification <text>', 'told to the AT');
  add(
    series,
    'annul <series>',
    'take back the registration of a series in which nothing was issued',
    'certo series annul 0197a5c2-… --company 599999942',
    async () => (await import('./end-series.ts')).annul,
  ).requiredOption('--company <id or NIF>', 'whose');
}

function addKeys(program: Command, add: Add): void {
  const apiKey = program.command('api-key').description('the API keys of a company');
  const ofCompany = (command: Command) => command.requiredOption('--company <id or NIF>', 'whose');
  const keysOf = () => import('./api-key.ts');
  ofCompany(
    add(
      apiKey,
      'create',
      'make a key and show it once',
      'certo api-key create --company 599999942 --name shop',
      async () => {
        return (await keysOf()).create;
      },
    ),
  ).requiredOption('--name <text>', 'what it is for');
  ofCompany(
    add(apiKey, 'list', 'list keys, without their secrets', 'certo api-key list --company 599999942', async () => {
      return (await keysOf()).list;
    }),
  );
  ofCompany(
    add(
      apiKey,
      'revoke <id>',
      'revoke a key at once',
      'certo api-key revoke 0197a5c2-… --company 599999942',
      async () => {
        return (await keysOf()).revoke;
      },
    ),
  );
  ofCompany(
    add(
      apiKey,
      'rotate <id>',
      'replace a key by a new one, shown once; idempotency keys go on to count',
      'certo api-key rotate 0197a5c2-… --company 599999942',
      async () => (await keysOf()).rotate,
    ),
  );
  const keys = program.command('keys').description('the keys that sign documents');
  const signing = () => import('./keys.ts');
  add(keys, 'list', 'list key versions', 'certo keys list', async () => (await signing()).list);
  add(
    keys,
    'export',
    'write a public key as the AT wants it with declaration Modelo 24',
    'certo keys export --out ChavePublica.txt',
    async () => (await signing()).exportKey,
  )
    .option('--out <file>', 'where to; without it, standard output')
    .option('--key-version <number>', 'which version; the newest without it', wholeNumber);
  add(
    keys,
    'import <file>',
    'import an RSA private key of 1024 bits (PEM) as the next version',
    'openssl genrsa -out ChavePrivada.pem 1024 && certo keys import ChavePrivada.pem',
    async () => (await signing()).importKey,
  );
  add(keys, 'rotate', 'generate the next version; not for production', 'certo keys rotate', async () => {
    return (await signing()).rotate;
  });
}

function addImport(program: Command, add: Add): void {
  const imports = program.command('import').description('documents issued with other programs, to be listed only');
  add(
    imports,
    'at-invoices <file>',
    "import e-Fatura's CSV export of a company's documents as issuer, or - for standard input; all or nothing",
    'certo import at-invoices efatura-2026.csv --company 599999942',
    async () => (await import('./import-at-invoices.ts')).importFile,
  )
    .requiredOption('--company <id or NIF>', 'whose')
    .option('--dry-run', 'tell what would happen, and change nothing')
    .addOption(new Option('--language <language>', 'of the problems').choices(['en', 'pt']).default('en'));
}

function addSaft(program: Command, add: Add): void {
  const saft = program.command('saft').description('the audit file SAF-T (PT) 1.04_01');
  add(
    saft,
    'export',
    "write a company's documents of a period; all of them, whatever their type and state",
    'certo saft export --company 599999942 --from 2026-03-01 --to 2026-03-31 --out saft-2026-03.xml',
    async () => (await import('./saft.ts')).exportFile,
  )
    .requiredOption('--company <id or NIF>', 'whose')
    .requiredOption('--from <day>', 'first document date, YYYY-MM-DD')
    .requiredOption('--to <day>', 'last document date')
    .option('--out <file>', 'where to; without it, standard output')
    .addOption(new Option('--encoding <encoding>', 'of the file').choices(['UTF-8', 'Windows-1252']).default('UTF-8'))
    .option('--producer-nif <nif>', "NIF that the AT's certificate of the program is on, instead of CERTO_PRODUCER_NIF")
    .option('--producer <name>', 'its holder, instead of CERTO_PRODUCER');
  add(
    saft,
    'check <file>',
    "check anybody's file, or - for standard input: schema, figures, and with --key the signatures",
    'certo saft check saft-2026-03.xml --key ChavePublica.txt',
    async () => (await import('./saft-check.ts')).checkFile,
  )
    .option('--key <file...>', 'public key (PEM) of the program that wrote it; several: version 1, 2 …')
    .addOption(new Option('--language <language>', 'of the findings').choices(['en', 'pt']).default('en'));
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Not a whole number.');
  return Number(text);
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}
