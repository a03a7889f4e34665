/** Shapes of SVG as lines and curves (SVG 1.1, 8 and 9). */
import { type Matrix, moved, type Point } from './matrix.ts';

/** A move, a line, a curve with its two handles, or the way back to the last move. */
export type Stroke =
  | readonly ['m', Point]
  | readonly ['l', Point]
  | readonly ['c', Point, Point, Point]
  | readonly ['h'];

export type Outline = readonly Stroke[];

/** As operators of PDF, every point mapped. */
export function operatorsOf(outline: Outline, matrix?: Matrix): string {
  const write = (point: Point) => {
    const [x, y] = matrix === undefined ? point : moved(matrix, point);
    return `${Number(x.toFixed(4))} ${Number(y.toFixed(4))}`;
  };
  let text = '';
  for (const [kind, ...points] of outline)
    text += `${points.map(write).join(' ')}${points.length > 0 ? ' ' : ''}${kind}\n`;
  return text;
}

/** Lowest and highest x and y. */
export interface Bounds {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly low: number;
}

/** What holds two. */
export function around(one: Bounds | undefined, other: Bounds | undefined): Bounds | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    left: Math.min(one.left, other.left),
    top: Math.min(one.top, other.top),
    right: Math.max(one.right, other.right),
    low: Math.max(one.low, other.low),
  };
}

/** A curve lies between so many of its points, as near as anybody sees. */
const sampled = 24;

/** The box around an outline, without its stroke; undefined where there is nothing. */
export function boundsOf(outline: Outline, matrix: Matrix): Bounds | undefined {
  let box: Bounds | undefined;
  let from: Point = [0, 0];
  const take = (point: Point) => {
    const [x, y] = moved(matrix, point);
    box = around(box, { left: x, top: y, right: x, low: y });
  };
  for (const stroke of outline) {
    if (stroke[0] === 'h') continue;
    const end = stroke.at(-1) as Point;
    if (stroke[0] === 'c') {
      for (let step = 1; step < sampled; step++) take(onCurve(from, stroke[1], stroke[2], stroke[3], step / sampled));
    }
    take(end);
    from = end;
  }
  return box;
}

function onCurve(a: Point, b: Point, c: Point, d: Point, t: number): Point {
  const [p, q, r, s] = [(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2, t ** 3];
  return [p * a[0] + q * b[0] + r * c[0] + s * d[0], p * a[1] + q * b[1] + r * c[1] + s * d[1]];
}

/** How far the handles of a quarter of a circle lie out, in radii. */
const round = 0.552_284_75;

/** An ellipse. */
export function ellipse(cx: number, cy: number, rx: number, ry: number): Outline {
  const [kx, ky] = [rx * round, ry * round];
  return [
    ['m', [cx + rx, cy]],
    ['c', [cx + rx, cy + ky], [cx + kx, cy + ry], [cx, cy + ry]],
    ['c', [cx - kx, cy + ry], [cx - rx, cy + ky], [cx - rx, cy]],
    ['c', [cx - rx, cy - ky], [cx - kx, cy - ry], [cx, cy - ry]],
    ['c', [cx + kx, cy - ry], [cx + rx, cy - ky], [cx + rx, cy]],
    ['h'],
  ];
}

/** A rectangle, its corners round. */
export function rectangle(x: number, y: number, width: number, height: number, rx: number, ry: number): Outline {
  const [right, low] = [x + width, y + height];
  if (rx <= 0 || ry <= 0) return [['m', [x, y]], ['l', [right, y]], ['l', [right, low]], ['l', [x, low]], ['h']];
  const [nx, ny] = [rx * (1 - round), ry * (1 - round)];
  return [
    ['m', [x + rx, y]],
    ['l', [right - rx, y]],
    ['c', [right - nx, y], [right, y + ny], [right, y + ry]],
    ['l', [right, low - ry]],
    ['c', [right, low - ny], [right - nx, low], [right - rx, low]],
    ['l', [x + rx, low]],
    ['c', [x + nx, low], [x, low - ny], [x, low - ry]],
    ['l', [x, y + ry]],
    ['c', [x, y + ny], [x + nx, y], [x + rx, y]],
    ['h'],
  ];
}

/** Lines from point to point. */
export function polygon(points: readonly Point[], isClosed: boolean): Outline {
  if (points.length === 0) return [];
  const strokes: Stroke[] = points.map((point, index) => [index === 0 ? 'm' : 'l', point]);
  return isClosed ? [...strokes, ['h']] : strokes;
}
