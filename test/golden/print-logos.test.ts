/** Logos on paper, seen: each kind of picture that is taken shows its colours where it has them. */
import { deflateSync } from 'node:zlib';
import { createCanvas } from '@napi-rs/canvas';
import { afterAll, describe, expect, test } from 'vitest';
import { openPrint } from '../../src/print/print.ts';
import { chunk, pngFile } from '../png.ts';
import { openPdf, pagesOf } from './print-reading.ts';
import { samples } from './print-samples.ts';

const print = openPrint({ workers: 0 });
afterAll(print.close);

type Rgb = readonly [number, number, number];
const [red, blue, white, black]: readonly [Rgb, Rgb, Rgb, Rgb] = [
  [255, 0, 0],
  [0, 0, 255],
  [255, 255, 255],
  [0, 0, 0],
];

/** The colours of a logo twice as wide as high on an A4 page: in the middle of its left and of its right half. */
async function seen(logo: Uint8Array): Promise<Rgb[]> {
  const document = await openPdf(await print.render({ ...samples.invoice(), style: { logo } }));
  const [page] = await pagesOf(document);
  const scale = 2;
  const viewport = page!.getViewport({ scale });
  const canvas = createCanvas(viewport.width, viewport.height);
  await page!.render({ canvas: canvas as never, viewport }).promise;
  await document.destroy();
  const at = (x: number): Rgb => {
    const [r, g, b] = canvas.getContext('2d').getImageData(Math.round(x * scale), 80 * scale, 1, 1).data;
    return [r!, g!, b!];
  };
  // 72 points wide from the margin on, 36 high from 62 on.
  return [at(56.5 + 18), at(56.5 + 54)];
}

function near(colours: readonly Rgb[], wanted: readonly Rgb[]): void {
  for (const [index, colour] of colours.entries())
    for (const [channel, value] of colour.entries())
      expect(Math.abs(value - wanted[index]![channel]!), `${colour} for ${wanted[index]}`).toBeLessThan(6);
}

/** Eight pixels by four, from the samples of its left and its right half; each row with the filter asked for. */
function png(
  depth: number,
  colour: number,
  halves: readonly (readonly number[])[],
  filter = 0,
  more: Buffer[] = [],
): Buffer {
  const bits = Array.from({ length: 8 }, (_, x) => halves[x < 4 ? 0 : 1]!)
    .flat()
    .map((value) => value.toString(2).padStart(depth, '0'))
    .join('');
  const row = Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)));
  const step = Math.max(1, (halves[0]!.length * depth) >> 3);
  const coded = (y: number) =>
    row.map((value, x) => {
      const [left, up] = [x < step ? 0 : row[x - step]!, y === 0 ? 0 : value];
      return (
        value -
        (filter === 1
          ? left
          : filter === 2
            ? up
            : filter === 3
              ? (left + up) >> 1
              : filter === 4
                ? y === 0
                  ? left
                  : up
                : 0)
      );
    });
  const rows = Array.from({ length: 4 }, (_, y) => Buffer.concat([Buffer.from([filter]), coded(y)]));
  return pngFile({ width: 8, height: 4, depth, colour }, deflateSync(Buffer.concat(rows)), more);
}

const palette = chunk('PLTE', Buffer.from([255, 0, 0, 0, 0, 255]));
const half = 32_768;

describe('PNG', () => {
  test.each<[string, Buffer, readonly Rgb[]]>([
    [
      'colours',
      png(8, 2, [
        [255, 0, 0],
        [0, 0, 255],
      ]),
      [red, blue],
    ],
    [
      'colours of 16 bits',
      png(16, 2, [
        [65_535, 0, 0],
        [0, 0, 65_535],
      ]),
      [red, blue],
    ],
    ['grey of one bit', png(1, 0, [[0], [1]]), [black, white]],
    ['grey of four bits', png(4, 0, [[0], [8]]), [black, [136, 136, 136]]],
    ['a palette', png(2, 3, [[0], [1]], 0, [palette]), [red, blue]],
    [
      'a palette that shines through',
      png(2, 3, [[0], [1]], 0, [palette, chunk('tRNS', Buffer.from([0]))]),
      [white, blue],
    ],
    [
      'a colour that shines through',
      png(
        8,
        2,
        [
          [255, 0, 0],
          [0, 0, 255],
        ],
        0,
        [chunk('tRNS', Buffer.from([0, 255, 0, 0, 0, 0]))],
      ),
      [white, blue],
    ],
    [
      'colours and alpha',
      png(8, 6, [
        [255, 0, 0, 0],
        [0, 0, 255, 128],
      ]),
      [white, [127, 127, 255]],
    ],
    [
      'grey and alpha of 16 bits',
      png(16, 4, [
        [0, 65_535],
        [0, half],
      ]),
      [black, [127, 127, 127]],
    ],
  ])('%s', async (_kind, logo, colours) => near(await seen(logo), colours));

  test.each([1, 2, 3, 4])('rows of filter %i', async (filter) => {
    near(
      await seen(
        png(
          8,
          6,
          [
            [255, 0, 0, 255],
            [0, 0, 255, 255],
          ],
          filter,
        ),
      ),
      [red, blue],
    );
    near(
      await seen(
        png(
          8,
          2,
          [
            [255, 0, 0],
            [0, 0, 255],
          ],
          filter,
        ),
      ),
      [red, blue],
    );
  });
});

