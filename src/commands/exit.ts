/** How commands end: the exit codes, and the line that says why. */
import { isReadOnly, readOnlyWords } from '../db/errors.ts';
import { type Problem, Refusal, sentence } from '../fiscal/refusal.ts';

/** Exit codes, part of the contract with scripts. */
export const exit = {
  ok: 0,
  /** The command worked and its answer is no: findings, a refusal, wrong credentials. */
  no: 1,
  /** Wrong arguments, also of files to read or write, or wrong configuration: nothing was tried. */
  usage: 2,
  /** A port, the database, the data folder, the tax authority, or the output: it may work later, or elsewhere. */
  environment: 3,
  /** A fault of Certo itself. */
  fault: 70,
} as const;
export type ExitCode = (typeof exit)[keyof typeof exit];

/** Ends a command; `message` is one sentence for the operator and says what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: ExitCode;

  constructor(code: ExitCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Ending {
  readonly code: ExitCode;
  /** Without the "certo: " before each. */
  readonly lines: readonly string[];
}

/** Errors of the rooms below that are told as they are, by name: importing the classes would load the rooms. */
const environmental = new Set([
  'DatabaseUnavailable',
  'MigrationRefused',
  'DataDirectoryUnusable',
  'DataDirectoryInUse',
  'EmbeddedUnavailable',
]);

/** Of the database's errors, what is told before the codes are asked: this one has no code that is only its own. */
const readOnly: Ending = environment(
  `${capital(readOnlyWords)}: nothing was written. Point DATABASE_URL at the server that takes writes, or see why this one takes none.`,
);

/** What the driver throws where a server was killed or the wire was cut, without a code. */
const lostByDriver = /^(Connection terminated|Client has encountered a connection error)/;
const connectionBroke = environment(
  'The connection to the database broke: see whether the server runs, and try again.',
);

const noMemory = environment(
  'This process may not have the memory that it needs: allow more (ulimit -v), and try again.',
);

const cwdIsGone = 'The folder that this was started in is gone: change to one that is there (cd), and try again.';

/** What to tell and with which code to end, for whatever was thrown. Never says a secret; a stack only for faults of ours. */
export function endingOf(error: unknown): Ending {
  if (error instanceof CommandError) return { code: error.code, lines: [error.message] };
  if (error instanceof Refusal) return endingOfRefusal(error);
  if (!(error instanceof Error)) return { code: exit.fault, lines: [String(error)] };
  const problems = (error as { problems?: unknown }).problems;
  if (error.name === 'ConfigurationError' && Array.isArray(problems)) return { code: exit.usage, lines: problems };
  if (environmental.has(error.name)) return { code: exit.environment, lines: [error.message] };
  if (error.name === 'ConnectionLost' || error.name === 'OutcomeUnknown')
    return { code: exit.environment, lines: [`${capital(error.message)}.`] };
  if (isReadOnly(error)) return readOnly;
  if (lostByDriver.test(error.message)) return connectionBroke;
  // V8 has no code for it.
  if (error instanceof RangeError && /out of memory/i.test(error.message)) return noMemory;
  const known = endingOfCode(error as NodeJS.ErrnoException & { port?: number; address?: string });
  return known ?? { code: exit.fault, lines: [`this is a fault of Certo: ${error.stack ?? error.message}`] };
}

function endingOfRefusal(refusal: Refusal): Ending {
  const text = sentence(refusal.code, 'en', refusal.facts);
  if (refusal.problems.length > 0) return { code: exit.usage, lines: refusal.problems.map(problemLine) };
  if (refusal.code === 'SERIES_CODE_INVALID' || refusal.code === 'BACKUP_EXISTS')
    return { code: exit.usage, lines: [text] };
  return { code: refusal.status === 503 ? exit.environment : exit.no, lines: [text] };
}

/** Options that are not called as the field of the body that they are. */
const optionNames: Readonly<Record<string, string>> = { taxpayerNumber: 'nif', password: 'password-file' };

