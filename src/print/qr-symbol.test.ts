import { createHash } from 'node:crypto';
import fc from 'fast-check';
import encodeQr from 'qr';
import { describe, expect, test } from 'vitest';
import { qrDataUri, qrSvg } from './qr.ts';
import { writeParity } from './qr-parity.ts';
import { symbolOf } from './qr-symbol.ts';

/** The symbol of another encoder, within one light module. */
function theirs(message: string): boolean[][] {
  // Without a version it takes the smallest, which the AT does not allow below 9.
  const least = Buffer.byteLength(message) > 180 ? {} : { version: 9 };
  return encodeQr(message, 'raw', { ecc: 'medium', encoding: 'byte', mask: 2, border: 1, ...least });
}

/** Whether all modules are the same; one expectation for each of millions of modules would take minutes. */
function isTheSame(message: string, rows = theirs(message)): boolean {
  const { size, modules } = symbolOf(message);
  if (rows.length !== size + 2) return false;
  for (let y = 0; y < size; y++)
    for (let x = 0; x <= size; x++) if (modules[y * (size + 1) + x] !== Number(rows[y + 1]![x + 1])) return false;
  return true;
}

/** The drawing in plain words, out of the rows of another encoder. */
function plainly(rows: readonly boolean[][]): string {
  const size = rows.length + 6;
  let path = '';
  let [penX, penY] = [0, 0];
  for (let y = rows.length - 2; y > 0; y--) {
    for (const { 0: run, index } of rows[y]!.map((dark) => (dark ? '#' : ' '))
      .join('')
      .matchAll(/#+/g)) {
      path += path === '' ? `M4 ${size - 4.5}` : `m${index - penX}-${penY - y}`;
      path += `h${run.length}`;
      [penX, penY] = [index + run.length, y];
    }
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">` +
    `<path fill="white" d="M0 0h${size}v${size}H0z"/><path stroke="black" d="${path}"/></svg>`
  );
}

const letters = [...'ABCDEFHINOPQR0123456789:*.-/+ az~\n\0', 'ã', 'Ç', 'º', '€', '語', '\uffff', '😀'];

/** A message of so many bytes of UTF-8, another one for each seed. */
function messageOf(bytes: number, seed = bytes): string {
  let message = '';
  let state = seed;
  for (let left = bytes; left > 0; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const letter = letters[(state >>> 16) % letters.length]!;
    const length = Buffer.byteLength(letter);
    if (length > left) continue;
    message += letter;
    left -= length;
  }
  return message;
}

/** Bytes: messages of documents have 190 to 230 (decision 0062). */
const longest_told = 450;

/** Bytes that versions 9 to 40 hold at level M (ISO/IEC 18004, table 7). */
const most = [
  [180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666, 711, 779, 857, 911],
  [997, 1059, 1125, 1190, 1264, 1370, 1452, 1538, 1628, 1722, 1809, 1911, 1989, 2099, 2213, 2331],
].flat();

describe('the symbol is the one of another encoder, module by module', () => {
  test('for every length of a document’s message and every fifth beyond, ASCII and not', () => {
    const wrong: number[] = [];
    const sizes = new Set<number>();
    for (let bytes = 0; bytes <= 2_331; bytes += bytes < longest_told ? 1 : 5) {
      const message = messageOf(bytes);
      expect(Buffer.byteLength(message)).toBe(bytes);
      if (!isTheSame(message) || !isTheSame(message.replace(/\P{ASCII}/gu, '?'))) wrong.push(bytes);
      sizes.add(symbolOf(message).size);
    }
    expect(wrong).toEqual([]);
    expect([...sizes]).toEqual(most.map((_, i) => 17 + 4 * (9 + i)));
  });

  // Lone surrogates included, which UTF-8 has no bytes for.
  test('for whatever text, one after the other in any order', () => {
    const unit = fc.oneof(fc.integer({ max: 0xff, min: 0 }), fc.integer({ max: 0xffff, min: 0 }));
    const texts = fc.array(unit, { maxLength: 760, size: 'max' }).map((units) => String.fromCharCode(...units));
    fc.assert(
      fc.property(texts, (text) => isTheSame(text)),
      { numRuns: 400 },
    );
  });

  test.each(most.map((bytes, i) => [9 + i, bytes]))('version %i holds %i bytes and not one more', (version, bytes) => {
    const options = { ecc: 'medium', encoding: 'byte', mask: 2, border: 1, version } as const;
    const exact = 'x'.repeat(bytes);
    expect(isTheSame(exact, encodeQr(exact, 'raw', options))).toBe(true);
    expect(() => encodeQr(`${exact}x`, 'raw', options)).toThrow('Capacity overflow');
    if (version < 40) expect(symbolOf(`${exact}x`).size).toBe(17 + 4 * (version + 1));
    else expect(() => symbolOf(`${exact}x`)).toThrow(RangeError);
  });
});

test('what is beyond the largest symbol is counted in bytes', () => {
  expect(symbolOf('€'.repeat(777)).size).toBe(177);
  expect(() => symbolOf('€'.repeat(778))).toThrow('a QR code of level M holds 2331 bytes, not 2334');
});

test('a symbol that is refused leaves the next one as it is', () => {
  const address = qrDataUri('A');
  expect(() => qrDataUri('A'.repeat(3_000))).toThrow(RangeError);
  expect(qrDataUri('A')).toBe(address);
});

describe('parity', () => {
  // ISO/IEC 18004, annex I: "01234567" in version 1-M.
  test('is the one of the worked example', () => {
    const bytes = Buffer.alloc(26);
    bytes.write('10200c566180ec11ec11ec11ec11ec11', 'hex');
    writeParity(bytes, 0, 16, 16, 10);
    expect(bytes.subarray(16).toString('hex')).toBe('a524d4c1ed36c7872c55');
  });

  test('of a part is written where it is told, and nothing else', () => {
    const bytes = Buffer.alloc(40, 0x11);
    writeParity(bytes, 1, 1, 2, 30);
    expect([...bytes]).toEqual([0x11, 0x11, ...new Array<number>(30).fill(0), ...new Array<number>(8).fill(0x11)]);
  });
});

describe('the drawing', () => {
  test('is that of the other encoder’s modules, byte by byte', () => {
    for (let bytes = 0; bytes <= 2_331; bytes += 23) {
      const message = messageOf(bytes, bytes + 1);
      const drawing = plainly(theirs(message));
      expect(qrSvg(message)).toBe(drawing);
      expect(qrDataUri(message)).toBe(`data:image/svg+xml,${encodeURI(drawing)}`);
    }
  });

  // A reply under an idempotency key is rebuilt from the message by drawing it again, and has to be the same byte by byte:
  // so this digest may only change together with what is done about the replies that were given before.
  test('never changes', () => {
    const hash = createHash('sha256');
    for (let i = 0; i < 200; i++) hash.update(qrDataUri(messageOf(i < 100 ? 120 + i : 23 * i - 2_246, i)));
    expect(hash.digest('hex')).toBe('aaeea5ea5d8267c512ba68f4912caa245a926d4b4b4ba7d08c3eda763dc63848');
  });
});
