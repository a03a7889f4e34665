/** What a logo may be, and how one is refused. */

/** The picture can't be used; the message is a sentence for the operator. */
export class LogoRefused extends Error {
  override readonly name = 'LogoRefused';
}

/** Of the file given, and of what is stored. */
export const largestLogo_bytes = 512 * 1024;
/** Pixels per side: 20 mm at 600 dpi take 472. */
const largestSide_pixels = 2000;

/** In pixels. Throws LogoRefused. */
export function checkSides(width: number, height: number): void {
  if (width < 1 || height < 1 || width > largestSide_pixels || height > largestSide_pixels) {
    throw new LogoRefused(`The logo has ${width} × ${height} pixels: at most ${largestSide_pixels} a side are taken.`);
  }
}
