/** The path language of SVG (SVG 1.1, 8.3) as lines and curves. What is wrong ends the path where it stands, as SVG has it. */
import type { Point } from './matrix.ts';
import type { Outline, Stroke } from './outlines.ts';

const item = /([a-zA-Z])|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/y;
/** Between numbers. */
const blank = /[\s,]*/y;
/** How many numbers each command takes. */
const counts: Readonly<Record<string, number>> = { m: 2, l: 2, h: 1, v: 1, c: 6, s: 4, q: 4, t: 2, a: 7, z: 0 };

/** Where the pen is while a path is read. */
interface Pen {
  readonly strokes: Stroke[];
  at: Point;
  start: Point;
  /** The last handle, of cubic (`c`) or quadratic (`q`) curves, which the next smooth one mirrors. */
  handle: { readonly kind: 'c' | 'q'; readonly point: Point } | undefined;
}

/** The outline of a `d`. */
export function outlineOf(d: string): Outline {
  const pen: Pen = { strokes: [], at: [0, 0], start: [0, 0], handle: undefined };
  const reader = new Reader(d);
  let command = reader.letter();
  // A path begins with a move.
  if (command === undefined || command.toLowerCase() !== 'm') return [];
  while (command !== undefined) {
    const count = counts[command.toLowerCase()];
    if (count === undefined) break;
    const numbers = reader.numbers(count, command.toLowerCase() === 'a');
    if (numbers === undefined) break;
    drawn(pen, command, numbers);
    const next = reader.letter();
    if (next !== undefined) command = next;
    else if (reader.isEnd || count === 0) break;
    // More numbers repeat the command; behind a move they are lines.
    else if (command === 'm') command = 'l';
    else if (command === 'M') command = 'L';
  }
  return pen.strokes;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#skip();
  }

  get isEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  letter(): string | undefined {
    const letter = this.#text[this.#at];
    if (letter === undefined || !/[a-zA-Z]/.test(letter)) return undefined;
    this.#at++;
    this.#skip();
    return letter;
  }

  /** Undefined where there are fewer. Of an arc the two flags are single digits, which need nothing behind them. */
  numbers(count: number, isArc: boolean): number[] | undefined {
    const all: number[] = [];
    while (all.length < count) {
      const isFlag = isArc && (all.length === 3 || all.length === 4);
      const number = isFlag ? this.#flag() : this.#number();
      if (number === undefined) return undefined;
      all.push(number);
    }
    return all;
  }

  #flag(): number | undefined {
    const digit = this.#text[this.#at];
    if (digit !== '0' && digit !== '1') return undefined;
    this.#at++;
    this.#skip();
    return Number(digit);
  }

  #number(): number | undefined {
    item.lastIndex = this.#at;
    const [found, letter] = item.exec(this.#text) ?? [];
    if (found === undefined || letter !== undefined) return undefined;
    this.#at += found.length;
    this.#skip();
    return Number(found);
  }

  #skip(): void {
    blank.lastIndex = this.#at;
    this.#at += blank.exec(this.#text)![0].length;
  }
}

function drawn(pen: Pen, command: string, numbers: readonly number[]): void {
  const kind = command.toLowerCase();
  const [x0, y0] = command === kind ? pen.at : [0, 0];
  const point = (index: number): Point => [x0 + numbers[index]!, y0 + numbers[index + 1]!];
  const last = pen.handle;
  pen.handle = undefined;
  if (kind === 'm') {
    pen.at = pen.start = point(0);
    pen.strokes.push(['m', pen.at]);
  } else if (kind === 'z') {
    pen.strokes.push(['h']);
    pen.at = pen.start;
  } else if (kind === 'l') lineTo(pen, point(0));
  else if (kind === 'h') lineTo(pen, [x0 + numbers[0]!, pen.at[1]]);
  else if (kind === 'v') lineTo(pen, [pen.at[0], y0 + numbers[0]!]);
  else if (kind === 'c') curveTo(pen, point(0), point(2), point(4));
  else if (kind === 's') curveTo(pen, mirrored(pen.at, last, 'c'), point(0), point(2));
  else if (kind === 'q') quadraticTo(pen, point(0), point(2));
  else if (kind === 't') quadraticTo(pen, mirrored(pen.at, last, 'q'), point(0));
  else arcTo(pen, numbers, point(5));
}

