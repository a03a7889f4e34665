/** Outlines of a compact font without the subroutines that they call (Adobe Technical Note 5177). */

/** Pieces of charstrings by number. */
export interface Subroutines {
  readonly count: number;
  readonly at: (index: number) => Uint8Array;
}

const op = {
  call: 10,
  return: 11,
  escape: 12,
  mask: 19,
  counter: 20,
  number16: 28,
  callGlobal: 29,
  fixed: 255,
} as const;
const stems: ReadonlySet<number> = new Set([1, 3, 18, 23]);
/** The note allows ten; a font that goes deeper would turn in a circle. */
const deepest = 10;

/** The charstring with each subroutine in the place of its call, so that a font of few glyphs needs no others' pieces. */
export function inlined(charstring: Uint8Array, local: Subroutines, global: Subroutines): Uint8Array {
  const out: number[] = [];
  /** Operands, and where each begins in what is written. */
  let [values, starts]: [number[], number[]] = [[], []];
  let hints = 0;
  const clear = () => {
    values = [];
    starts = [];
  };
  const call = (subroutines: Subroutines, depth: number) => {
    const number = values.pop()! + (subroutines.count < 1240 ? 107 : subroutines.count < 33_900 ? 1131 : 32_768);
    out.length = starts.pop()!;
    if (depth < deepest) run(subroutines.at(number), depth + 1);
  };
  const run = (code: Uint8Array, depth: number) => {
    for (let at = 0; at < code.length; ) {
      const byte = code[at]!;
      if (byte >= 32 || byte === op.number16) {
        const size = operandSize(byte);
        values.push(operand(code, at));
        starts.push(out.length);
        for (let end = at + size; at < end; at++) out.push(code[at]!);
        continue;
      }
      at++;
      if (byte === op.call) call(local, depth);
      else if (byte === op.callGlobal) call(global, depth);
      else if (byte === op.return) return;
      else {
        out.push(byte);
        if (byte === op.escape) out.push(code[at++]!);
        const isMask = byte === op.mask || byte === op.counter;
        if (stems.has(byte) || isMask) hints += values.length >> 1;
        if (isMask) for (let end = at + ((hints + 7) >> 3); at < end; at++) out.push(code[at]!);
        clear();
      }
    }
  };
  run(charstring, 0);
  return Uint8Array.from(out);
}

function operandSize(byte: number): number {
  if (byte === op.number16) return 3;
  return byte === op.fixed ? 5 : byte > 246 ? 2 : 1;
}

/** Its value, as far as numbers of subroutines go: whole ones. */
function operand(code: Uint8Array, at: number): number {
  const byte = code[at]!;
  if (byte === op.number16 || byte === op.fixed) return (((code[at + 1]! << 8) | code[at + 2]!) << 16) >> 16;
  if (byte > 250) return -(byte - 251) * 256 - code[at + 1]! - 108;
  return byte > 246 ? (byte - 247) * 256 + code[at + 1]! + 108 : byte - 139;
}
