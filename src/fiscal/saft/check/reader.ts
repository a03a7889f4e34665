/**
 * A strict, streaming XML 1.0 reader: what SAF-T needs of XML and nothing that a hostile file could use. No document type
 * declaration, so no entities of its own; nothing outside the file is ever asked for; what is pending is bounded.
 *
 * Own because fast-xml-parser wants the whole file as one text (a year of a shop is a gigabyte), and a SAX library would
 * bring its own ideas of what to forgive: a checker has to say no.
 */
import { cut } from '../../cut.ts';
import type { FindingCode, FindingFacts } from './findings.ts';

/** What a reader tells, in the order of the file. Names are local names; `line` counts from 1. */
export interface XmlSink {
  open(name: string, namespace: string, line: number): void;
  /** Whether there was anything in an element's tag beside its name: SAF-T has no attributes. */
  attribute(name: string, line: number): void;
  text(value: string, line: number): void;
  close(line: number): void;
}

/** Not well-formed, or more than we read: nothing that follows can be trusted. */
export class XmlFault extends Error {
  readonly code: FindingCode;
  readonly line: number;
  readonly facts: FindingFacts;

  constructor(code: FindingCode, line: number, facts: FindingFacts = {}) {
    super(code);
    this.code = code;
    this.line = line;
    this.facts = facts;
  }
}

/** Characters of one tag, comment or text: a line of SAF-T has 200. */
const longest = 1 << 20;
/** SAF-T is eight deep. */
const deepest = 64;
const name = /^[\p{L}_][\p{L}\p{N}\p{M}._-]*(?::[\p{L}_][\p{L}\p{N}\p{M}._-]*)?$/u;
const simpleName = /^[A-Za-z]+$/;
const stop = /[>"']/g;
const attributes = /\s+([^\s=]+)\s*=\s*("[^"<]*"|'[^'<]*')/gy;
// Not one of XML's characters (XML 1.0, 2.2), or a lone surrogate.
const forbidden = /[\ud800-\udfff\ufffe\uffff]|[^\P{Cc}\t\n\r\x7f-\x9f]/u;
const special = /[&\r\ud800-\udfff\ufffe\uffff]|[^\P{Cc}\t\n\x7f-\x9f]|\]\]>/u;

/** Namespaces by prefix that a tag declares, in those around it: nothing is copied, however many there are. */
interface Scope {
  readonly declared: ReadonlyMap<string, string>;
  readonly around: Scope | undefined;
}

/** Reads until the text ends. Throws XmlFault. */
export async function readXml(chunks: AsyncIterable<string>, sink: XmlSink): Promise<void> {
  const reader = new Reader(sink);
  for await (const chunk of chunks) reader.push(chunk);
  reader.end();
}

class Reader {
  readonly #sink: XmlSink;
  #pending = '';
  /** How much of what is pending was searched for its end, and the quote that is open there. */
  #searched = 0;
  #quote = '';
  #line = 1;
  #started = false;
  /** The tag's names as written, for their closing, and the namespaces around each. */
  readonly #open: { readonly name: string; readonly scope: Scope }[] = [];
  #rootSeen = false;

  constructor(sink: XmlSink) {
    this.#sink = sink;
  }

