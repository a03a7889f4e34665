/**
 * Lists that travel by column: each column is a parameter, an array as the server keeps it (array_recv), and the statement takes
 * of each what stands at an element's place. Of a list in JSON the server reads every letter, makes a value of it and of that
 * the row, which of a document that is issued took longer than anything but writing it (docs/decisions/0079-by-column.md).
 */
import { mostOfAll, type Piece, writePieces } from '../fiscal/utf8.ts';

/** How a value stands in an array: by the form of its type. What is not listed goes as text, and is cast. */
type Wire = 'uuid' | 'text' | 'bytea' | 'timestamptz' | 'integer';
/** Of each its number in the server's catalogue and, where all are alike, the bytes of one. */
const wires: Readonly<Record<Wire, { readonly oid: number; readonly bytes?: number }>> = {
  uuid: { oid: 2950, bytes: 16 },
  text: { oid: 25 },
  bytea: { oid: 17 },
  timestamptz: { oid: 1184, bytes: 8 },
  integer: { oid: 23, bytes: 4 },
};

interface Column {
  readonly name: string;
  readonly type: string;
  readonly wire: Wire;
  /** Where every element has the same, the array has it once. It is never null. */
  readonly isShared: boolean;
}

/** An element of such a list: by column texts, numbers, Dates, bytes (or pieces of them), or null. */
export type ColumnValues = { readonly [column: string]: unknown };

/** The columns of such a list, in the order of their parameters, from $1 on. */
export class ByColumn {
  readonly #columns: readonly Column[];

  /** `types`: of the columns, the first of which every element has its own of. `shared`: those that are mostly the same in all. */
  constructor(types: Readonly<Record<string, string>>, shared: readonly string[] = []) {
    this.#columns = Object.entries(types).map(([name, type]) => ({
      name,
      type,
      wire: type in wires ? (type as Wire) : 'text',
      isShared: shared.includes(name),
    }));
  }

  /**
   * The elements as rows, to select from. The server may not count them before it plans: it would find that a plan for one
   * element is cheaper than one for any number, and plan anew each time.
   */
  get rows(): string {
    const values = this.#columns.map(({ name, type, wire, isShared }, i) => {
      const array = arrayOf(wire, i);
      const value = isShared ? `coalesce(${array}[i], ${array}[1])` : `${array}[i]`;
      return `${wire === type ? value : `(${value})::${type}`} as ${name}`;
    });
    return `(select ${values.join(', ')} from generate_series(1, (select ${this.count})) i)`;
  }

  /** How many elements there are. */
  get count(): string {
    return `cardinality(${arrayOf(this.#columns[0]!.wire, 0)})`;
  }

  /** As `anyOf` and `anyId` in statement.ts. */
  any(name: string): string {
    const i = this.#columns.findIndex((column) => column.name === name);
    return `any (array(select unnest(${arrayOf(this.#columns[i]!.wire, i)})))`;
  }

  /** The parameters, of at least one element. Throws where a value is none of its column's. */
  encode(list: readonly ColumnValues[]): Buffer[] {
    const values = this.#columns.map(({ name, isShared }) => valuesOf(list, name, isShared));
    const most = this.#columns.reduce((sum, { wire }, i) => sum + mostOfArray(wire, values[i]!), 0);
    const bytes = Buffer.allocUnsafe(most);
    let at = 0;
    return this.#columns.map(({ wire }, i) => {
      const start = at;
      at = writeArray(bytes, start, wire, values[i]!);
      return bytes.subarray(start, at);
    });
  }
}

const arrayOf = (wire: Wire, i: number): string => `($${i + 1}::${wire}[])`;

function valuesOf(list: readonly ColumnValues[], name: string, isShared: boolean): unknown[] {
  const values = list.map((element) => element[name]);
  if (!isShared) return values;
  // The statement would read that of the first instead.
  if (values.some(isNull)) throw new TypeError(`column ${name} of a list is null`);
  return values.every((value) => value === values[0]) ? values.slice(0, 1) : values;
}

const header_bytes = 20;
/** Stands where the length of an item would: it is null. */
const null_length = -1;

