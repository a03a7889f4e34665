/**
 * A company's logo, from a file that nobody vouches for: what it is is read from its bytes, its structure is checked
 * whole, and it is written anew with what a picture needs and nothing else. So no metadata, script, address or piece of
 * another format reaches a stored template, and no picture is larger inside than outside.
 */

import { cleanJpeg } from './logo-jpeg.ts';
import { LogoRefused, largestLogo_bytes } from './logo-limits.ts';
import { cleanPng, pngMark } from './logo-png.ts';
import { cleanSvg } from './logo-svg.ts';

export type LogoKind = 'png' | 'jpg' | 'svg';

/** What a picture is, by its first bytes; everything else can only be an SVG. */
export function kindOfLogo(bytes: Uint8Array): LogoKind {
  if (pngMark.every((byte, index) => bytes[index] === byte)) return 'png';
  return bytes[0] === 0xff && bytes[1] === 0xd8 ? 'jpg' : 'svg';
}

/** The picture written anew. Throws LogoRefused. */
export function cleanLogo(bytes: Uint8Array): Uint8Array {
  if (bytes.length > largestLogo_bytes) throw new LogoRefused('The logo is larger than 512 KiB: make it smaller.');
  const clean = { png: cleanPng, jpg: cleanJpeg, svg: cleanSvg }[kindOfLogo(bytes)](bytes);
  if (clean.length > largestLogo_bytes) throw new LogoRefused('The logo is larger than 512 KiB: make it smaller.');
  return clean;
}
