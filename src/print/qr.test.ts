import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import fc from 'fast-check';
import { encode } from 'uqr';
import { describe, expect, test } from 'vitest';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { drawQr, modulesOf, qrDataUri, qrSvg } from './qr.ts';

// By default the reader is fetched from the network.
const wasmBinary = new Uint8Array(
  readFileSync(createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm')),
).buffer;
prepareZXingModule({ overrides: { wasmBinary } });

const message =
  'A:500000000*B:123456789*C:PT*D:FR*E:N*F:20260306*G:FR A2026/1*H:AAJFF6XZ-1*I1:PT*I7:1000.00*I8:230.00*N:230.00*O:1230.00*P:230.00*Q:jwwQ*R:9999';

/** At 2 pixels per module the reader misses one in twenty, whichever mask is chosen; from 3 on, none of 2,000. */
const pixels = 3;

/** What a reader makes of an SVG. */
async function scan(svg: string) {
  const image = await loadImage(Buffer.from(svg));
  const side = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]) * pixels;
  const canvas = createCanvas(side, side);
  canvas.getContext('2d').drawImage(image, 0, 0, side, side);
  const { data } = canvas.getContext('2d').getImageData(0, 0, side, side);
  const found = await readBarcodes({ data, width: side, height: side, colorSpace: 'srgb' } as unknown as ImageData, {
    formats: ['QRCode'],
  });
  return found[0];
}

describe('the QR code', () => {
  test('says the message, at level M, version 9', async () => {
    const found = await scan(qrSvg(message));
    expect(found).toMatchObject({ text: message, ecLevel: 'M', version: '9' });
    expect(drawQr(message).modules).toBe(53 + 8);
  });

  test('is version 9 even for a short message', () => expect(drawQr('A').modules).toBe(61));

  // A message of capitals and digits would fit a smaller symbol in alphanumeric mode; AT asks for byte mode.
  test.each([
    [180, 61],
    [181, 65],
    [504, 93],
  ])('%i bytes need %i modules, in byte mode', (length, modules) => {
    expect(drawQr('A'.repeat(length)).modules).toBe(modules);
  });

  test('text beyond ASCII is UTF-8', async () => expect((await scan(qrSvg('S:Ação;€')))?.text).toBe('S:Ação;€'));

  test('any message is read back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, maxLength: 300 }), async (text) => {
        expect((await scan(qrSvg(text)))?.text).toBe(text);
      }),
      { numRuns: 60 },
    );
  });

  // Two encoders that know nothing of each other.
  test('is the symbol that another encoder makes, module by module', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 }), (text) => {
        const bytes = [...new TextEncoder().encode(text)];
        const { data } = encode(bytes, { ecc: 'M', minVersion: 9, maskPattern: 2, border: 4 });
        expect(modulesOf(text).map((row) => row.map(Boolean))).toEqual(data.map((row) => row.map(Boolean)));
      }),
      { numRuns: 60 },
    );
  });

  test('has four light modules around', () => {
    const data = modulesOf(message);
    expect(data.slice(0, 4).flat()).not.toContain(true);
    expect(data.every((row) => !row.slice(0, 4).includes(true) && !row.slice(-4).includes(true))).toBe(true);
    expect(data[4]![4]).toBe(true);
    expect(data.length).toBe(drawQr(message).modules);
  });

  test('its strokes are the dark modules, one by one', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 600 }), (text) => {
        const data = modulesOf(text);
        const light = data.map((row) => row.map(() => false));
        const path = / stroke="black" d="([^"]+)"/.exec(qrSvg(text))![1]!;
        expect(path).toMatch(/^M4 \d+\.5h\d+(?:m-?\d+-\d+h\d+)+$/);
        let [x, y] = [0, 0];
        for (const [, right, down, length] of path.replace('M', 'm').matchAll(/m(-?\d+) ?(-?[\d.]+)h(\d+)/g)) {
          [x, y] = [x + Number(right), y + Number(down)];
          for (const to = x + Number(length); x < to; x++) light[y - 0.5]![x] = true;
        }
        expect(light).toEqual(data.map((row) => row.map(Boolean)));
      }),
      { numRuns: 60 },
    );
  });

  test('as a data address', () => {
    const address = qrDataUri(message);
    expect(address).toMatch(/^data:image\/svg\+xml,[\w%/:=.-]+$/);
    expect(decodeURIComponent(address.slice(address.indexOf(',') + 1))).toBe(qrSvg(message));
    expect(new URL(address).href).toBe(address);
  });

  test('a message beyond the largest symbol is told', () => {
    expect(drawQr('A'.repeat(2_331)).modules).toBe(177 + 8);
    expect(() => drawQr('A'.repeat(2_332))).toThrow(RangeError);
  });
});