function problemLine({ pointer, code, facts }: Problem): string {
  const field = pointer.split('/')[1]!;
  const option = optionNames[field] ?? field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `--${option}: ${sentence(code, 'en', facts)}`;
}

function endingOfCode(error: NodeJS.ErrnoException & { port?: number; address?: string }): Ending | undefined {
  const place = `${error.address ?? ''}${error.port ? `:${error.port}` : ''}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return environment(`Port ${error.port} is taken by another program: stop it, or choose another port.`);
    case 'EADDRNOTAVAIL':
      return environment(`This machine has no address ${place}: choose another HOST.`);
    case 'EINVAL':
      // An address of a link says nothing without the link.
      return error.syscall === 'listen'
        ? {
            code: exit.usage,
            lines: [
              `HOST ${error.address} is no address to listen on: one that begins with fe80 needs its zone (fe80::1%eth0).`,
            ],
          }
        : undefined;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return environment(`The name ${(error as { hostname?: string }).hostname} is not known: check HOST.`);
    case 'EACCES':
    case 'EPERM':
      return environment(
        error.syscall === 'listen'
          ? `This user may not listen on ${place}: choose a port above 1023.`
          : `This user may not use ${error.path ?? 'a file'}: change its rights, or run this as a user who may.`,
      );
    case 'ENOENT':
      if (error.syscall === 'uv_cwd') return environment(cwdIsGone);
      return error.path === undefined ? undefined : environment(`There is no ${error.path}.`);
    case 'EISDIR':
      // Node names no path where a folder is read as a file.
      return environment(`${error.path ?? 'What was given'} is a folder: a file is wanted.`);
    case 'ENOSPC':
    case 'EDQUOT':
      // Node names no path where it writes.
      return environment(
        `${error.path === undefined ? 'The disk is full' : `There is no room for ${error.path}`}: make room, and try again.`,
      );
    case 'EFBIG':
      return environment(
        `${error.path ?? 'A file'} would be larger than this user or the file system may have it: see "ulimit -f", or choose another place.`,
      );
    case 'ENAMETOOLONG':
      return environment(
        `${error.path ?? 'The name of a file'} is too long for a name of a file: choose a shorter one.`,
      );
    case 'ELOOP':
      return environment(`The symbolic links of ${error.path ?? 'a file'} lead in a circle: name the file itself.`);
    case 'EMFILE':
    case 'ENFILE':
      return environment(
        `${error.code === 'EMFILE' ? 'This process' : 'This machine'} has as many files open as it may: allow more (ulimit -n), and try again.`,
      );
    case 'EIO':
      // Node names no path where it reads or writes.
      return environment(
        `${error.path ?? 'A file'} could not be read or written (EIO): the disk may be failing. See the log of this machine, and use another copy or another place.`,
      );
    case 'ENOTDIR':
    case 'EROFS':
      return environment(`${error.path ?? 'A file'} cannot be used (${error.code}): choose another place.`);
    case 'ECONNRESET':
      return connectionBroke;
    // The server was stopped, or ended us.
    case '57P01':
    case '57P02':
      return environment('The database server ended the connection: see whether it runs, and try again.');
    case '57P03':
      return environment('The database server is starting up or shutting down: see whether it runs, and try again.');
    case '53300':
      return environment(
        'The database server takes no more connections: try again when others have ended, or allow more (max_connections, or the CONNECTION LIMIT of the user or the database).',
      );
    case '53100':
      return environment('The disk of the database is full: make room, and try again.');
    // Rights that somebody has taken away, or tables that belong to somebody else.
    case '42501':
      return environment(
        `The database does not allow it: ${error.message}. Its tables have to belong to the role certo_owner and to grant certo_app what "certo migrate" granted it, and the user of DATABASE_URL has to be a member of both roles: grant that, or run "certo migrate" as the owner of the database.`,
      );
    // Undefined table, schema, function or role: a database that was never migrated.
    case '42P01':
    case '3F000':
    case '42883':
    case '42704':
      return environment('The database is not prepared yet: run "certo migrate" first.');
  }
  return undefined;
}

function environment(line: string): Ending {
  return { code: exit.environment, lines: [line] };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
