/** What a vector logo is made of in a file: prepared once, added to each document under numbers of its own. */
import { deflateSync } from 'node:zlib';
import { LogoRefused } from '../logo-limits.ts';
import type { PdfFile } from './file.ts';

/** Drawing grows with its clips; a logo is a few kB. */
const mostDrawn = 4 * 1024 * 1024;
/** PDF has no powers of ten (ISO 32000-1, 7.3.3): what is so large, or nothing at all, is in no picture. */
const unwritable = /\d[eE][-+]?\d|Infinity|NaN/;

interface Part {
  readonly text: string;
  readonly content: Uint8Array | undefined;
}

/** The objects of one logo. */
export class Parts {
  readonly #all: Part[] = [];
  #drawn = 0;

  /**
   * An object, or a stream with its dictionary. Returns how others name it. Throws LogoRefused where it grows too large, or has
   * a number that a PDF can't hold.
   */
  add(text: string, content?: string): string {
    this.#drawn += text.length + (content?.length ?? 0);
    if (this.#drawn > mostDrawn) throw new LogoRefused('The logo has too many parts: simplify it.');
    if (unwritable.test(text) || unwritable.test(content ?? ''))
      throw new LogoRefused('The logo has numbers too large.');
    const packed = content === undefined ? undefined : deflateSync(Buffer.from(content, 'latin1'));
    return `@${this.#all.push({ text, content: packed }) - 1}@`;
  }

  /** Writes all of them. Returns the object of the last one. */
  write(file: PdfFile): number {
    const numbers = this.#all.map(() => file.reserve());
    for (const [index, { text, content }] of this.#all.entries()) {
      const named = text.replace(/@(\d+)@/g, (_, part) => `${numbers[Number(part)]} 0 R`);
      if (content === undefined) file.object(numbers[index]!, named);
      else file.raw(`${named}/Filter/FlateDecode`, content, numbers[index]!);
    }
    return numbers.at(-1)!;
  }
}

/** What is drawn in one form: operators, and the objects that they name. */
export class Sketch {
  readonly #parts: Parts;
  readonly #box: string;
  readonly #resources = new Map<string, string>();
  #count = 0;
  content = '';

  constructor(parts: Parts, box: string) {
    this.#parts = parts;
    this.#box = box;
  }

  /** An empty one of the same size. */
  fresh(): Sketch {
    return new Sketch(this.#parts, this.#box);
  }

  /** An object by the name under which operators find it. */
  named(kind: 'ExtGState' | 'Pattern' | 'Shading' | 'XObject', object: string): string {
    const reference = object.startsWith('@') ? object : this.#parts.add(object);
    const name = `${kind[0]}${this.#count++}`;
    this.#resources.set(kind, `${this.#resources.get(kind) ?? ''}/${name} ${reference}`);
    return `/${name}`;
  }

  /** Sets what all that follows is drawn through. */
  through(state: string): void {
    this.content += `${this.named('ExtGState', `<</Type/ExtGState${state}>>`)} gs `;
  }

  /** The form. `group`: the colours in which its parts are put together before it is drawn. */
  form(group = '', matrix = ''): string {
    const resources = [...this.#resources].map(([kind, entries]) => `/${kind}<<${entries}>>`).join('');
    const together = group === '' ? '' : `/Group<</S/Transparency/CS/${group}>>`;
    const dictionary = `/Type/XObject/Subtype/Form/BBox[${this.#box}]${matrix}${together}/Resources<<${resources}>>`;
    return this.#parts.add(dictionary, this.content);
  }
}
