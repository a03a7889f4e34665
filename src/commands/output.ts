/** Standard output such that what could not be written is known, and what was written has left before the process ends. */
import { fstatSync, statSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import { Writable } from 'node:stream';
import { CommandError, exit } from './exit.ts';
import type { Output } from './outside.ts';

/**
 * `stream`, or where the descriptor is a file or a device a stream that writes all of each piece: Node's own writes once,
 * and what a disk that is nearly full did not take of it is nobody's.
 */
export function outputOf(descriptor: number, stream: Output): Output {
  const place = fstatSync(descriptor);
  if (stream.isTTY === true || !(place.isFile() || place.isCharacterDevice())) return stream;
  const output = new Writable({
    write(bytes: Buffer, _encoding, done) {
      try {
        for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
      } catch (error) {
        return done(error as Error);
      }
      done();
    },
  });
  // Also one that was closed: Node opens it there.
  const nowhere = statSync(devNull, { throwIfNoEntry: false });
  return Object.assign(output, { goesNowhere: place.isCharacterDevice() && place.rdev === nowhere?.rdev });
}

/** A reader that went away (certo verify | head) has what it wanted. */
export function isReaderGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'ECONNRESET';
}

/** Resolves when all that was written has left, or never will. */
export function hasLeft(output: Writable): Promise<void> {
  // What is told of an error comes before.
  return new Promise((resolve) => void output.write('', () => setImmediate(resolve)));
}

/** Ends a command whose answer is lost. */
export function outputLost(error: NodeJS.ErrnoException): CommandError {
  return new CommandError(
    exit.environment,
    `The output could not be written (${whyNot(error)}). What the command did is done: look before you run it again.`,
  );
}

/** "the disk is full" */
export function whyNot(error: NodeJS.ErrnoException): string {
  if (isReaderGone(error)) return 'whoever read it went away';
  return error.code === 'ENOSPC' || error.code === 'EDQUOT' ? 'the disk is full' : (error.code ?? error.message);
}
