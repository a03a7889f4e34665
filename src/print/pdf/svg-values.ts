/** Numbers, lengths and colours of SVG (SVG 1.1, 4.2; CSS Color 3). */
import { namedColours } from './svg-colours.ts';

/** Pixels per unit. */
const units: Readonly<Record<string, number>> = {
  '': 1,
  px: 1,
  pt: 4 / 3,
  pc: 16,
  mm: 96 / 25.4,
  cm: 96 / 2.54,
  in: 96,
  em: 12,
  ex: 6,
};

/** In pixels; a part of `whole` where it is a percentage. Undefined where it is none. */
export function lengthOf(text: string | undefined, whole: number): number | undefined {
  const match = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([a-z%]*)\s*$/i.exec(text ?? '');
  if (match === null) return undefined;
  const [, number, unit = ''] = match;
  if (unit === '%') return (Number(number) * whole) / 100;
  const pixels = units[unit.toLowerCase()];
  return pixels === undefined ? undefined : Number(number) * pixels;
}

/** Numbers in a row. */
export function numbersOf(text: string | undefined): number[] {
  return Array.from((text ?? '').matchAll(/[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi), ([number]) => Number(number));
}

/** A share from 0 to 1, as number or percentage. */
export function shareOf(text: string | undefined, absent = 1): number {
  const value = lengthOf(text, 1);
  return value === undefined ? absent : Math.min(1, Math.max(0, value));
}

/** Red, green, blue and how opaque, each from 0 to 1. */
export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

/** Undefined where it is none that is known. */
export function colourValue(text: string): Colour | undefined {
  const name = text.trim().toLowerCase();
  if (name === 'transparent') return [0, 0, 0, 0];
  const hex = name.startsWith('#') ? name.slice(1) : namedColours.get(name);
  if (hex !== undefined) return hexColour(hex);
  const call = /^(rgb|hsl)a?\(([^)]*)\)$/.exec(name);
  if (call === null) return undefined;
  const parts = call[2]!.split(/[\s,/]+/).filter((part) => part !== '');
  if (parts.length < 3) return undefined;
  const alpha = shareOf(parts[3]);
  if (call[1] === 'hsl') return [...fromHue(Number.parseFloat(parts[0]!), shareOf(parts[1]), shareOf(parts[2])), alpha];
  const [red, green, blue] = parts.map((part) => {
    const share = part.endsWith('%') ? Number.parseFloat(part) / 100 : Number.parseFloat(part) / 255;
    return Number.isNaN(share) ? 0 : Math.min(1, Math.max(0, share));
  }) as [number, number, number];
  return [red, green, blue, alpha];
}

function hexColour(hex: string): Colour | undefined {
  if (!/^([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.test(hex)) return undefined;
  const size = hex.length < 6 ? 1 : 2;
  const part = (index: number): number => {
    const digits = hex.slice(index * size, (index + 1) * size);
    return digits === '' ? 1 : Number.parseInt(size === 1 ? digits + digits : digits, 16) / 255;
  };
  return [part(0), part(1), part(2), part(3)];
}

function fromHue(degrees: number, saturation: number, lightness: number): [number, number, number] {
  const hue = (((degrees % 360) + 360) % 360) / 30;
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): number => {
    const place = (offset + hue) % 12;
    return lightness - reach * Math.max(-1, Math.min(place - 3, 9 - place, 1));
  };
  return [channel(0), channel(8), channel(4)];
}
