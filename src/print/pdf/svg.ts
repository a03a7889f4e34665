/**
 * A vector logo (SVG 1.1, as far as logo-svg.ts lets it in) as a form of PDF: shapes, groups, gradients, clips, opacity.
 * Points are put in their places here, so that gradients and clips share one space; only strokes are drawn in their own.
 */
import { LogoRefused } from '../logo-limits.ts';
import { combined, identity, type Matrix, operands, transformOf } from './matrix.ts';
import { around, type Bounds, boundsOf, type Outline, operatorsOf } from './outlines.ts';
import type { Picture } from './picture.ts';
import { gradientOf, isUneven, namedGradient, shadingOf } from './svg-gradients.ts';
import { inherited, type Look, plainLook, strokeOperators } from './svg-look.ts';
import { Parts, Sketch } from './svg-parts.ts';
import { shapeOf, type View } from './svg-shapes.ts';
import { type Node, namedIn, referred, treeOf } from './svg-tree.ts';
import { colourValue, lengthOf, numbersOf, shareOf } from './svg-values.ts';

/** Of a cleaned file. */
export function svgPicture(bytes: Uint8Array): Picture {
  const root = treeOf(new TextDecoder().decode(bytes));
  const { width, height, view, matrix } = viewOf(root);
  if (!(width > 0 && height > 0)) throw new LogoRefused('The logo has no size.');
  const drawing = new Drawing(namedIn(root), view, `0 0 ${width} ${height}`);
  drawing.children(root, plainLook, matrix);
  const parts = drawing.finished(`/Matrix[${operands([1 / width, 0, 0, -1 / height, 0, 1])}]`);
  return {
    width,
    height,
    add: (document) => {
      document.isTransparent ||= drawing.isTransparent;
      return parts.write(document.file);
    },
  };
}

/** The size of the picture, and where its own space lies in it (SVG 1.1, 7.8). */
function viewOf({ attributes }: Node) {
  const box = numbersOf(attributes.get('viewBox'));
  const [left, top, across, down] =
    box.length === 4 && box[2]! > 0 && box[3]! > 0 ? (box as [number, number, number, number]) : [0, 0, 0, 0];
  const ratio = across > 0 ? down / across : 1;
  const given = {
    width: lengthOf(attributes.get('width'), across || 100),
    height: lengthOf(attributes.get('height'), down || 100),
  };
  const width = given.width ?? (given.height === undefined ? across || 100 : given.height / ratio);
  const height = given.height ?? (given.width === undefined ? down || 100 : given.width * ratio);
  if (across === 0) return { width, height, view: { width, height }, matrix: identity };
  const matrix = fitted(attributes.get('preserveAspectRatio'), { width, height }, [left, top, across, down]);
  return { width, height, view: { width: across, height: down }, matrix };
}

function fitted(
  how: string | undefined,
  { width, height }: View,
  [left, top, across, down]: readonly [number, number, number, number],
): Matrix {
  const [align = 'xMidYMid', meet] = (how ?? '').trim().split(/\s+/);
  let [sx, sy] = [width / across, height / down];
  if (align !== 'none') sx = sy = meet === 'slice' ? Math.max(sx, sy) : Math.min(sx, sy);
  const spare = (word: string, room: number): number =>
    align.includes(`${word}Min`) || align === 'none' ? 0 : align.includes(`${word}Max`) ? room : room / 2;
  const x = spare('x', width - across * sx);
  const y = spare('Y', height - down * sy);
  return [sx, 0, 0, sy, x - left * sx, y - top * sy];
}

class Drawing {
  /** Whether something shines through. */
  isTransparent = false;
  readonly #named: ReadonlyMap<string, Node>;
  readonly #parts = new Parts();
  #view: View;
  #sketch: Sketch;

  constructor(named: ReadonlyMap<string, Node>, view: View, box: string) {
    this.#named = named;
    this.#view = view;
    this.#sketch = new Sketch(this.#parts, box);
  }

  finished(matrix: string): Parts {
    this.#sketch.form('', matrix);
    return this.#parts;
  }

  children(node: Node, look: Look, matrix: Matrix): void {
    for (const child of node.children) this.#element(child, look, matrix);
  }

