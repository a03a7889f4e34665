/** The shapes of SVG (SVG 1.1, 9) as outlines. */
import { ellipse, type Outline, polygon, rectangle } from './outlines.ts';
import { outlineOf } from './svg-path.ts';
import type { Node } from './svg-tree.ts';
import { lengthOf, numbersOf } from './svg-values.ts';

/** Of what percentages are parts. */
export interface View {
  readonly width: number;
  readonly height: number;
}

/** Undefined where the element is no shape. */
export function shapeOf({ name, attributes }: Node, view: View): Outline | undefined {
  const across = (key: string) => lengthOf(attributes.get(key), view.width) ?? 0;
  const down = (key: string) => lengthOf(attributes.get(key), view.height) ?? 0;
  const both = (key: string) => lengthOf(attributes.get(key), Math.hypot(view.width, view.height) / Math.SQRT2);
  switch (name) {
    case 'path':
      return outlineOf(attributes.get('d') ?? '');
    case 'rect':
      return rectangleOf(across, down, attributes);
    case 'circle': {
      const r = both('r') ?? 0;
      return r > 0 ? ellipse(across('cx'), down('cy'), r, r) : [];
    }
    case 'ellipse': {
      const [rx, ry] = [across('rx'), down('ry')];
      return rx > 0 && ry > 0 ? ellipse(across('cx'), down('cy'), rx, ry) : [];
    }
    case 'line':
      return polygon(
        [
          [across('x1'), down('y1')],
          [across('x2'), down('y2')],
        ],
        false,
      );
    case 'polyline':
    case 'polygon': {
      const numbers = numbersOf(attributes.get('points'));
      const points = Array.from(
        { length: numbers.length >> 1 },
        (_, index) => [numbers[index * 2]!, numbers[index * 2 + 1]!] as const,
      );
      return points.length > 1 ? polygon(points, name === 'polygon') : [];
    }
    default:
      return undefined;
  }
}

/** One radius stands for both; neither is more than half of its side. */
function rectangleOf(
  across: (key: string) => number,
  down: (key: string) => number,
  attributes: Node['attributes'],
): Outline {
  const [width, height] = [across('width'), down('height')];
  if (width <= 0 || height <= 0) return [];
  const [rx, ry] = [attributes.has('rx') ? across('rx') : down('ry'), attributes.has('ry') ? down('ry') : across('rx')];
  return rectangle(across('x'), down('y'), width, height, Math.min(rx, width / 2), Math.min(ry, height / 2));
}
