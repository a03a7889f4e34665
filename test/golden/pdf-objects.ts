/** Reads the objects of a PDF as they lie in the file (ISO 32000-1, 7): what a viewer forgives shows here. */
import { inflateSync } from 'node:zlib';

/** A reference to an object. */
export class Ref {
  readonly number: number;
  constructor(number: number) {
    this.number = number;
  }
}

/** A name, without its slash. */
export class Name {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

export type Dict = ReadonlyMap<string, Value>;
/** Texts and operators are strings; texts begin with a quotation mark. */
export type Value = number | string | boolean | null | Ref | Name | Value[] | Dict;

export interface Stream {
  readonly dict: Dict;
  readonly bytes: Buffer;
}

/** A dictionary; fails where it is something else. */
export function dictOf(value: Value | undefined): Dict {
  if (value instanceof Map) return value;
  throw new Error(`no dictionary: ${JSON.stringify(value)}`);
}

/** What a name says; fails where it is something else. */
export function nameOf(value: Value | undefined): string {
  if (value instanceof Name) return value.name;
  throw new Error(`no name: ${JSON.stringify(value)}`);
}

/** All objects of a file, by number, checked against its table. */
export class PdfObjects {
  readonly trailer: Dict;
  readonly #values = new Map<number, Value>();
  readonly #streams = new Map<number, Stream>();

  constructor(pdf: Uint8Array) {
    const file = Buffer.from(pdf);
    const start = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(file.toString('latin1', file.length - 40))?.[1]);
    const table = streamAt(file, start);
    this.trailer = table.dict;
    const size = table.dict.get('Size') as number;
    const packed: [number, number, number][] = [];
    for (let number = 1; number < size; number++) {
      const at = number * 7;
      const [kind, place, index] = [
        table.bytes[at]!,
        table.bytes.readUInt32BE(at + 1),
        table.bytes.readUInt16BE(at + 5),
      ];
      if (kind === 2) packed.push([number, place, index]);
      else if (kind === 1) {
        if (!file.toString('latin1', place, place + 20).startsWith(`${number} 0 obj\n`))
          throw new Error(`no object ${number}`);
        this.#streams.set(number, streamAt(file, place));
      } else throw new Error(`object ${number} is free`);
    }
    const unpacked = new Map<number, Value[]>();
    for (const [number, stream, index] of packed) {
      if (!unpacked.has(stream)) unpacked.set(stream, objectsIn(this.stream(new Ref(stream))));
      this.#values.set(number, unpacked.get(stream)![index]!);
    }
  }

  /** What a reference means; other values mean themselves. */
  get(value: Value | undefined): Value {
    if (!(value instanceof Ref)) return value ?? null;
    const found = this.#values.get(value.number) ?? this.#streams.get(value.number)?.dict;
    if (found === undefined) throw new Error(`no object ${value.number}`);
    return found;
  }

  dict(value: Value | undefined): Dict {
    return dictOf(this.get(value));
  }

  stream(value: Value | undefined): Stream {
    const found = value instanceof Ref ? this.#streams.get(value.number) : undefined;
    if (found === undefined) throw new Error(`no stream: ${JSON.stringify(value)}`);
    return found;
  }

  /** Every object that is no stream, and the dictionary of every stream. */
  all(): Value[] {
    return [...this.#values.values(), ...[...this.#streams.values()].map(({ dict }) => dict)];
  }
}

function streamAt(file: Buffer, at: number): Stream {
  const begin = file.indexOf('stream\n', at);
  const text = file.toString('latin1', at, begin).replace(/^\d+ \d+ obj/, '');
  const dict = dictOf(valuesOf(text)[0]);
  const length = dict.get('Length') as number;
  const raw = file.subarray(begin + 7, begin + 7 + length);
  if (!file.toString('latin1', begin + 7 + length, begin + 20 + length).startsWith('\nendstream'))
    throw new Error('a wrong length');
  const filter = dict.get('Filter');
  const isPacked = filter instanceof Name && filter.name === 'FlateDecode';
  return { dict, bytes: isPacked ? inflateSync(raw) : raw };
}

function objectsIn({ dict, bytes }: Stream): Value[] {
  const first = dict.get('First') as number;
  const index = valuesOf(bytes.toString('latin1', 0, first)) as number[];
  return Array.from({ length: dict.get('N') as number }, (_, at) => {
    const from = first + index[at * 2 + 1]!;
    const to = at * 2 + 3 < index.length ? first + index[at * 2 + 3]! : bytes.length;
    return valuesOf(bytes.toString('latin1', from, to))[0]!;
  });
}

const token =
  /\s+|<<|>>|\[|\]|\/([^\s<>[\]()/]*)|<([0-9a-fA-F\s]*)>|\(((?:\\[\s\S]|[^\\()])*)\)|(\d+) 0 R\b|([-+]?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?)(?=[\s<>[\]()/]|$)|([A-Za-z'"*][A-Za-z0-9*]*)/gy;

/** Values and operators in the order in which they stand. */
export function valuesOf(text: string): Value[] {
  const stack: Value[][] = [[]];
  let end = 0;
  for (const match of text.matchAll(token)) {
    end = match.index + match[0].length;
    const [whole, name, hex, literal, ref, number, word] = match;
    if (/^\s/.test(whole)) continue;
    if (whole === '<<' || whole === '[') stack.push([]);
    else if (whole === '>>') {
      const all = stack.pop()!;
      const dict = new Map<string, Value>();
      for (let at = 0; at < all.length; at += 2) dict.set(nameOf(all[at]), all[at + 1]!);
      stack.at(-1)!.push(dict);
    } else if (whole === ']') {
      const all = stack.pop()!;
      stack.at(-1)!.push(all);
    } else if (name !== undefined) stack.at(-1)!.push(new Name(name));
    else if (hex !== undefined) stack.at(-1)!.push(`"${textOf(Buffer.from(hex, 'hex'))}`);
    else if (literal !== undefined) stack.at(-1)!.push(`"${literal.replace(/\\(.)/g, '$1')}`);
    else if (ref !== undefined) stack.at(-1)!.push(new Ref(Number(ref)));
    else if (number !== undefined) stack.at(-1)!.push(Number(number));
    else if (word === 'true' || word === 'false') stack.at(-1)!.push(word === 'true');
    else if (word !== undefined) stack.at(-1)!.push(word);
  }
  if (end !== text.length || stack.length !== 1) throw new Error(`not read: ${text.slice(end, end + 60)}`);
  return stack[0]!;
}

/** UTF-16 where it is marked as such, else byte by byte. */
function textOf(bytes: Buffer): string {
  return bytes[0] === 0xfe && bytes[1] === 0xff
    ? Buffer.from(bytes.subarray(2)).swap16().toString('utf16le')
    : bytes.toString('latin1');
}