test('JPEG', async () => {
  const canvas = createCanvas(80, 40);
  const context = canvas.getContext('2d');
  context.fillStyle = 'red';
  context.fillRect(0, 0, 80, 40);
  context.fillStyle = 'blue';
  context.fillRect(40, 0, 40, 40);
  near(await seen(canvas.toBuffer('image/jpeg', 100)), [red, blue]);
});

describe('SVG', () => {
  const svg = (inside: string, more = 'viewBox="0 0 40 20"') =>
    new TextEncoder().encode(`<svg xmlns="http://www.w3.org/2000/svg" ${more}>${inside}</svg>`);
  const left = '<rect width="20" height="20" fill="red"/>';
  const stops =
    '<stop offset="0" stop-color="red"/><stop offset=".5" stop-color="red"/><stop offset=".5" stop-color="blue"/>';

  test.each<[string, string, readonly Rgb[]]>([
    ['shapes', `${left}<circle cx="30" cy="10" r="9" fill="#00f"/>`, [red, blue]],
    ['paths, relative and smooth', `${left}<path fill="blue" d="m22 2h16v16l-16 0z"/>`, [red, blue]],
    ['arcs', `${left}<path fill="blue" d="M21 10a9 9 0 1 0 18 0A9 9 0 1021 10"/>`, [red, blue]],
    ['holes', `${left}<path fill="blue" fill-rule="evenodd" d="M20 0h20v20H20zM24 4h12v12H24z"/>`, [red, white]],
    [
      'transforms and groups',
      `${left}<g fill="blue" transform="translate(20 0) scale(2)"><path d="M0 0h10v10H0z"/></g>`,
      [red, blue],
    ],
    ['opacity', `${left}<rect x="20" width="20" height="20" fill="blue" opacity=".5"/>`, [red, [127, 127, 255]]],
    [
      'opacity of a group',
      '<g opacity=".5"><rect width="40" height="20" fill="red"/><rect x="20" width="20" height="20" fill="blue"/></g>',
      [
        [255, 127, 127],
        [127, 127, 255],
      ],
    ],
    [
      'strokes',
      '<line x1="10" y1="0" x2="10" y2="20" stroke="red" stroke-width="9"/><path stroke="blue" stroke-width="9" d="M30 0v20"/>',
      [red, blue],
    ],
    [
      'gradients',
      `<linearGradient id="a">${stops}</linearGradient><rect width="40" height="20" fill="url(#a)"/>`,
      [red, blue],
    ],
    [
      'gradients that repeat',
      `<linearGradient id="a" spreadMethod="reflect" x2=".25">${stops}</linearGradient><rect width="40" height="20" fill="url(#a)"/>`,
      [blue, blue],
    ],
    [
      'clips',
      '<clipPath id="a"><rect width="20" height="20"/></clipPath><rect width="40" height="20" fill="red" clip-path="url(#a)"/>',
      [red, white],
    ],
    [
      'clips of several shapes',
      '<clipPath id="a"><rect width="9" height="20"/><rect x="9" width="9" height="20"/></clipPath><rect width="40" height="20" fill="red" clip-path="url(#a)"/>',
      [red, white],
    ],
    [
      'what is hidden',
      `${left}<rect x="20" width="20" height="20" display="none"/><rect x="20" width="20" height="20" visibility="hidden"/>`,
      [red, white],
    ],
    [
      'colours of all spellings',
      '<rect width="20" height="20" fill="rgb(100%, 0%, 0%)"/><rect x="20" width="20" height="20" fill="hsl(240, 100%, 50%)"/>',
      [red, blue],
    ],
  ])('%s', async (_what, inside, colours) => near(await seen(svg(inside)), colours));

  test('its own size, its frame in the middle of it', async () => {
    const frame = 'width="400px" height="200" viewBox="0 0 12 10"';
    near(await seen(svg('<path fill="red" d="M0 0h12v10H0z"/>', frame)), [red, red]);
    near(await seen(svg('<path fill="red" d="M0 0h12v10H0z"/>', `${frame} preserveAspectRatio="xMinYMid"`)), [
      red,
      white,
    ]);
  });
});