  #element(node: Node, above: Look, outer: Matrix): void {
    const { name, attributes } = node;
    if (attributes.get('display') === 'none') return;
    const outline = shapeOf(node, this.#view);
    if (outline === undefined && name !== 'g' && name !== 'svg') return;
    const look = inherited(above, attributes);
    const matrix = combined(outer, transformOf(attributes.get('transform')));
    const opacity = shareOf(attributes.get('opacity'));
    if (opacity === 0) return;
    const clip = referred(attributes.get('clip-path'), this.#named);
    const draw = (share: number) => {
      if (outline !== undefined) this.#shape(outline, look, matrix, share);
      else if (name === 'svg') this.#inner(node, look, matrix);
      else this.children(node, look, matrix);
    };
    // Fill and stroke of one shape lie over each other, the parts of a group too: these are put together first.
    const isSingle = outline !== undefined && (look.fill === 'none' || look.stroke === 'none');
    const isGroup = opacity < 1 && !isSingle;
    const content = () => (isGroup ? this.#grouped(() => draw(1), opaque(opacity)) : draw(opacity));
    if (clip?.name === 'clipPath') this.#clipped(clip, node, matrix, content);
    else content();
  }

  /** A picture in the picture, in its own frame. */
  #inner(node: Node, look: Look, outer: Matrix): void {
    const { attributes } = node;
    const outside = this.#view;
    const place = {
      x: lengthOf(attributes.get('x'), outside.width) ?? 0,
      y: lengthOf(attributes.get('y'), outside.height) ?? 0,
      width: lengthOf(attributes.get('width'), outside.width) ?? outside.width,
      height: lengthOf(attributes.get('height'), outside.height) ?? outside.height,
    };
    const box = numbersOf(attributes.get('viewBox'));
    const moved = combined(outer, [1, 0, 0, 1, place.x, place.y]);
    const hasBox = box.length === 4 && box[2]! > 0 && box[3]! > 0;
    const matrix = hasBox
      ? combined(moved, fitted(attributes.get('preserveAspectRatio'), place, box as [number, number, number, number]))
      : moved;
    this.#view = hasBox ? { width: box[2]!, height: box[3]! } : place;
    const frame: Outline = [
      ['m', [0, 0]],
      ['l', [place.width, 0]],
      ['l', [place.width, place.height]],
      ['l', [0, place.height]],
      ['h'],
    ];
    this.#sketch.content += `q ${operatorsOf(frame, moved)}W n\n`;
    this.children(node, look, matrix);
    this.#sketch.content += 'Q\n';
    this.#view = outside;
  }

  /** Put together as one, then drawn through `state`. */
  #grouped(draw: () => void, state: string): void {
    this.isTransparent = true;
    const outside = this.#sketch;
    this.#sketch = outside.fresh();
    draw();
    const form = this.#sketch.form('DeviceRGB');
    this.#sketch = outside;
    outside.content += 'q ';
    outside.through(state);
    outside.content += `${outside.named('XObject', form)} Do Q\n`;
  }

