/** Text broken into lines: greedily, where words end, so that none is wider than its place. */
import type { Shaped, Shaper, Weight } from './shaper.ts';

/** How a text looks: its size in points, its colour as the operators that set it. */
export interface Style {
  readonly weight: Weight;
  readonly size: number;
  readonly colour: string;
}

/** A text in one style; `before`: white before it in points, which is lost where a line begins. */
export interface Piece {
  readonly text: string;
  readonly style: Style;
  readonly before?: number;
}

/** A piece in its place, in points from where its line begins. */
export interface Placed {
  readonly shaped: Shaped;
  readonly style: Style;
  readonly x: number;
}

export interface Line {
  readonly placed: readonly Placed[];
  readonly width: number;
  /** From its baseline up to the top of the capitals, in points. */
  readonly height: number;
}

export interface Paragraph {
  readonly lines: readonly Line[];
  /** Between the baseline of a line and the capitals of the next. */
  readonly leading: number;
  readonly height: number;
  readonly width: number;
}

/** What lines are broken for. */
export interface Measure {
  readonly width: number;
  readonly leading: number;
  /** Portuguese repeats a word's hyphen at the start of the next line; here none is, as in a number of a document. */
  readonly isLiteral?: boolean;
}

/** Lines as they are given, each broken where it is too wide. */
export function paragraphOf(shaper: Shaper, given: readonly (readonly Piece[])[], measure: Measure): Paragraph {
  const lines: Line[] = [];
  let width = 0;
  let height = -measure.leading;
  for (const pieces of given) {
    const whole = lineOf(shaper, pieces);
    if (whole.width <= measure.width + tolerance) lines.push(whole);
    else for (const broken of brokenLines(shaper, pieces, measure)) lines.push(lineOf(shaper, broken));
  }
  for (const line of lines) {
    width = Math.max(width, line.width);
    height += measure.leading + line.height;
  }
  return { lines, leading: measure.leading, height: Math.max(0, height), width };
}

/** Of adding up numbers that are no whole ones. */
const tolerance = 0.01;

/** All on one line, however wide it gets. */
export function lineOf(shaper: Shaper, pieces: readonly Piece[]): Line {
  const placed: Placed[] = [];
  let [x, height] = [0, 0];
  for (const { text, style, before } of pieces) {
    if (before !== undefined && placed.length > 0) x += before;
    const shaped = shaper.shape(text, style.weight);
    placed.push({ shaped, style, x });
    x += (shaped.width * style.size) / 1000;
    height = Math.max(height, (shaped.capitals * style.size) / 1000);
  }
  return { placed, width: x, height };
}

/** What stands together up to the next place where a line may end. */
interface Segment {
  readonly piece: number;
  readonly text: string;
  /** Where it ends in the text of its piece. */
  readonly end: number;
  /** The white before it, when it begins its piece. */
  readonly before: number;
  /** A hyphen that stood at the end of the line before. */
  readonly isRepeated?: boolean;
}

function brokenLines(shaper: Shaper, pieces: readonly Piece[], { width, isLiteral }: Measure): Piece[][] {
  const widthOf = (text: string, { style }: Piece) => (shaper.shape(text, style.weight).width * style.size) / 1000;
  const lines: Piece[][] = [];
  let line: Segment[] = [];
  let used = 0;
  const end = () => {
    lines.push(joined(line, pieces));
    const last = line.at(-1)!;
    line = [];
    used = 0;
    if (isLiteral !== true && joinsWord(pieces[last.piece]!.text, last.end)) {
      line.push({ ...last, text: '-', before: 0, isRepeated: true });
      used = widthOf('-', pieces[last.piece]!);
    }
  };
  /** A hyphen that was repeated gives way to a word that needs the whole line. */
  const endFor = (needed: number) => {
    if (!isHyphenAlone(line)) end();
    if (isHyphenAlone(line) && used + needed > width + tolerance) [line, used] = [[], 0];
  };
  for (const segment of segmentsOf(pieces)) {
    const piece = pieces[segment.piece]!;
    const needed = widthOf(segment.text.trimEnd(), piece);
    if (line.length > 0 && used + segment.before + needed > width + tolerance) endFor(needed);
    const fitting =
      needed <= width + tolerance ? [segment] : cutToFit(segment, (text) => widthOf(text, piece), width - used);
    for (const [index, part] of fitting.entries()) {
      if (index > 0) endFor(widthOf(part.text, piece));
      line.push(part);
      used += (line.length > 1 ? part.before : 0) + widthOf(part.text, piece);
    }
  }
  if (line.length > 0) lines.push(joined(line, pieces));
  return lines;
}

function isHyphenAlone(line: readonly Segment[]): boolean {
  return line.length === 1 && line[0]!.isRepeated === true;
}

/**
 * A word wider than its place, as many letters on a line as fit: names of columns are narrow, and nothing may run over the
 * next. A text takes as long to measure as it is, so how far a line reaches is guessed, not tried letter by letter.
 */
