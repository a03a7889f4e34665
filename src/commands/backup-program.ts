/** What is kept against loss, and how it comes back: `certo backup`, `restore` and `recover`, with their help. */
import type { Command } from 'commander';
import type { Add } from './add-command.ts';

const backupHelp = `
One file of all companies, copied while the service works, as they stood at one
instant. It is compressed and carries checksums; it is not encrypted, apart
from the secrets in it: guard it like the database, away from it, for ten
years.

The master key is not in the file. Keep a copy of it somewhere else: without it
nothing is restored and nothing issued.`;

const restoreHelp = `
The database must be empty, the service stopped, and the master key of the same
installation in its place (master.key in the data folder, or
CERTO_MASTER_KEY_FILE). Everything is verified before it can be used; until
then nothing is changed. Where a restore was broken off, nothing else runs:
restore again, into the same place or an empty one.

Whatever was issued after the backup is lost, and its numbers are not known. So
every open series is closed, unless --nothing-lost says that nothing was issued
since (the service was stopped before the backup was taken, and not started
again). Then register new series, and enter the lost documents from their
duplicates (certo recover).

Each restore is counted and dated: certo verify tells of them.`;

const recoveryHelp = `
The file is JSON: a list of documents, each the body of POST /invoices with
what it stands for, or a credit note or a receipt.

  {
    "documents": [
      {
        "kind": "M",                   M: printed form. D: copy of a lost document
        "original": "abc/00001",       M: series/number. D: the whole number, "FT A2025/99"
        "type": "INVOICE",             or SIMPLIFIED_INVOICE, INVOICE_RECEIPT, DEBIT_NOTE
        "date": "2026-03-02",          of the original
        "total": 123,                  of the original, with VAT
        "cae": "62010",
        "customerId": "0197a5c2-…",
        "items": [{ "id": "0197a5c3-…", "quantity": 1, "unitPrice": 100 }],
        "reported": false,             whether the AT has it already by its original number;
                                       by default true of D and false of M
        "cashVat": false               whether it carries the mention of the cash VAT scheme
      },
      {
        "kind": "D",
        "original": "NC A2025/5",
        "type": "CREDIT_NOTE",
        "parentInvoiceNumber": "FT A2025/99",   its invoice in the books or in this file; of a
                                       form "FTM abc/00001"
        "customerId": "0197a5c2-…",    of the invoice
        "reason": "Devolução",
        "items": [{ "line": 1, "quantity": 1 }],  lines of the invoice by their places on it;
                                       without items, all that is open of it
        "date": "2026-03-05",
        "total": 123
      },
      {
        "kind": "D",
        "original": "RG A2025/7",      RC of the cash VAT scheme
        "type": "RECEIPT",
        "parentInvoiceNumber": "FT A2025/98",
        "customerId": "0197a5c2-…",
        "date": "2026-03-06",
        "total": 369,                  what was received
        "method": "MB"
      }
    ]
  }

First register a series of each type: certo series register --kind recovery
--type INVOICE CREDIT_NOTE RECEIPT --code R2026 (of RC with --cash-vat).
A lost invoice is recovered before its notes and receipts, by an earlier file
or by the same one. These are entered before anything else is credited or paid
on their invoices: whatever was since is gone from what they can take.
Nothing is written while the file has a problem. After an interruption, run the
same file again: what was recovered is left as it is. The same original is
never recovered twice, in whatever letter case or with other leading zeros.`;

/** Their modules are loaded when they are called, as with all commands. */
export function addBackup(program: Command, add: Add): void {
  const backups = () => import('./backup.ts');
  const backup = add(
    program,
    'backup',
    'write everything in the database into one file with checksums, while the service works',
    'certo backup --out /backups/certo-2026-03-31.backup',
    async () => (await backups()).backup,
  )
    .option('--out <file>', 'where to; without it, certo-DATE.backup in this folder')
    .addHelpText('after', backupHelp)
    .enablePositionalOptions();
  add(
    backup,
    'check <file>',
    'check that a backup is whole; needs no database and no key',
    'certo backup check certo-2026-03-31.backup',
    async () => (await backups()).checkBackup,
  );
  add(
    program,
    'restore <file>',
    'load a backup into an empty database, verify it, and close the series whose last numbers may be lost',
    'certo restore certo-2026-03-31.backup',
    async () => (await import('./restore.ts')).restore,
  )
    .option('--nothing-lost', 'nothing was issued after the backup: the series stay open')
    .addHelpText('after', restoreHelp);
  add(
    program,
    'recover <file>',
    'enter documents issued on printed forms (M), or lost with their data (D), into a recovery series',
    'certo recover lost.json --company 599999942',
    async () => (await import('./recover.ts')).recover,
  )
    .requiredOption('--company <id or NIF>', 'whose')
    .option('--series <code>', 'recovery series; the only one when absent')
    .option('--dry-run', 'only say what is wrong with the file')
    .addHelpText('after', recoveryHelp);
}
