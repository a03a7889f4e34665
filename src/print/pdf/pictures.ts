/** Logos as pictures. What cannot be drawn is no picture; what was drawn for the documents before is kept. */
import { cleanLogo, kindOfLogo } from '../logo.ts';
import { LogoRefused } from '../logo-limits.ts';
import type { Picture } from './picture.ts';
import { jpegPicture } from './picture-jpeg.ts';
import { pngPicture } from './picture-png.ts';
import { svgPicture } from './svg.ts';

/** A company prints many documents with one logo. */
const mostKept = 4;
const kept: { readonly bytes: Uint8Array; readonly picture: Picture | undefined }[] = [];

/** The picture of a logo; undefined where it cannot be drawn. */
export function pictureOf(logo: Uint8Array): Picture | undefined {
  const known = kept.findIndex(({ bytes }) => bytes.length === logo.length && Buffer.compare(bytes, logo) === 0);
  const [entry] = known >= 0 ? kept.splice(known, 1) : [{ bytes: logo, picture: drawnOf(logo) }];
  kept.unshift(entry!);
  kept.length = Math.min(kept.length, mostKept);
  return entry!.picture;
}

/** Checked whole once more: what was stored may be older than the checks. */
function drawnOf(logo: Uint8Array): Picture | undefined {
  try {
    const bytes = cleanLogo(logo);
    return { png: pngPicture, jpg: jpegPicture, svg: svgPicture }[kindOfLogo(bytes)](bytes);
  } catch (error) {
    if (error instanceof LogoRefused) return undefined;
    throw error;
  }
}
