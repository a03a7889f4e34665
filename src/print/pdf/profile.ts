/**
 * The colours of the file, sRGB (IEC 61966-2-1), as an ICC profile of version 2 of its primaries and its curve: what an
 * archival file has to say of its red, green and blue (ISO 19005-3, 6.2.3).
 */

/** Primaries and white adapted to D50, as all such profiles have them (ICC.1:2001, annex). */
const colours = {
  wtpt: [0.9642, 1, 0.8249],
  rXYZ: [0.4361, 0.2225, 0.0139],
  gXYZ: [0.3851, 0.7169, 0.0971],
  bXYZ: [0.1431, 0.0606, 0.7141],
} as const;

/** The curve by steps of a 255th; programs go straight between them. */
const steps = 256;

/** The profile's bytes. */
export function sRgbProfile(): Uint8Array {
  const curve = curveTag();
  const tags: [string, Buffer][] = [
    ['desc', description('sRGB IEC61966-2.1')],
    ['cprt', text('No copyright, use freely')],
    ...Object.entries(colours).map(([name, values]): [string, Buffer] => [name, place(values)]),
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
  ];
  const directory = Buffer.alloc(4 + tags.length * 12);
  directory.writeUInt32BE(tags.length, 0);
  const parts: Buffer[] = [];
  const places = new Map<Buffer, number>();
  let at = 128 + directory.length;
  for (const [index, [name, content]] of tags.entries()) {
    let known = places.get(content);
    if (known === undefined) {
      known = at;
      places.set(content, at);
      parts.push(content);
      at += content.length;
    }
    directory.write(name, 4 + index * 12, 'latin1');
    directory.writeUInt32BE(known, 8 + index * 12);
    directory.writeUInt32BE(content.length, 12 + index * 12);
  }
  return Buffer.concat([header(at), directory, ...parts]);
}

function header(size: number): Buffer {
  const bytes = Buffer.alloc(128);
  bytes.writeUInt32BE(size, 0);
  bytes.writeUInt32BE(0x02100000, 8);
  bytes.write('mntrRGB XYZ ', 12, 'latin1');
  // The day on which the profile was described; it is not read.
  for (const [index, part] of [2026, 1, 1].entries()) bytes.writeUInt16BE(part, 24 + index * 2);
  bytes.write('acsp', 36, 'latin1');
  for (const [index, value] of colours.wtpt.entries()) bytes.writeInt32BE(fixed(value), 68 + index * 4);
  return bytes;
}

const fixed = (value: number): number => Math.round(value * 65_536);

function place(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.write('XYZ ', 0, 'latin1');
  for (const [index, value] of values.entries()) bytes.writeInt32BE(fixed(value), 8 + index * 4);
  return bytes;
}

function curveTag(): Buffer {
  const bytes = Buffer.alloc(12 + steps * 2);
  bytes.write('curv', 0, 'latin1');
  bytes.writeUInt32BE(steps, 8);
  for (let step = 0; step < steps; step++) {
    const share = step / (steps - 1);
    const light = share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    bytes.writeUInt16BE(Math.round(light * 65_535), 12 + step * 2);
  }
  return bytes;
}

function text(words: string): Buffer {
  return padded(Buffer.from(`text\0\0\0\0${words}\0`, 'latin1'));
}

function description(words: string): Buffer {
  const bytes = Buffer.alloc(12 + words.length + 1 + 4 + 4 + 2 + 1 + 67);
  bytes.write('desc', 0, 'latin1');
  bytes.writeUInt32BE(words.length + 1, 8);
  bytes.write(words, 12, 'latin1');
  return padded(bytes);
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
}
