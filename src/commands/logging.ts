/** The log: JSON lines on standard error, or short lines for a person at a terminal. */
import { type Logger, pino } from 'pino';
import { inSigns, type Output } from './outside.ts';

/** `level` as in CERTO_LOG_LEVEL. Whether it writes for a person is decided by the output. */
export function openLog(level: string, output: Output): Logger {
  const write = output.isTTY === true ? (line: string) => output.write(humanLine(line)) : output.write.bind(output);
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
}

const words: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const colours: Readonly<Record<number, string>> = { 40: '\u001b[33m', 50: '\u001b[31m', 60: '\u001b[31m' };

/**
 * "14:03:11 warn  the AT refused a document  code=-1 number=FT A/1". Messages and values may be of others, whose orders to the
 * terminal are no orders.
 */
export function humanLine(line: string): string {
  const { level, time, msg, err, ...facts } = JSON.parse(line) as Record<string, unknown> & { level: number };
  const colour = colours[level] ?? '';
  const more = Object.entries(facts).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const cause = (err as { message?: string; stack?: string } | undefined)?.stack;
  const said = [`${String(time).slice(11, 19)} ${(words[level] ?? '').padEnd(5)} ${msg ?? ''}`, ...more].join('  ');
  const text = inSigns(said);
  return `${colour}${text}${colour === '' ? '' : '\u001b[0m'}\n${cause === undefined ? '' : `${inSigns(cause)}\n`}`;
}
