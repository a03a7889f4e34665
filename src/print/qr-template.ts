/**
 * What the symbols of one version have in common, at level M under mask 2: which modules are always as they are, and where
 * each codeword goes. Clauses and tables are those of ISO/IEC 18004:2015. Pure.
 */

/** The smallest version that the AT's rules allow. */
const least_version = 9;

/** Of versions 9 to 40 at level M: bytes in byte mode (table 7), blocks, parity codewords of each block (table 9). */
const levelM = {
  bytes: [
    180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666, 711, 779, 857, 911, 997, 1059, 1125, 1190, 1264, 1370,
    1452, 1538, 1628, 1722, 1809, 1911, 1989, 2099, 2213, 2331,
  ],
  blocks: [
    5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45,
    47, 49,
  ],
  parity: [
    22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    28, 28, 28,
  ],
} as const;

/** Bytes that the largest symbol holds. */
export const most_bytes = 2_331;

/** A version's symbol, before a message and after: `modules` is drawn over again and again. */
export interface Template {
  /** Modules per side, without a margin. */
  readonly size: number;
  /** Bits of the number of bytes (table 3). */
  readonly lengthBits: 8 | 16;
  readonly blocks: number;
  /** Codewords that carry data: the first blocks have `floor(data / blocks)` of them, the last ones another. */
  readonly data: number;
  /** Codewords of error correction in each block. */
  readonly parity: number;
  /** Row by row, 1 is dark; each row is followed by one light module. */
  readonly modules: Uint8Array;
  /** Eight indices of `modules` per codeword, from its highest bit; data block by block, then parity block by block. */
  readonly places: Uint16Array;
  /** Of each codeword, in the same order, the bits that the mask turns over. */
  readonly masks: Uint8Array;
}

/** Made when a message first needs them. All 32 together take 1.4 MB, the three that documents mostly need 30 kB. */
const templates: (Template | undefined)[] = [];

/** The smallest version that holds a number of bytes, from 9 on. They have to be 2,331 at most. */
export function templateFor(bytes: number): Template {
  const at = levelM.bytes.findIndex((most) => bytes <= most);
  templates[at] ??= templateOf(at);
  return templates[at];
}

const undecided = 2;

function templateOf(at: number): Template {
  const version = least_version + at;
  const size = 17 + 4 * version;
  const stride = size + 1;
  const modules = new Uint8Array(size * stride).fill(undecided);
  const set = (x: number, y: number, dark: boolean | number) => {
    modules[y * stride + x] = Number(dark);
  };
  for (let y = 0; y < size; y++) set(size, y, 0);
  drawFinders(set, size);
  drawAlignment(set, size, version);
  for (let i = 8; i < size - 8; i++) {
    set(i, 6, i % 2 === 0);
    set(6, i, i % 2 === 0);
  }
  drawFormat(set, size);
  drawVersion(set, size, version);
  const lengthBits = version < 10 ? 8 : 16;
  // The mode takes four bits, and four are left over: for the end, or as half of a byte.
  const data = levelM.bytes[at]! + 1 + lengthBits / 8;
  const made = { size, lengthBits, blocks: levelM.blocks[at]!, data, parity: levelM.parity[at]!, modules } as const;
  return { ...made, ...placesOf(made) };
}

type Set = (x: number, y: number, dark: boolean | number) => void;

/** Position detection patterns with their separators (6.3.3, 6.3.4). */
function drawFinders(set: Set, size: number): void {
  for (const [left, top] of [
    [0, 0],
    [size - 7, 0],
    [0, size - 7],
  ] as const) {
    for (let y = Math.max(top - 1, 0); y < Math.min(top + 8, size); y++) {
      for (let x = Math.max(left - 1, 0); x < Math.min(left + 8, size); x++) {
        const away = Math.max(Math.abs(x - left - 3), Math.abs(y - top - 3));
        set(x, y, away !== 2 && away !== 4);
      }
    }
  }
}