function mostOfArray(wire: Wire, values: readonly unknown[]): number {
  const { bytes } = wires[wire];
  if (bytes !== undefined) return header_bytes + values.length * (4 + bytes);
  let most = header_bytes;
  for (const value of values) most += 4 + (wire === 'text' ? mostOfText(value) : mostOfBytes(value));
  return most;
}

const isNull = (value: unknown): value is null | undefined => value === null || value === undefined;
const mostOfText = (value: unknown): number => (isNull(value) ? 0 : Buffer.byteLength(textOf(value)));
const mostOfBytes = (value: unknown): number =>
  isNull(value) ? 0 : value instanceof Uint8Array ? value.length : mostOfAll(value as readonly Piece[]);

/** Returns where it ends. */
function writeArray(bytes: Buffer, start: number, wire: Wire, values: readonly unknown[]): number {
  // Dimensions, whether there are nulls, the type of the items; of the dimension its size and where it begins.
  let at = [1, Number(values.some(isNull)), wires[wire].oid, values.length, 1].reduce(
    (place, word) => bytes.writeInt32BE(word, place),
    start,
  );
  const write = writers[wire];
  for (const value of values) {
    const end = isNull(value) ? undefined : write(bytes, at + 4, value);
    bytes.writeInt32BE(end === undefined ? null_length : end - at - 4, at);
    at = end ?? at + 4;
  }
  return at;
}

const writers: Readonly<Record<Wire, (to: Buffer, start: number, value: unknown) => number>> = {
  uuid: (to, start, value) => writeUuid(to, start, textOf(value)),
  text: (to, start, value) => writeText(to, start, textOf(value)),
  bytea(to, start, value) {
    if (!(value instanceof Uint8Array)) return writePieces(to, start, value as readonly Piece[]);
    to.set(value, start);
    return start + value.length;
  },
  timestamptz: (to, start, value) => writeInstant(to, start, value as Date),
  integer: (to, start, value) => to.writeInt32BE(value as number, start),
};

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  throw new TypeError(`not a value for the database: ${typeof value}`);
}

/** Shorter ones are written letter by letter: a call of Node's takes as long as thirty of them. */
const longest_by_letter = 40;

function writeText(to: Buffer, start: number, text: string): number {
  if (text.length > longest_by_letter) return start + to.write(text, start);
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return start + to.write(text, start);
    to[start + i] = code;
  }
  return start + text.length;
}

const nibbles = new Int8Array(128).fill(-1);
for (let i = 0; i < 16; i += 1) {
  nibbles[i.toString(16).charCodeAt(0)] = i;
  nibbles[i.toString(16).toUpperCase().charCodeAt(0)] = i;
}
const uuid_letters = 36;
const hyphen = 0x2d;
const hyphen_places = [8, 13, 18, 23];
/** Where the two letters of each byte begin. */
const letter_places = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

function writeUuid(to: Buffer, start: number, text: string): number {
  let sound = text.length === uuid_letters;
  for (let i = 0; i < hyphen_places.length; i += 1) sound &&= text.charCodeAt(hyphen_places[i]!) === hyphen;
  for (let i = 0; i < letter_places.length; i += 1) {
    const place = letter_places[i]!;
    const high = nibbles[text.charCodeAt(place)] ?? -1;
    const low = nibbles[text.charCodeAt(place + 1)] ?? -1;
    sound &&= high >= 0 && low >= 0;
    to[start + i] = (high << 4) | low;
  }
  if (!sound) throw new TypeError(`not a UUID: ${text}`);
  return start + letter_places.length;
}

/** From where the server counts its microseconds. */
const epoch_ms = Date.UTC(2000, 0, 1);
const two_to_32 = 2 ** 32;

function writeInstant(to: Buffer, start: number, instant: Date): number {
  // Exact for 285 years either way.
  const microseconds = (instant.getTime() - epoch_ms) * 1_000;
  if (!Number.isSafeInteger(microseconds)) throw new TypeError('not an instant for the database');
  const high = Math.floor(microseconds / two_to_32);
  return to.writeUInt32BE(microseconds - high * two_to_32, to.writeInt32BE(high, start));
}