function lineTo(pen: Pen, to: Point): void {
  begin(pen);
  pen.strokes.push(['l', to]);
  pen.at = to;
}

/** Behind a way back the next stroke begins where the way ended. */
function begin(pen: Pen): void {
  if (pen.strokes.at(-1)?.[0] === 'h') pen.strokes.push(['m', pen.at]);
}

function curveTo(pen: Pen, first: Point, second: Point, to: Point): void {
  begin(pen);
  pen.strokes.push(['c', first, second, to]);
  pen.handle = { kind: 'c', point: second };
  pen.at = to;
}

function quadraticTo(pen: Pen, handle: Point, to: Point): void {
  const toward = ([x, y]: Point): Point => [x + ((handle[0] - x) * 2) / 3, y + ((handle[1] - y) * 2) / 3];
  curveTo(pen, toward(pen.at), toward(to), to);
  pen.handle = { kind: 'q', point: handle };
}

function mirrored([x, y]: Point, last: Pen['handle'], kind: 'c' | 'q'): Point {
  return last?.kind === kind ? [2 * x - last.point[0], 2 * y - last.point[1]] : [x, y];
}

/** A piece of an ellipse through two points (SVG 1.1, F.6), as curves of a quarter at most. */
function arcTo(pen: Pen, numbers: readonly number[], to: Point): void {
  const [rx, ry, turn, large, sweep] = numbers as readonly [number, number, number, number, number];
  const from = pen.at;
  if (from[0] === to[0] && from[1] === to[1]) return;
  if (rx === 0 || ry === 0) {
    lineTo(pen, to);
    return;
  }
  const [sine, cosine] = [Math.sin((turn * Math.PI) / 180), Math.cos((turn * Math.PI) / 180)];
  const half: Point = [(from[0] - to[0]) / 2, (from[1] - to[1]) / 2];
  const x = cosine * half[0] + sine * half[1];
  const y = -sine * half[0] + cosine * half[1];
  const tooFar = x ** 2 / rx ** 2 + y ** 2 / ry ** 2;
  const scale = tooFar > 1 ? Math.sqrt(tooFar) : 1;
  const [a, b] = [Math.abs(rx) * scale, Math.abs(ry) * scale];
  const over = a ** 2 * b ** 2 - a ** 2 * y ** 2 - b ** 2 * x ** 2;
  const root = Math.sqrt(Math.max(0, over / (a ** 2 * y ** 2 + b ** 2 * x ** 2))) * (large === sweep ? -1 : 1);
  const centre: Point = [(root * a * y) / b, (-root * b * x) / a];
  const start = Math.atan2((y - centre[1]) / b, (x - centre[0]) / a);
  let angle = Math.atan2((-y - centre[1]) / b, (-x - centre[0]) / a) - start;
  if (sweep === 0 && angle > 0) angle -= 2 * Math.PI;
  if (sweep === 1 && angle < 0) angle += 2 * Math.PI;
  const middle: Point = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
  const place = (u: number, v: number): Point => [
    cosine * (centre[0] + a * u) - sine * (centre[1] + b * v) + middle[0],
    sine * (centre[0] + a * u) + cosine * (centre[1] + b * v) + middle[1],
  ];
  const parts = Math.max(1, Math.ceil(Math.abs(angle) / (Math.PI / 2) - 1e-9));
  const step = angle / parts;
  const reach = (4 / 3) * Math.tan(step / 4);
  for (let part = 0; part < parts; part++) {
    const [before, after] = [start + part * step, start + (part + 1) * step];
    const [u, v, p, q] = [Math.cos(before), Math.sin(before), Math.cos(after), Math.sin(after)];
    const end = part === parts - 1 ? to : place(p, q);
    curveTo(pen, place(u - reach * v, v + reach * u), place(p + reach * q, q - reach * p), end);
  }
  pen.handle = undefined;
}