/** Alignment patterns (6.3.6): table E.1 by a rule, evenly from the far side, what is left over before the nearest. */
function drawAlignment(set: Set, size: number, version: number): void {
  const count = Math.floor(version / 7) + 2;
  const step = Math.floor((8 * version + 3 * count + 5) / (4 * count - 4)) * 2;
  const centres = [6, ...Array.from({ length: count - 1 }, (_, i) => size - 7 - i * step)];
  const last = size - 7;
  for (const cx of centres) {
    for (const cy of centres) {
      // A corner that a finder has.
      if ((cx === 6 && (cy === 6 || cy === last)) || (cx === last && cy === 6)) continue;
      for (let y = -2; y <= 2; y++)
        for (let x = -2; x <= 2; x++) set(cx + x, cy + y, Math.max(Math.abs(x), Math.abs(y)) !== 1);
    }
  }
}

/** Level M (00) and mask 2 (010) with their ten check bits, as printed in table C.1. */
const format = 0b101111001111100;

/** Format information, twice, and the module that is always dark (7.9.1). */
function drawFormat(set: Set, size: number): void {
  for (let i = 0; i < 15; i++) {
    const dark = (format >> i) & 1;
    if (i < 8) set(size - 1 - i, 8, dark);
    else set(8, size - 15 + i, dark);
    // The timing patterns are passed over.
    if (i < 8) set(8, i < 6 ? i : i + 1, dark);
    else set(i < 9 ? 7 : 14 - i, 8, dark);
  }
  set(8, size - 8, 1);
}

/** Version information, twice (7.10): six bits and the remainder of the generator polynomial of annex D. */
function drawVersion(set: Set, size: number, version: number): void {
  let rest = version;
  for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >> 11) * 0b1111100100101);
  const bits = (version << 12) | rest;
  for (let i = 0; i < 18; i++) {
    const [across, along] = [size - 11 + (i % 3), Math.floor(i / 3)];
    set(across, along, (bits >> i) & 1);
    set(along, across, (bits >> i) & 1);
  }
}

/**
 * Where the codewords go, and what mask 2 turns over: every third column (table 10). Modules that none reaches show the mask
 * alone. Over 150 random messages of documents mask 2 had the lowest mean penalty (7.8.3) and was never more than 7 % above
 * the best of the eight; trying all of them takes ten times as long, and readers take any.
 */
function placesOf(made: Omit<Template, 'places' | 'masks'>): Pick<Template, 'places' | 'masks'> {
  const { size, modules } = made;
  const path = pathOf(modules, size);
  const order = orderOf(made);
  const places = new Uint16Array(8 * order.length);
  const masks = new Uint8Array(order.length);
  const turned = (place: number) => Number((place % (size + 1)) % 3 === 0);
  order.forEach((codeword, sent) => {
    for (let bit = 0; bit < 8; bit++) {
      const place = path[8 * sent + bit]!;
      places[8 * codeword + bit] = place;
      masks[codeword] = (masks[codeword]! << 1) | turned(place);
    }
  });
  for (const place of path) modules[place] = turned(place);
  return { places, masks };
}

/** Modules that nothing is drawn on, in pairs of columns from the right, upwards and downwards in turn (7.7.3). */
function pathOf(modules: Uint8Array, size: number): number[] {
  const path: number[] = [];
  let isUp = true;
  for (let right = size - 1; right > 0; right -= 2) {
    // The column of the timing pattern is passed over.
    if (right === 6) right = 5;
    for (let i = 0; i < size; i++) {
      const row = (isUp ? size - 1 - i : i) * (size + 1);
      for (const place of [row + right, row + right - 1]) if (modules[place] === undecided) path.push(place);
    }
    isUp = !isUp;
  }
  return path;
}

/** The numbers of the codewords, counted block by block, as they are sent: one of each block in turn (7.6). */
function orderOf({ blocks, data, parity }: Pick<Template, 'blocks' | 'data' | 'parity'>): number[] {
  const short = Math.floor(data / blocks);
  const shortBlocks = blocks - (data % blocks);
  const order: number[] = [];
  for (let i = 0; i <= short; i++)
    for (let block = 0; block < blocks; block++)
      if (i < short || block >= shortBlocks) order.push(block * short + Math.max(0, block - shortBlocks) + i);
  for (let i = 0; i < parity; i++) for (let block = 0; block < blocks; block++) order.push(data + block * parity + i);
  return order;
}