  push(chunk: string): void {
    const text = this.#pending + chunk;
    let at = 0;
    while (at < text.length) {
      const isMarkup = text.charCodeAt(at) === 0x3c;
      const end = isMarkup ? this.#endOfMarkup(text, at) : this.#endOfText(text, at);
      if (end < 0) break;
      this.#searched = 0;
      if (isMarkup) this.#markup(text.slice(at, end));
      else this.#text(text.slice(at, end));
      at = end;
    }
    this.#pending = text.slice(at);
    if (this.#pending.length > longest) throw this.#fault('XML_TOO_LONG');
  }

  end(): void {
    if (this.#pending.includes('<')) throw this.#fault('XML_CUT_OFF');
    if (this.#pending !== '') this.#text(this.#pending);
    if (this.#open.length > 0 || !this.#rootSeen) throw this.#fault('XML_CUT_OFF');
  }

  #fault(code: FindingCode, facts: FindingFacts = {}): XmlFault {
    return new XmlFault(code, this.#line, facts);
  }

  /** What is wrong in both languages. */
  #malformed(en: string, pt: string): XmlFault {
    return this.#fault('XML_MALFORMED', { problem: { en, pt } });
  }

  #textOutside(): XmlFault {
    return this.#malformed('text outside the root element', 'texto fora do elemento raiz');
  }

  /** Where the text that starts here ends, or −1: at the end of the chunk it may go on in the next one. */
  #endOfText(text: string, start: number): number {
    const end = text.indexOf('<', start + this.#searched);
    this.#searched = text.length - start;
    return end;
  }

  /** One behind the markup that starts here, or −1 when its end is not there yet. */
  #endOfMarkup(text: string, start: number): number {
    const next = text.charCodeAt(start + 1);
    if (next === 0x3f) return this.#endBy('?>', text, start, 2);
    if (next !== 0x21) return this.#endOfTag(text, start);
    // "<!": a comment, CDATA, or what we refuse.
    if (text.startsWith('<!--', start)) return this.#endBy('-->', text, start, 4);
    if (text.startsWith('<![CDATA[', start)) return this.#endBy(']]>', text, start, 9);
    return text.length - start < 9 ? -1 : this.#endBy('>', text, start, 2);
  }

  #endBy(mark: string, text: string, start: number, head: number): number {
    const at = text.indexOf(mark, start + Math.max(head, this.#searched - mark.length + 1));
    this.#searched = text.length - start;
    return at < 0 ? -1 : at + mark.length;
  }

  /** A ">" within quotes does not end the tag. Each character is met once, in whatever chunks they come. */
  #endOfTag(text: string, start: number): number {
    let at = start + this.#searched;
    for (;;) {
      if (this.#quote !== '') {
        const close = text.indexOf(this.#quote, at);
        if (close < 0) break;
        this.#quote = '';
        at = close + 1;
      }
      stop.lastIndex = at;
      if (!stop.test(text)) break;
      at = stop.lastIndex;
      const found = text.charAt(at - 1);
      if (found === '>') return at;
      this.#quote = found;
    }
    this.#searched = text.length - start;
    return -1;
  }

  #markup(markup: string): void {
    const second = markup.charCodeAt(1);
    if (second === 0x2f) this.#closeTag(markup);
    else if (second === 0x21) this.#declaration(markup);
    else if (second === 0x3f) this.#instruction(markup);
    else this.#openTag(markup);
    this.#started = true;
    this.#countLines(markup);
  }

  #declaration(markup: string): void {
    if (markup.startsWith('<!--')) {
      if (markup.slice(4, -3).includes('--') || markup.endsWith('--->'))
        throw this.#malformed('"--" in a comment', '"--" num comentário');
      this.#checkCharacters(markup);
    } else if (markup.startsWith('<![CDATA[')) {
      if (this.#open.length === 0) throw this.#textOutside();
      this.#checkCharacters(markup);
      this.#sink.text(markup.slice(9, -3).replace(/\r\n?/g, '\n'), this.#line);
    } else throw this.#fault('XML_DOCTYPE');
  }

  #instruction(markup: string): void {
    const declaration = /^<\?xml[\s?]/i.test(markup);
    if (declaration && (this.#started || !/^<\?xml\s+version\s*=\s*["']1\.[0-9]["']/.test(markup))) {
      throw this.#malformed(
        'the XML declaration does not stand at the very beginning',
        'a declaração XML não está mesmo no início',
      );
    }
    this.#checkCharacters(markup);
  }

