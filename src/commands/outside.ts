/** What a command gets of the process it runs in. Only main.ts makes one from `process`. */
import type { Readable, Writable } from 'node:stream';

export interface Outside {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** 0 is root. */
  readonly uid: number;
  readonly pid: number;
  /** The Node program and our own script, to start ourselves again. */
  readonly node: string;
  readonly script: string;
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly stdout: Output;
  readonly stderr: Output;
  /** Work to be done before the process ends, however the command ends (also by Ctrl-C, SIGTERM or SIGHUP), the latest first. */
  atEnd(work: () => Promise<unknown>): void;
  /** From now on a signal is the ordinary way to end: exit code 0. */
  serves(): void;
  /** Ends the process in order with this exit code. */
  end(code: number): void;
}

export type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** The null device: nobody will ever read it. */
  readonly goesNowhere?: boolean;
};

/** Options that every command has. */
export interface Common {
  readonly json?: boolean;
}

// All controls but the tab and the line break, and what turns the direction of the characters behind it.
const orders = /[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Text as a terminal may have it: much of what commands tell was written by others (files that are checked, names, answers
 * of the AT), and what is an order to a terminal and no sign is told by its number, "<U+001B>".
 */
export function inSigns(text: string): string {
  return text.replace(orders, (order) => `<U+${hexOf(order).toUpperCase()}>`);
}

const hexOf = (character: string): string => character.charCodeAt(0).toString(16).padStart(4, '0');

/** One line of people's text, or with --json one line of JSON. */
export function tell(outside: Outside, line: string): void {
  outside.stdout.write(`${inSigns(line)}\n`);
}

/** One line. The same value, whatever a terminal makes of it. */
export function tellJson(outside: Outside, value: unknown): void {
  const json = JSON.stringify(value).replace(orders, (order) => `\\u${hexOf(order)}`);
  outside.stdout.write(`${json}\n`);
}

/** Text that is shown but once. Resolves when it has left this process; rejects with what kept it. */
export function show(outside: Outside, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    outside.stdout.write(`${text}\n`, (error) => (error ? reject(error) : resolve()));
  });
}

/** A remark beside the result: standard error, so that a result can be piped on. */
export function remark(outside: Outside, line: string): void {
  outside.stderr.write(`certo: ${inSigns(line)}\n`);
}
