/**
 * SVG: shapes, groups, gradients and clips; read by a parser that knows nothing else and written anew from what it read.
 * Whatever could reach out, run, repeat itself or need a font is refused by not being known.
 */
import { cut } from '../fiscal/cut.ts';
import { LogoRefused } from './logo-limits.ts';

const elements: ReadonlySet<string> = new Set(
  'svg g path rect circle ellipse line polyline polygon defs linearGradient radialGradient stop clipPath title desc'.split(
    ' ',
  ),
);
/** Editors leave these behind; they draw nothing. */
const dropped: ReadonlySet<string> = new Set(['metadata', 'sodipodi:namedview']);
const attributes: ReadonlySet<string> = new Set(
  (
    'id viewBox width height x y x1 x2 y1 y2 cx cy r rx ry fx fy d points transform preserveAspectRatio ' +
    'fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit ' +
    'stroke-dasharray stroke-dashoffset opacity offset stop-color stop-opacity gradientUnits gradientTransform ' +
    'spreadMethod clip-path clip-rule clipPathUnits color display visibility'
  ).split(' '),
);
const mostElements = 5000;
const deepest = 32;
/** Each use of a clip draws all of it: so many uses, of clips with so many parts together. */
const mostClipped = 200;
const mostClipParts = 500;

/** The picture written anew. Throws LogoRefused for whatever it does not know. */
export function cleanSvg(bytes: Uint8Array): Uint8Array {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new LogoRefused('The logo is neither PNG, JPEG nor SVG.');
  }
  if (!text.includes('<svg')) throw new LogoRefused('The logo is neither PNG, JPEG nor SVG.');
  return new TextEncoder().encode(rewritten(text.replace(/^\s*<\?xml[^?>]*\?>/, '')));
}

const token =
  /<!--[\s\S]*?-->|<\/([\w:-]+)\s*>|<([\w:-]+)((?:\s+[\w:-]+\s*=\s*(?:"[^"<&]*"|'[^'<&]*'))*)\s*(\/?)>|[^<]+/gy;
const attribute = /([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

function rewritten(text: string): string {
  const open: string[] = [];
  let written = '';
  let count = 0;
  let skipping = 0;
  let end = 0;
  let [clipped, clipParts] = [0, 0];
  for (const [whole, closed, opened, given = '', selfClosed] of text.matchAll(token)) {
    end += whole.length;
    if (closed !== undefined) {
      if (open.pop() !== closed) throw broken();
      if (skipping > 0) skipping--;
      else written += `</${closed}>`;
    } else if (opened !== undefined) {
      if (++count > mostElements || open.length >= deepest)
        throw new LogoRefused('The logo has too many parts: simplify it.');
      if (open.length === 0 && (opened !== 'svg' || written !== '')) throw broken();
      const skip = skipping > 0 || dropped.has(opened);
      if (!skip) {
        const part = element(opened, given, selfClosed === '/');
        const isClipped = part.includes(' clip-path="');
        const isClip = opened === 'clipPath' || open.includes('clipPath');
        // A clip of clips of clips grows with each.
        if (isClip && isClipped) throw new LogoRefused('The logo has clips within clips: save it as plain SVG.');
        clipped += isClipped ? 1 : 0;
        clipParts += isClip ? 1 : 0;
        if (clipped > mostClipped || clipParts > mostClipParts)
          throw new LogoRefused('The logo has too many clips: simplify it.');
        written += part;
      }
      if (selfClosed !== '/') {
        open.push(opened);
        if (skip) skipping++;
      }
    }
    // Text belongs to titles and descriptions, which nobody sees; comments go.
  }
  if (end !== text.length || open.length > 0 || written === '') throw broken();
  return written;
}

function element(name: string, given: string, isEmpty: boolean): string {
  if (!elements.has(name)) {
    throw new LogoRefused(`The logo has <${name}>, which is not taken: save it as plain SVG, texts turned into paths.`);
  }
  let written = `<${name}${name === 'svg' ? ' xmlns="http://www.w3.org/2000/svg"' : ''}`;
  for (const [, key = '', double, single] of given.matchAll(attribute)) {
    for (const [one, value] of key === 'style'
      ? stylesOf(double ?? single ?? '')
      : ([[key, double ?? single ?? '']] as const)) {
      if (isHarmful(one))
        throw new LogoRefused(`The logo has the attribute ${one}, which is not taken: save it as plain SVG.`);
      if (attributes.has(one)) written += ` ${one}="${checked(one, value)}"`;
    }
  }
  return written + (isEmpty ? '/>' : '>');
}

/** Of attributes that are not known most are notes of an editor and go; these do something, so the picture is refused. */
function isHarmful(name: string): boolean {
  return /^on/i.test(name) || /(^|:)(href|src|base)$/i.test(name);
}

function stylesOf(style: string): (readonly [string, string])[] {
  return style
    .split(';')
    .map((one) => [one.slice(0, one.indexOf(':')).trim(), one.slice(one.indexOf(':') + 1).trim()] as const)
    .filter(([name]) => name !== '');
}

/** A value of shapes and colours; the only reference is to a gradient or clip of the same picture. */
function checked(name: string, value: string): string {
  const plain = /^[\w\s.,#%()+-]*$/.test(value) && !/url\(/i.test(value);
  if (plain || /^url\(\s*#[\w-]+\s*\)$/.test(value)) return value;
  throw new LogoRefused(
    `The logo has the value "${cut(value, 40)}" in ${name}, which is not taken: save it as plain SVG.`,
  );
}

function broken(): LogoRefused {
  return new LogoRefused('The logo is not well-formed SVG, or has entities or a document type: save it as plain SVG.');
}
