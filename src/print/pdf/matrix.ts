/** Maps of the plane, as SVG and PDF write them: x' = a x + c y + e, y' = b x + d y + f. */

export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];
export type Point = readonly [x: number, y: number];

export const identity: Matrix = [1, 0, 0, 1, 0, 0];

/** First `inner`, then `outer`. */
export function combined(outer: Matrix, inner: Matrix): Matrix {
  const [a, b, c, d, e, f] = outer;
  const [g, h, i, j, k, l] = inner;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

/** Where a point comes to. */
export function moved([a, b, c, d, e, f]: Matrix, [x, y]: Point): Point {
  return [a * x + c * y + e, b * x + d * y + f];
}

/** As operands of PDF. */
export function operands(matrix: readonly number[]): string {
  return matrix.map((value) => `${Number(value.toFixed(6))}`).join(' ');
}

const step = /(matrix|translate|scale|rotate|skewX|skewY)\s*\(([^)]*)\)/g;
const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** SVG's list of maps. Whatever is none of them is left out. */
export function transformOf(text: string | undefined): Matrix {
  let all = identity;
  for (const [, name, given = ''] of (text ?? '').matchAll(step)) {
    const values = Array.from(given.matchAll(/[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi), ([number]) => Number(number));
    const one = stepOf(name!, values);
    if (one !== undefined) all = combined(all, one);
  }
  return all;
}

function stepOf(name: string, values: readonly number[]): Matrix | undefined {
  const [first = 0, second, third] = values;
  if (name === 'matrix') return values.length === 6 ? (values as unknown as Matrix) : undefined;
  if (values.length === 0) return undefined;
  if (name === 'translate') return [1, 0, 0, 1, first, second ?? 0];
  if (name === 'scale') return [first, 0, 0, second ?? first, 0, 0];
  if (name === 'skewX') return [1, 0, Math.tan(radians(first)), 1, 0, 0];
  if (name === 'skewY') return [1, Math.tan(radians(first)), 0, 1, 0, 0];
  const [sine, cosine] = [Math.sin(radians(first)), Math.cos(radians(first))];
  const turn: Matrix = [cosine, sine, -sine, cosine, 0, 0];
  if (second === undefined || third === undefined) return turn;
  return combined(combined([1, 0, 0, 1, second, third], turn), [1, 0, 0, 1, -second, -third]);
}
