/** One line at a terminal that says how far long work is, at what rate, and how much is left. */
import type { Output } from './outside.ts';

export interface Progress {
  add(count: number): void;
  /** Removes the line. */
  end(): void;
}

const redraw_ms = 200;

/** Nothing is shown when the output is no terminal. `milliseconds` gives the time. */
export function openProgress(output: Output, what: string, total: number, milliseconds: () => number): Progress {
  const start = milliseconds();
  let done = 0;
  let drawn = start;
  const draw = (now: number): void => {
    drawn = now;
    output.write(`\r\u001b[K${progressLine(what, done, total, (now - start) / 1000)}`);
  };
  if (output.isTTY !== true) return { add: () => undefined, end: () => undefined };
  return {
    add(count) {
      done += count;
      const now = milliseconds();
      if (now - drawn >= redraw_ms) draw(now);
    },
    end() {
      output.write('\r\u001b[K');
    },
  };
}

/** The bytes of a file or of standard input, counted as they pass. */
export async function* watched(
  input: AsyncIterable<Uint8Array | string>,
  progress: Progress | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) {
    progress?.add(chunk.length);
    yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  }
}

/** "12 000 of 50 000 documents, 8 000 a second, 5 s left" */
export function progressLine(what: string, done: number, total: number, seconds: number): string {
  const rate = seconds > 0 ? done / seconds : 0;
  const left = rate > 0 ? `, ${grouped(Math.ceil(Math.max(0, total - done) / rate))} s left` : '';
  return `${grouped(done)} of ${grouped(total)} ${what}, ${grouped(Math.round(rate))} a second${left}`;
}

/** "1 company", "2 companies" */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** "12 000": a space between thousands. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ' ');
}
