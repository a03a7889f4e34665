/** Gradients of SVG (SVG 1.1, 13.2) as shadings of PDF (ISO 32000-1, 8.7.4). */
import { combined, type Matrix, type Point, transformOf } from './matrix.ts';
import type { Bounds } from './outlines.ts';
import { type Node, referred } from './svg-tree.ts';
import { colourValue, lengthOf, shareOf } from './svg-values.ts';

interface Stop {
  readonly offset: number;
  readonly colour: readonly [red: number, green: number, blue: number];
  readonly opacity: number;
}

/** A gradient in the space of what it fills. */
export interface Gradient {
  readonly matrix: Matrix;
  /** Two points, or two circles with their radii. */
  readonly coordinates: readonly number[];
  readonly isRadial: boolean;
  readonly stops: readonly Stop[];
  readonly spread: string;
}

/** Undefined where it paints nothing. */
export function gradientOf(
  node: Node,
  bounds: Bounds,
  view: { readonly width: number; readonly height: number },
): Gradient | undefined {
  const { attributes } = node;
  const isBox = attributes.get('gradientUnits') !== 'userSpaceOnUse';
  const [width, height] = [bounds.right - bounds.left, bounds.low - bounds.top];
  if (isBox && (width <= 0 || height <= 0)) return undefined;
  const stops = stopsOf(node);
  if (stops.length === 0) return undefined;
  const whole = isBox ? { width: 1, height: 1 } : view;
  const diagonal = Math.hypot(whole.width, whole.height) / Math.SQRT2;
  const length = (name: string, absent: string, of: number): number =>
    lengthOf(attributes.get(name), of) ?? lengthOf(absent, of)!;
  const isRadial = node.name === 'radialGradient';
  let coordinates: number[];
  if (isRadial) {
    const [cx, cy] = [length('cx', '50%', whole.width), length('cy', '50%', whole.height)];
    const r = length('r', '50%', diagonal);
    if (r <= 0) return undefined;
    const focus = within([cx, cy], r, [
      lengthOf(attributes.get('fx'), whole.width) ?? cx,
      lengthOf(attributes.get('fy'), whole.height) ?? cy,
    ]);
    coordinates = [...focus, 0, cx, cy, r];
  } else {
    coordinates = [
      length('x1', '0%', whole.width),
      length('y1', '0%', whole.height),
      length('x2', '100%', whole.width),
      length('y2', '0%', whole.height),
    ];
  }
  const own = transformOf(attributes.get('gradientTransform'));
  const matrix = isBox ? combined([width, 0, 0, height, bounds.left, bounds.top], own) : own;
  return { matrix, coordinates, isRadial, stops, spread: attributes.get('spreadMethod') ?? 'pad' };
}

/** The focus lies within the circle. */
function within([cx, cy]: Point, r: number, [fx, fy]: Point): Point {
  const distance = Math.hypot(fx - cx, fy - cy);
  if (distance <= r * 0.999) return [fx, fy];
  const scale = (r * 0.999) / distance;
  return [cx + (fx - cx) * scale, cy + (fy - cy) * scale];
}

function stopsOf(node: Node): Stop[] {
  let least = 0;
  return node.children
    .filter(({ name }) => name === 'stop')
    .map(({ attributes }) => {
      least = Math.max(least, shareOf(attributes.get('offset'), 0));
      const text = attributes.get('stop-color') ?? 'black';
      const colour = colourValue(text === 'currentColor' ? (attributes.get('color') ?? 'black') : text) ?? [0, 0, 0, 1];
      const [red, green, blue, alpha] = colour;
      return {
        offset: least,
        colour: [red, green, blue] as const,
        opacity: shareOf(attributes.get('stop-opacity')) * alpha,
      };
    });
}

/** Whether parts of it shine through more than others. */
export function isUneven({ stops }: Gradient): boolean {
  return stops.some(({ opacity }) => opacity !== stops[0]!.opacity);
}

/** A gradient goes on so often in each direction where it repeats itself. */
const repeats = 12;

/** The shading's dictionary, of its colours or of its opacity as grey. */
export function shadingOf(gradient: Gradient, of: 'colour' | 'opacity'): string {
  const { isRadial, stops, spread } = gradient;
  const values = stops.map(({ offset, colour, opacity }) => ({
    offset,
    value: of === 'colour' ? colour : [opacity],
  }));
  const { coordinates, list } =
    spread === 'pad' ? { coordinates: gradient.coordinates, list: values } : repeated(gradient, values);
  const space = of === 'colour' ? '/DeviceRGB' : '/DeviceGray';
  const numbers = coordinates.map((one) => Number(one.toFixed(5))).join(' ');
  return `<</ShadingType ${isRadial ? 3 : 2}/ColorSpace${space}/Coords[${numbers}]/Extend[true true]/Function ${functionOf(list)}>>`;
}

interface Valued {
  readonly offset: number;
  readonly value: readonly number[];
}

/** The same again and again, or back and forth: longer, with more stops. */
function repeated({ coordinates, isRadial, spread }: Gradient, stops: readonly Valued[]) {
  const before = isRadial ? 0 : repeats;
  const count = before + 1 + repeats;
  const list: Valued[] = [];
  for (let turn = 0; turn < count; turn++) {
    const isBack = spread === 'reflect' && Math.abs(turn - before) % 2 === 1;
    const some = isBack ? stops.map(({ offset, value }) => ({ offset: 1 - offset, value })).reverse() : stops;
    // What a turn ends with reaches up to the next one.
    list.push({ offset: turn / count, value: some[0]!.value });
    for (const { offset, value } of some) list.push({ offset: (turn + offset) / count, value });
    list.push({ offset: (turn + 1) / count, value: some.at(-1)!.value });
  }
  if (isRadial) {
    const [fx, fy, , cx, cy, r] = coordinates as readonly [number, number, number, number, number, number];
    return { coordinates: [fx, fy, 0, fx + (cx - fx) * count, fy + (cy - fy) * count, r * count], list };
  }
  const [x1, y1, x2, y2] = coordinates as readonly [number, number, number, number];
  const [dx, dy] = [x2 - x1, y2 - y1];
  const [back, on] = [before, repeats + 1];
  return { coordinates: [x1 - dx * back, y1 - dy * back, x1 + dx * on, y1 + dy * on], list };
}

/** From stop to stop, straight. */
function functionOf(stops: readonly Valued[]): string {
  const list = [{ offset: 0, value: stops[0]!.value }, ...stops, { offset: 1, value: stops.at(-1)!.value }];
  const parts: string[] = [];
  const bounds: number[] = [];
  for (const [index, from] of list.slice(0, -1).entries()) {
    const to = list[index + 1]!;
    if (to.offset - from.offset < 1e-7) continue;
    if (parts.length > 0) bounds.push(from.offset);
    const ends = [from, to].map(({ value }) => `[${value.map((one) => Number(one.toFixed(5))).join(' ')}]`);
    parts.push(`<</FunctionType 2/Domain[0 1]/N 1/C0${ends[0]}/C1${ends[1]}>>`);
  }
  if (parts.length === 1) return parts[0]!;
  const limits = bounds.map((one) => Number(one.toFixed(7))).join(' ');
  return `<</FunctionType 3/Domain[0 1]/Functions[${parts.join('')}]/Bounds[${limits}]/Encode[${'0 1 '.repeat(parts.length)}]>>`;
}

/** The gradient that a paint names. */
export function namedGradient(value: string | undefined, named: ReadonlyMap<string, Node>): Node | undefined {
  const node = referred(value, named);
  return node?.name === 'linearGradient' || node?.name === 'radialGradient' ? node : undefined;
}
