/**
 * Reads XML from outside into plain elements. Hostile input is expected: document types (XXE, billion laughs) are
 * refused before parsing, size and depth are limited, entities other than the five of XML and numbers are refused.
 */
import { XMLParser, XMLValidator } from 'fast-xml-parser';

export interface XmlElement {
  /** Local name. */
  readonly name: string;
  /** Namespace URI, empty for none. */
  readonly namespace: string;
  readonly children: readonly XmlElement[];
  /** Own text, character references decoded, not trimmed. */
  readonly text: string;
}

/** Deepest nesting read; the AT's deepest message has 7 levels. */
const maxDepth = 32;
/** Most namespace prefixes in scope; each element that declares one copies the scope (30,000 took 16 s). */
const maxPrefixes = 64;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  // Entities are decoded below: only the safe ones, and not inside CDATA.
  processEntities: false,
  cdataPropName: '#cdata',
  ignoreDeclaration: true,
  ignorePiTags: true,
  maxNestedTags: maxDepth + 2,
  jPath: false,
});

/** The root element, or undefined when the text is not one well-formed, harmless XML document. */
export function readXml(text: string): XmlElement | undefined {
  if (/<!(?:DOCTYPE|ENTITY)|[^\P{Cc}\t\n\r\x7f-\x9f]/iu.test(text) || tooDeep(text)) return undefined;
  const source = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  try {
    // Neither of the library's two passes minds text after the root.
    if (XMLValidator.validate(source) !== true || !/>\s*$/.test(source.slice(-100))) return undefined;
    const roots = (parser.parse(source) as RawNode[]).filter((node) => String(node['#text'] ?? '.').trim() !== '');
    const [root] = roots;
    return root === undefined || roots.length !== 1 ? undefined : element(root, noPrefixes);
  } catch {
    return undefined;
  }
}

/** The children of that name. */
export function childrenOf(parent: XmlElement, name: string): readonly XmlElement[] {
  return parent.children.filter((child) => child.name === name);
}

/** Text of the only child of that name, trimmed; undefined when it is absent, repeated or has children itself. */
export function textOf(parent: XmlElement, name: string): string | undefined {
  const found = childrenOf(parent, name);
  const [only] = found;
  return only === undefined || found.length !== 1 || only.children.length > 0 ? undefined : only.text.trim();
}

/** What fast-xml-parser gives with preserveOrder: one member is the name, ":@" the attributes. */
type RawNode = Readonly<Record<string, unknown>>;
type Prefixes = Readonly<Record<string, string>>;
const noPrefixes: Prefixes = { '': '', xml: 'http://www.w3.org/XML/1998/namespace' };

function element(node: RawNode, outer: Prefixes): XmlElement {
  const qualified = nameOf(node);
  const prefixes = declared(node[':@'], outer);
  const colon = qualified.indexOf(':');
  const namespace = prefixes[colon < 0 ? '' : qualified.slice(0, colon)];
  if (namespace === undefined) throw new Error('undeclared prefix');
  const children: XmlElement[] = [];
  let text = '';
  for (const child of node[qualified] as RawNode[]) {
    const name = nameOf(child);
    if (name === '#text') text += decode(String(child['#text']));
    else if (name === '#cdata') text += plain(child['#cdata']);
    else children.push(element(child, prefixes));
  }
  return { name: qualified.slice(colon + 1), namespace, children, text };
}

function nameOf(node: RawNode): string {
  for (const name in node) if (name !== ':@') return name;
  throw new Error('node without a name');
}

function plain(cdata: unknown): string {
  return (cdata as RawNode[]).map((part) => String(part['#text'] ?? '')).join('');
}

function declared(attributes: unknown, outer: Prefixes): Prefixes {
  if (attributes === undefined) return outer;
  let inner: Record<string, string> | undefined;
  for (const [name, value] of Object.entries(attributes as Record<string, unknown>)) {
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue;
    inner ??= { ...outer };
    inner[name.slice(6)] = decode(String(value));
    if (Object.keys(inner).length > maxPrefixes) throw new Error('too many prefixes');
  }
  return inner ?? outer;
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]{2,4}));|&/g, (_all, decimal, hex, name) => {
    const character = name === undefined ? codePoint(decimal, hex) : named[name];
    if (character === undefined) throw new Error('unknown entity');
    return character;
  });
}

function codePoint(decimal: string | undefined, hex: string | undefined): string | undefined {
  const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  const allowed =
    point === 9 ||
    point === 10 ||
    point === 13 ||
    (point >= 32 && point < 0xd800) ||
    (point > 0xdfff && point < 0xfffe);
  return allowed || (point > 0xffff && point <= 0x10ffff) ? String.fromCodePoint(point) : undefined;
}

/**
 * Nesting is counted before the parser builds anything: a megabyte of "<a>" is a quarter of a million levels. One pass:
 * an end that was found is good for every element that begins before it.
 */
function tooDeep(text: string): boolean {
  let [depth, end] = [0, -1];
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    const next = text.charCodeAt(at + 1);
    if (next === 47) depth -= 1;
    else if (next !== 33 && next !== 63) {
      if (end < at) end = text.indexOf('>', at);
      if (end < 0) return false;
      if (text.charCodeAt(end - 1) !== 47) depth += 1;
      if (depth > maxDepth) return true;
    }
  }
  return false;
}
