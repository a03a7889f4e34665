/** A JPEG, as it is: PDF has its coding (ISO 32000-1, 7.4.8). */
import type { Picture } from './picture.ts';

const frames: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2]);

/** Of a cleaned file. */
export function jpegPicture(bytes: Uint8Array): Picture {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 2;
  while (!frames.has(file[at + 1]!)) at += 2 + file.readUInt16BE(at + 2);
  const [height, width, colours] = [file.readUInt16BE(at + 5), file.readUInt16BE(at + 7), file[at + 9]!];
  const space = colours === 1 ? '/DeviceGray' : '/DeviceRGB';
  const dictionary = `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/ColorSpace${space}/BitsPerComponent 8/Filter/DCTDecode`;
  return { width, height, add: ({ file }) => file.raw(dictionary, bytes) };
}