  #clipped(clip: Node, node: Node, matrix: Matrix, draw: () => void): void {
    const shapes = this.#clipShapes(clip, node, matrix);
    if (shapes.length > 1) {
      const mask = this.#sketch.fresh();
      mask.content = `1 g ${shapes.map(({ path, isEvenOdd }) => `${path}${isEvenOdd ? 'f*' : 'f'}\n`).join('')}`;
      this.#grouped(draw, `/SMask<</S/Luminosity/G ${mask.form('DeviceGray')}>>`);
      return;
    }
    const [{ path, isEvenOdd } = { path: '0 0 0 0 re\n', isEvenOdd: false }] = shapes;
    this.#sketch.content += `q ${path}${isEvenOdd ? 'W*' : 'W'} n\n`;
    draw();
    this.#sketch.content += 'Q\n';
  }

  /** Only shapes make a clip; groups in it do not (SVG 1.1, 14.3.5). */
  #clipShapes(clip: Node, node: Node, matrix: Matrix): { readonly path: string; readonly isEvenOdd: boolean }[] {
    let space = combined(matrix, transformOf(clip.attributes.get('transform')));
    if (clip.attributes.get('clipPathUnits') === 'objectBoundingBox') {
      const bounds = this.#boundsOf(node, identity);
      if (bounds === undefined) return [];
      space = combined(space, [bounds.right - bounds.left, 0, 0, bounds.low - bounds.top, bounds.left, bounds.top]);
    }
    return clip.children.flatMap((child) => {
      const outline = shapeOf(child, this.#view);
      const { attributes } = child;
      if (outline === undefined || attributes.get('display') === 'none') return [];
      const path = operatorsOf(outline, combined(space, transformOf(attributes.get('transform'))));
      const rule = attributes.get('clip-rule') ?? clip.attributes.get('clip-rule');
      return path === '' ? [] : [{ path, isEvenOdd: rule === 'evenodd' }];
    });
  }

  #boundsOf(node: Node, matrix: Matrix): Bounds | undefined {
    const outline = shapeOf(node, this.#view);
    if (outline !== undefined) return boundsOf(outline, matrix);
    let all: Bounds | undefined;
    for (const child of node.children) {
      if (child.name !== 'g' && shapeOf(child, this.#view) === undefined) continue;
      all = around(all, this.#boundsOf(child, combined(matrix, transformOf(child.attributes.get('transform')))));
    }
    return all;
  }

  #shape(outline: Outline, look: Look, matrix: Matrix, opacity: number): void {
    if (!look.isVisible || outline.length < 2) return;
    const shape = { outline, matrix, colour: look.colour };
    this.#painted(look.fill, { ...shape, opacity: look.fillOpacity * opacity, operators: fillOperators }, () => {
      return `${operatorsOf(outline, matrix)}${look.fillRule === 'evenodd' ? 'f*' : 'f'}`;
    });
    const width = lengthOf(look.strokeWidth, Math.hypot(this.#view.width, this.#view.height) / Math.SQRT2) ?? 1;
    if (width <= 0) return;
    this.#painted(look.stroke, { ...shape, opacity: look.strokeOpacity * opacity, operators: lineOperators }, () => {
      return `${operands(matrix)} cm ${strokeOperators(look, width)} ${operatorsOf(outline)}S`;
    });
  }

  /** Draws in a colour or a gradient, unless there is none. */
  #painted(paint: string, shape: Painted, draw: () => string): void {
    if (paint === 'none' || shape.opacity === 0) return;
    const node = namedGradient(paint, this.#named);
    if (node !== undefined) {
      this.#shaded(node, shape, draw);
      return;
    }
    const colour = colourValue(paint === 'currentColor' ? shape.colour : paint);
    if (colour === undefined || colour[3] === 0) return;
    const [red, green, blue, alpha] = colour;
    this.#sketch.content += 'q ';
    this.#through(shape.opacity * alpha);
    this.#sketch.content += `${operands([red, green, blue])} ${shape.operators.colour} ${draw()} Q\n`;
  }

  #through(opacity: number): void {
    if (opacity >= 1) return;
    this.isTransparent = true;
    this.#sketch.through(opaque(opacity));
  }

  #shaded(node: Node, { outline, matrix, opacity, operators }: Painted, draw: () => string): void {
    const bounds = boundsOf(outline, identity);
    const gradient = bounds === undefined ? undefined : gradientOf(node, bounds, this.#view);
    if (gradient === undefined) return;
    const placed = operands(combined(matrix, gradient.matrix));
    const pattern = `<</Type/Pattern/PatternType 2/Matrix[${placed}]/Shading ${shadingOf(gradient, 'colour')}>>`;
    const paint = () => {
      const name = this.#sketch.named('Pattern', pattern);
      this.#sketch.content += `/Pattern ${operators.space} ${name} ${operators.pattern} ${draw()} Q\n`;
    };
    if (!isUneven(gradient)) {
      this.#sketch.content += 'q ';
      this.#through(opacity * gradient.stops[0]!.opacity);
      paint();
      return;
    }
    // Some viewers lose the place of patterns in masks, and draw through a mask only what was put together before.
    const mask = this.#sketch.fresh();
    mask.content = `${placed} cm ${mask.named('Shading', shadingOf(gradient, 'opacity'))} sh`;
    const through = `${opaque(opacity)}/SMask<</S/Luminosity/G ${mask.form('DeviceGray')}>>`;
    this.#grouped(() => {
      this.#sketch.content += 'q ';
      paint();
    }, through);
  }
}

/** A shape to be painted. */
interface Painted {
  readonly outline: Outline;
  readonly matrix: Matrix;
  readonly opacity: number;
  /** What `currentColor` is. */
  readonly colour: string;
  readonly operators: typeof fillOperators;
}

const fillOperators = { colour: 'rg', space: 'cs', pattern: 'scn' };
const lineOperators = { colour: 'RG', space: 'CS', pattern: 'SCN' };

function opaque(opacity: number): string {
  const share = Number(opacity.toFixed(4));
  return `/ca ${share}/CA ${share}`;
}