  #openTag(markup: string): void {
    const empty = markup.charCodeAt(markup.length - 2) === 0x2f;
    const inside = markup.slice(1, empty ? -2 : -1);
    const space = simpleName.test(inside) ? -1 : inside.search(/\s/);
    const tag = space < 0 ? inside : inside.slice(0, space);
    if (!simpleName.test(tag) && !name.test(tag))
      throw this.#malformed(`"<${cut(tag, 30)}" is no element`, `"<${cut(tag, 30)}" não é um elemento`);
    if (this.#open.length === 0 && this.#rootSeen)
      throw this.#malformed('a second root element', 'um segundo elemento raiz');
    if (this.#open.length >= deepest) throw this.#fault('XML_TOO_DEEP');
    this.#rootSeen = true;
    const around = this.#open.at(-1)?.scope ?? noScope;
    const { scope, others } = space < 0 ? { scope: around, others: [] } : this.#attributes(inside.slice(space), around);
    const [prefix, local] = split(tag);
    const namespace = namespaceOf(prefix, scope);
    if (namespace === undefined && prefix !== '')
      throw this.#malformed(`the prefix "${prefix}" is not declared`, `o prefixo "${prefix}" não está declarado`);
    this.#open.push({ name: tag, scope });
    this.#sink.open(local, namespace ?? '', this.#line);
    for (const other of others) this.#sink.attribute(other, this.#line);
    if (empty) {
      this.#open.pop();
      this.#sink.close(this.#line);
    }
  }

  /** The namespaces with those that are declared here, and the other attributes but for hints where a schema lies. */
  #attributes(text: string, around: Scope) {
    const declared = new Map<string, string>();
    const seen = new Set<string>();
    const others: string[] = [];
    attributes.lastIndex = 0;
    let read = 0;
    for (let found = attributes.exec(text); found !== null; found = attributes.exec(text)) {
      read = attributes.lastIndex;
      const [, attribute = '', quoted = ''] = found;
      if (!name.test(attribute) || seen.has(attribute))
        throw this.#malformed(`the attribute "${cut(attribute, 30)}"`, `o atributo "${cut(attribute, 30)}"`);
      seen.add(attribute);
      const value = this.#resolved(quoted.slice(1, -1));
      const [prefix, local] = split(attribute);
      if (prefix === 'xmlns' || attribute === 'xmlns') {
        declared.set(prefix === '' ? '' : local, value);
      } else if (!(local === 'schemaLocation' && prefix !== '')) others.push(attribute);
    }
    if (text.slice(read).trim() !== '') throw this.#malformed('attributes of a tag', 'os atributos de um elemento');
    return { scope: declared.size === 0 ? around : { declared, around }, others };
  }

  #closeTag(markup: string): void {
    const tag = markup.slice(2, -1).trimEnd();
    const open = this.#open.pop();
    if (open === undefined)
      throw this.#malformed(`</${cut(tag, 30)}> closes nothing`, `</${cut(tag, 30)}> não fecha nada`);
    if (open.name !== tag)
      throw this.#malformed(
        `</${cut(tag, 30)}> closes <${cut(open.name, 30)}>`,
        `</${cut(tag, 30)}> fecha <${cut(open.name, 30)}>`,
      );
    this.#sink.close(this.#line);
  }

  #text(text: string): void {
    if (this.#open.length === 0) {
      if (text.trim() !== '') throw this.#textOutside();
      this.#started = true;
    } else {
      this.#sink.text(special.test(text) ? this.#characters(text) : text, this.#line);
    }
    this.#countLines(text);
  }

  #characters(text: string): string {
    if (text.includes(']]>')) throw this.#malformed('"]]>" in a text', '"]]>" num texto');
    return this.#resolved(text.replace(/\r\n?/g, '\n'));
  }

  #resolved(text: string): string {
    this.#checkCharacters(text);
    if (!text.includes('&')) return text;
    return text.replace(/&([^;]{0,32};?)/gu, (_whole, reference: string) => this.#reference(reference));
  }

  #reference(reference: string): string {
    const known = entities[reference];
    if (known !== undefined) return known;
    const found = /^#(?:(\d{1,7})|x([0-9a-fA-F]{1,6}));$/.exec(reference);
    const point =
      found === null ? Number.NaN : found[1] === undefined ? Number.parseInt(found[2]!, 16) : Number(found[1]);
    if (!(point <= 0x10ffff) || forbidden.test(String.fromCodePoint(point))) {
      throw this.#malformed(`"&${cut(reference, 20)}" is no character`, `"&${cut(reference, 20)}" não é um carácter`);
    }
    return String.fromCodePoint(point);
  }

  #checkCharacters(text: string): void {
    const found = forbidden.exec(text);
    if (found === null) return;
    this.#countLines(text.slice(0, found.index));
    throw this.#fault('XML_CHARACTER', { character: text.codePointAt(found.index)!.toString(16).padStart(4, '0') });
  }

  #countLines(text: string): void {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#line += 1;
  }
}

const entities: Readonly<Record<string, string>> = { 'lt;': '<', 'gt;': '>', 'amp;': '&', 'quot;': '"', 'apos;': "'" };
const noScope: Scope = { declared: new Map([['xml', 'http://www.w3.org/XML/1998/namespace']]), around: undefined };

function namespaceOf(prefix: string, innermost: Scope): string | undefined {
  for (let scope: Scope | undefined = innermost; scope !== undefined; scope = scope.around) {
    const namespace = scope.declared.get(prefix);
    if (namespace !== undefined) return namespace;
  }
  return undefined;
}

function split(qualified: string): readonly [prefix: string, local: string] {
  const colon = qualified.indexOf(':');
  return colon < 0 ? ['', qualified] : [qualified.slice(0, colon), qualified.slice(colon + 1)];
}
