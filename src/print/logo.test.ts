import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { growth, no_square } from '../../test/growth.ts';
import { chunk, pngFile } from '../../test/png.ts';
import { cleanLogo, kindOfLogo } from './logo.ts';
import { LogoRefused } from './logo-limits.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const svg = (inside: string, more = '') =>
  bytes(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2"${more}>${inside}</svg>`);
const cleaned = (logo: Uint8Array) => new TextDecoder().decode(cleanLogo(logo));

/** A PNG of RGB pixels; `packed` in place of the right ones. */
function png(
  width: number,
  height: number,
  more: { packed?: Buffer; extra?: Buffer; interlace?: number } = {},
): Buffer {
  const packed = more.packed ?? deflateSync(Buffer.alloc((1 + width * 3) * height, 7));
  const before = more.extra === undefined ? [] : [more.extra];
  return pngFile({ width, height, depth: 8, colour: 2, interlace: more.interlace }, packed, before);
}

const segment = (marker: number, data: readonly number[]) => [0xff, marker, 0, data.length + 2, ...data];
/** The markers of a grey JPEG of 8 by 8; its coded data is not looked at. */
function jpeg(
  more: { frame?: readonly number[]; extra?: readonly number[]; end?: readonly number[] } = {},
): Uint8Array {
  const frame = more.frame ?? [8, 0, 8, 0, 8, 1, 1, 0x11, 0];
  return new Uint8Array([
    0xff,
    0xd8,
    ...(more.extra ?? []),
    ...segment(0xdb, Array(65).fill(1)),
    ...segment(0xc0, frame),
    ...segment(0xda, [1, 1, 0, 0, 63, 0]),
    0x12,
    0xff,
    0x00,
    0xff,
    0xd0,
    0x34,
    ...(more.end ?? [0xff, 0xd9]),
  ]);
}

/** What it codes is said too late. */
const scanFirst = new Uint8Array([
  0xff,
  0xd8,
  ...segment(0xda, [1, 1, 0, 0, 63, 0]),
  0x12,
  ...segment(0xc0, [8, 0, 8, 0, 8, 1, 1, 0x11, 0]),
  0xff,
  0xd9,
]);

describe('PNG', () => {
  test('keeps the picture, and nothing that was put beside or behind it', () => {
    const extra = chunk('tEXt', Buffer.from('Comment\0secret'));
    const given = Buffer.concat([png(3, 2, { extra }), bytes('<script>')]);
    expect(Buffer.compare(cleanLogo(given), png(3, 2))).toBe(0);
  });

  test.each([
    ['pixels that grow without bound', png(3, 2, { packed: deflateSync(Buffer.alloc(9_000_000)) }), /damaged/],
    ['too few pixels', png(3, 2, { packed: deflateSync(Buffer.alloc(3)) }), /damaged/],
    ['no pixels', png(3, 2, { packed: Buffer.from('x') }), /damaged/],
    ['a side too long', png(2001, 1), /2001 × 1 pixels/],
    ['no side', png(0, 1), /0 × 1 pixels/],
    ['interlacing', png(3, 2, { interlace: 1 }), /interlaced/],
    ['a cut', png(3, 2).subarray(0, 60), /damaged/],
    [
      'a palette that is not there',
      pngFile({ width: 1, height: 1, depth: 8, colour: 3 }, deflateSync(Buffer.alloc(2)), []),
      /damaged/,
    ],
    ['half a colour that shines through', png(3, 2, { extra: chunk('tRNS', Buffer.alloc(2)) }), /damaged/],
    [
      'colours of four bits',
      pngFile({ width: 2, height: 1, depth: 4, colour: 2 }, deflateSync(Buffer.alloc(4)), []),
      /damaged/,
    ],
    ['a wrong sum', Buffer.concat([png(3, 2).subarray(0, 20), Buffer.from([9]), png(3, 2).subarray(21)]), /damaged/],
  ])('%s is refused', (_what, logo, words) => expect(() => cleanLogo(logo)).toThrow(words));
});

describe('JPEG', () => {
  test('keeps the picture without Exif and comments', () => {
    const extra = [...segment(0xe1, [69, 120, 105, 102]), ...segment(0xfe, [104, 105])];
    expect(cleanLogo(jpeg({ extra }))).toEqual(cleanLogo(jpeg()));
    expect(Buffer.compare(cleanLogo(jpeg()), jpeg())).toBe(0);
    expect(kindOfLogo(jpeg())).toBe('jpg');
  });

  test.each([
    ['four colours', jpeg({ frame: [8, 0, 8, 0, 8, 4, 1, 0x11, 0] }), /CMYK/],
    ['a side too long', jpeg({ frame: [8, 0xff, 0xff, 0, 8, 1, 1, 0x11, 0] }), /8 × 65535/],
    ['twelve bits', jpeg({ frame: [12, 0, 8, 0, 8, 1, 1, 0x11, 0] }), /damaged/],
    ['no end', jpeg({ end: [] }), /damaged/],
    ['a segment beyond the end', jpeg().subarray(0, 10), /damaged/],
    ['a scan before its frame', scanFirst, /damaged/],
    ['no frame', new Uint8Array([0xff, 0xd8, 0xff, 0xda, 0, 2, 1, 0xff, 0xd9]), /damaged/],
  ])('%s is refused', (_what, logo, words) => expect(() => cleanLogo(logo)).toThrow(words));
});

describe('SVG', () => {
  test('is written anew: shapes and their looks, without comments, notes of editors and unknown attributes', () => {
    const logo = svg(
      '<!-- by hand --><metadata><rdf:RDF xmlns:rdf="x"><a/></rdf:RDF></metadata><title>Casa</title>' +
        '<g inkscape:label="x" style="fill:#f00;font-family:Arial;stroke:none"><path d="M0 0h4v2z" data-x="1"/></g>',
    );
    expect(cleaned(logo)).toBe(
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2"><title></title><g fill="#f00" stroke="none"><path d="M0 0h4v2z"/></g></svg>',
    );
    expect(cleaned(bytes(`<?xml version="1.0"?>\n${new TextDecoder().decode(logo)}\n`))).toBe(cleaned(logo));
  });

  test('gradients and clips of its own stay', () => {
    const logo = svg(
      '<defs><linearGradient id="a"><stop offset="1" stop-color="red"/></linearGradient></defs><rect fill="url(#a)"/>',
    );
    expect(cleaned(logo)).toContain('fill="url(#a)"');
  });

  test.each([
    ['a script', svg('<script>alert(1)</script>')],
    ['a handler', svg('<path d="M0 0" onload="x()"/>')],
    ['a picture from elsewhere', svg('<image href="https://example.org/x.png"/>')],
    ['a file of this machine', svg('<image xlink:href="/etc/passwd"/>')],
    ['a link', svg('<a href="https://example.org"><path d="M0 0"/></a>')],
    ['repetition', svg('<use href="#a"/>')],
    ['a style sheet', svg('<style>@import url(https://example.org/x.css);</style>')],
    ['an address in a style', svg('<path style="fill:url(https://example.org/x#y)"/>')],
    ['an address in an attribute', svg('<path fill="url(//example.org/#x)"/>')],
    ['a foreign object', svg('<foreignObject><p>x</p></foreignObject>')],
    ['text, which needs a font', svg('<text>Casa</text>')],
    ['a filter', svg('<filter id="a"/>')],
    ['animation', svg('<rect><animate attributeName="x"/></rect>')],
    ['a document type', bytes('<!DOCTYPE svg SYSTEM "https://example.org/x.dtd"><svg viewBox="0 0 1 1"></svg>')],
    ['entities', bytes('<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg>&a;</svg>')],
    ['an entity in an attribute', svg('<path d="&#77;0 0"/>')],
    ['a data section', svg('<![CDATA[x]]>')],
    ['an instruction', svg('<?php x ?>')],
    ['tags that do not match', svg('<g><path d="M0 0"></g></path>')],
    ['no end', bytes('<svg viewBox="0 0 1 1"><g>')],
    ['two roots', bytes('<svg></svg><svg></svg>')],
    ['a clip of a clip', svg('<clipPath id="a" clip-path="url(#b)"><path d="M0 0h1v1z"/></clipPath>')],
    [
      'a clip of clipped parts',
      svg('<clipPath id="a"><g><path d="M0 0h1v1z" style="fill:none;clip-path:url(#b)"/></g></clipPath>'),
    ],
    ['clips without end', svg('<path d="M0 0h1v1z" clip-path="url(#a)"/>'.repeat(201))],
    ['clips of parts without end', svg(`<clipPath id="a">${'<path d="M0 0h1v1z"/>'.repeat(500)}</clipPath>`)],
    ['depth without end', svg('<g>'.repeat(40) + '</g>'.repeat(40))],
    ['parts without end', svg('<g/>'.repeat(6000))],
    ['another kind of file', bytes('%PDF-1.7')],
    ['a page with a picture', bytes('<html><svg></svg></html>')],
    ['nothing', new Uint8Array()],
    ['no text', new Uint8Array([0x3c, 0x73, 0x76, 0x67, 0xff, 0xfe])],
  ])('%s is refused', (_what, logo) => expect(() => cleanLogo(logo)).toThrow(LogoRefused));

  test('what it says of a value ends between its characters', () => {
    expect(() => cleanLogo(svg(`<path fill="x${'😀'.repeat(50)}"/>`))).toThrow(`value "x${'😀'.repeat(39)}" in fill`);
  });
});

test('a file over 512 KiB is not looked at', () => {
  expect(() => cleanLogo(svg(' '.repeat(512 * 1024)))).toThrow('larger than 512 KiB');
});

test('what comments take grows as they do', async () => {
  const refused = (comments: number) => {
    const logo = bytes(`<svg>${'<!-- -->'.repeat(comments)}<`);
    return () => expect(() => cleanLogo(logo)).toThrow(LogoRefused);
  };
  expect(await growth(refused, 625)).toBeLessThan(no_square);
});

test('whatever the bytes: a clean picture that is clean again, or a refusal', () => {
  const tokens = fc.array(
    fc.constantFrom(
      '<svg>',
      '</svg>',
      '<g>',
      '</g>',
      '<path d="M0 0"/>',
      '<script>',
      ' fill="#f00"',
      '<!--',
      '-->',
      '"',
      '&',
      'url(#a)',
      '<rect fill="url(#a)"/>',
    ),
    { maxLength: 12 },
  );
  const damaged = fc
    .tuple(fc.constantFrom(png(3, 2), Buffer.from(jpeg())), fc.nat(200), fc.nat(255))
    .map(([file, at, value]) => Buffer.from(file).fill(value, at % file.length, (at % file.length) + 1));
  fc.assert(
    fc.property(
      fc.oneof(
        tokens.map((all) => bytes(`<svg>${all.join('')}</svg>`)),
        damaged,
        fc.uint8Array(),
      ),
      (logo) => {
        let once: Uint8Array;
        try {
          once = cleanLogo(logo);
        } catch (error) {
          expect(error).toBeInstanceOf(LogoRefused);
          return;
        }
        expect(Buffer.compare(cleanLogo(once), once)).toBe(0);
        expect(Buffer.from(once).includes('script')).toBe(false);
      },
    ),
    { numRuns: 500 },
  );
});
