import type { Picture } from './picture.ts';
/** The picture of a logo; undefined where it cannot be drawn. */
export function pictureOf(_logo: Uint8Array): Picture | undefined {
  return undefined;
}
