/** What every session of ours begins with, whatever the server, the database, its users or PGOPTIONS say. */

// What a database or a user of it may have otherwise (ALTER DATABASE, ALTER ROLE … SET), and the books depend on. A space
// within a value has a backslash before it.
const needed = [
  // A number that was answered is on the disk. Claims alone may say otherwise, for their transaction.
  'synchronous_commit=on',
  // What was locked is read as it is then, not as it was when the transaction began.
  'default_transaction_isolation=read\\ committed',
  'row_security=on',
  // How values are written and read.
  'standard_conforming_strings=on',
  'array_nulls=on',
  'transform_null_equals=off',
  'timezone=UTC',
  'datestyle=ISO',
  'intervalstyle=postgres',
  'bytea_output=hex',
  // Whoever waits for a lock waits as long as its statement may, and an idle connection is kept.
  'lock_timeout=0',
  'idle_session_timeout=0',
];

// Statements here are short: compiling them costs more than it saves. Before PostgreSQL 18 a plan that can only read a table
// as a whole costs ten thousand millions where that is to be avoided (enable_seqscan=off), and was compiled each time, for a second.
const quick = ['jit=off'];

/** Where names without a schema are looked for: no other program has it so. */
export const searchPath = 'certo,public';

/** Name=value of each; `statementTimeout` in milliseconds, 0 for no limit. */
export function sessionSettings(statementTimeout: number): string[] {
  return [
    `search_path=${searchPath}`,
    ...needed,
    ...quick,
    `statement_timeout=${statementTimeout}`,
    // A transaction of ours never waits for anything but the signer.
    `idle_in_transaction_session_timeout=${statementTimeout === 0 ? 0 : 60_000}`,
  ];
}

/** As the options of a connection have them. */
export function asFlags(settings: readonly string[]): string {
  return settings.map((setting) => `-c ${setting}`).join(' ');
}

/** Of a session that takes the time it needs. */
export const ownSettings = asFlags(sessionSettings(0));