function cutToFit(segment: Segment, widthOf: (text: string) => number, width: number): Segment[] {
  const letters = [...segment.text];
  const guess = Math.floor((width * letters.length) / widthOf(segment.text));
  const parts: Segment[] = [];
  let end = segment.end - segment.text.length;
  for (let from = 0; from < letters.length; ) {
    const some = (count: number): string => letters.slice(from, from + count).join('');
    const count = mostThatFit(letters.length - from, guess, (one) => widthOf(some(one)) <= width);
    const text = some(count);
    end += text.length;
    parts.push({ ...segment, text, end, before: parts.length === 0 ? segment.before : 0 });
    from += count;
  }
  return parts;
}

/** The largest count up to `all` that fits, one at least; sought from the guess on, in steps that double. */
function mostThatFit(all: number, guess: number, fits: (count: number) => boolean): number {
  let [fitting, beyond] = [1, all + 1];
  let count = Math.min(Math.max(guess, 1), all);
  for (let step = 1; beyond - fitting > 1; step *= 2) {
    const isFitting = count === 1 || fits(count);
    if (isFitting) fitting = Math.max(fitting, count);
    else beyond = count;
    const next = isFitting ? count + step : count - step;
    if (next <= fitting || next >= beyond) break;
    count = next;
  }
  while (beyond - fitting > 1) {
    const middle = (fitting + beyond) >> 1;
    if (fits(middle)) fitting = middle;
    else beyond = middle;
  }
  return fitting;
}

/** Letters and hyphens, in their quotes and brackets and with the sign behind; an apostrophe is a word's too ("pau-d’água"). */
const hyphenated = /^["'«“„‘([{]*(?:\p{L}[\p{L}\p{M}]*['’-])+\p{L}[\p{L}\p{M}]*["'»”’)\]}.,;:!?…]*$/u;

/**
 * Whether the text has a word's hyphen before a place. What has a figure or another sign within, or is in capitals, may be
 * an address or a reference ("A-12-B", "loja@casa-do-livro.pt"), which another hyphen would make another one.
 */
function joinsWord(text: string, at: number): boolean {
  if (text[at - 1] !== '-') return false;
  const [before, after] = [text.slice(0, at).split(/\s/).at(-1)!, text.slice(at).split(/\s/, 1)[0]!];
  const whole = (before + after).replaceAll(breakHere, '');
  return after !== '' && hyphenated.test(whole) && whole !== whole.toUpperCase();
}

/** Pieces of one line again. Spaces at its end are left out, as they are nothing to see. */
function joined(line: readonly Segment[], pieces: readonly Piece[]): Piece[] {
  const texts: { piece: number; text: string; before: number }[] = [];
  for (const { piece, text, before } of line) {
    const last = texts.at(-1);
    if (last?.piece === piece) last.text += text;
    else texts.push({ piece, text, before });
  }
  const last = texts.at(-1);
  if (last !== undefined) last.text = last.text.trimEnd();
  return texts.map(({ piece, text, before }) => ({ text, style: pieces[piece]!.style, before }));
}

function* segmentsOf(pieces: readonly Piece[]): Generator<Segment> {
  for (const [piece, { text, before = 0 }] of pieces.entries()) {
    let start = 0;
    for (let at = 1; at < text.length; at++) {
      if (!mayBreak(text, at)) continue;
      yield { piece, text: text.slice(start, at), end: at, before: start === 0 ? before : 0 };
      start = at;
    }
    yield { piece, text: text.slice(start), end: text.length, before: start === 0 ? before : 0 };
  }
}

const han = /[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]/;
/** Signs that stand with what is before them, or after them. */
const closing =
  /[!),./:;?\]}%»’”…\u3001\u3002\u3005\u3009\u300b\u300d\u300f\u3011\u3015\u30fc\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f]/;
/** Signs that go with what is before them even behind a space. */
const ending = /[!),./:;?\]}]/;
const opening = /[([{«‘“\u3008\u300a\u300c\u300e\u3010\u3014\uff08]/;
const breakHere = '\u200b';

/** Whether a line may end before a place of the text: after spaces and signs that divide (after UAX #14). */
function mayBreak(text: string, at: number): boolean {
  const [before, after] = [text[at - 1]!, text[at]!];
  if (before === breakHere) return true;
  if (after === ' ' || after === breakHere || after === '\u00a0' || after === '\u202f') return false;
  if (before === ' ' || before === '\u2002') return !ending.test(after);
  if (before === '-') return at > 1 && text[at - 2] !== ' ' && !/[\d-]/.test(after) && !closing.test(after);
  if (/[/|!?]/.test(before)) return !/\d/.test(after) && !closing.test(after) && before !== after;
  if (/[–—…]/.test(before)) return !closing.test(after) && before !== after;
  if (after === '—') return true;
  if (!han.test(before) && !han.test(after)) return false;
  return !closing.test(after) && !opening.test(before) && !/[\u00a0\u202f]/.test(before);
}
