/** Our tables of the schema against the schema: every element, in order, how often it comes, its words and its bounds. */
import { readFileSync } from 'node:fs';
import { XMLParser } from 'fast-xml-parser';
import { expect, test } from 'vitest';
import type { ElementType } from './grammar.ts';
import { auditFile } from './schema.ts';

/** An element of the XSD: its name without prefix, its attributes, its elements in order. */
interface Xsd {
  readonly tag: string;
  readonly is: Readonly<Record<string, string>>;
  readonly inside: readonly Xsd[];
}
type Parsed = Readonly<Record<string, unknown>>;

function xsdOf(parsed: readonly Parsed[]): Xsd[] {
  return parsed.flatMap((one) => {
    const tag = Object.keys(one).find((key) => key.startsWith('xs:'));
    if (tag === undefined) return [];
    return [{ tag: tag.slice(3), is: (one[':@'] ?? {}) as Xsd['is'], inside: xsdOf(one[tag] as readonly Parsed[]) }];
  });
}

const projection = readFileSync(new URL('../fixtures/saft-pt-1.04_01-projection.xsd', import.meta.url));
const parser = new XMLParser({ preserveOrder: true, ignoreAttributes: false, attributeNamePrefix: '' });
const [schema] = xsdOf(parser.parse(new TextDecoder('windows-1252').decode(projection)));

const local = (name: string) => name.replace(/^\w+:/, '');
const nameOf = ({ is }: Xsd) => is['name'] ?? local(is['ref']!);
const global = (tag: string, name: string) =>
  schema!.inside.find((one) => one.tag === tag && one.is['name'] === local(name));

function typeOf(element: Xsd): Xsd {
  const { ref, type } = element.is;
  if (ref !== undefined) return typeOf(global('element', ref)!);
  if (type === undefined) return element.inside.find(({ tag }) => /Type$/.test(tag))!;
  return global('complexType', type) ?? global('simpleType', type) ?? { tag: 'simpleType', is: { type }, inside: [] };
}

/** The particles of a complex type: elements, and choices among some. */
function particlesOf({ inside }: Xsd): readonly Xsd[] {
  const particles = inside.filter(({ tag }) => /^(?:element|choice|sequence)$/.test(tag));
  return particles.length === 1 && particles[0]!.tag === 'sequence' ? particlesOf(particles[0]!) : particles;
}

const elementsOf = (particle: Xsd) => (particle.tag === 'element' ? [particle] : particle.inside);

/** A particle as a word: its names, and how often one of them comes. */
const word = (names: readonly string[], required: boolean, repeats: boolean) =>
  `${names.join('|')}${required ? (repeats ? '+' : '') : repeats ? '*' : '?'}`;

function wordOf(particle: Xsd): string {
  const all = [particle, ...elementsOf(particle)];
  const required = all.every(({ is }) => is['minOccurs'] !== '0');
  const repeats = all.some(({ is }) => is['maxOccurs'] === 'unbounded');
  return word(elementsOf(particle).map(nameOf), required, repeats);
}

/** Values of a facet, those of the types that a simple type restricts included. */
function facet(type: Xsd, name: string): readonly string[] {
  const restriction = type.inside.find(({ tag }) => tag === 'restriction');
  const under = global('simpleType', restriction?.is['base'] ?? '');
  const own = (restriction?.inside ?? []).filter(({ tag }) => tag === name).map(({ is }) => is['value']!);
  return under === undefined ? own : [...facet(under, name), ...own];
}

/** Texts at the bounds of a simple type and just beyond them, with whether it takes them. */
function boundsOf(type: Xsd): (readonly [text: string, fits: boolean])[] {
  if (type.is['type'] === 'xs:nonNegativeInteger')
    return [
      ['0', true],
      ['-1', false],
    ];
  const patterns = facet(type, 'pattern');
  const listed = patterns
    .filter((pattern) => /^[\w\\.|-]+$/.test(pattern))
    .join('|')
    .replaceAll('\\', '');
  const words = [...facet(type, 'enumeration'), ...(listed === '' ? [] : listed.split('|'))];
  if (words.length > 0) return [...words.map((one) => [one, true] as const), [`${words[0]}x`, false]];
  const counted = patterns.flatMap((pattern) => [...pattern.matchAll(/^\[[^\]]+\]\{(\d+)(?:,(\d+))?\}$/g)]);
  const length = facet(type, 'length');
  const most = [...facet(type, 'maxLength'), ...length, ...counted.map(([, from, to]) => to ?? from)].map(Number);
  const least = [...facet(type, 'minLength'), ...length, ...counted.map(([, from]) => from)].map(Number);
  const whole = (name: string) =>
    facet(type, name)
      .filter((value) => /^\d+$/.test(value))
      .map(Number);
  return [
    ...most.flatMap((bound) => [['0'.repeat(bound), true] as const, ['0'.repeat(bound + 1), false] as const]),
    ...least.flatMap((bound) => [['0'.repeat(bound), true] as const, ['0'.repeat(bound - 1), false] as const]),
    ...whole('minInclusive').flatMap((bound) => [[`${bound}`, true] as const, [`${bound - 1}`, false] as const]),
    ...whole('maxInclusive').flatMap((bound) => [[`${bound}`, true] as const, [`${bound + 1}`, false] as const]),
  ];
}

/** Where ours differs from the schema. The form of a text is not judged here, only its length. */
function* differences(path: string, ours: ElementType, element: Xsd): Generator<string> {
  const type = typeOf(element);
  if (ours.kind === 'leaf') {
    for (const [text, fits] of boundsOf(type)) {
      const fault = ours.fault(text)?.code;
      if (fits !== (fault === undefined || fault === 'VALUE_FORM' || fault === 'VALUE_NOT_NUMBER'))
        yield `${path}: ${text} ${fault}`;
    }
    return;
  }
  const theirs = particlesOf(type).map(wordOf);
  const own = ours.particles.map(({ names, required, repeats }) => word(names, required, repeats));
  if (own.join(' ') !== theirs.join(' ')) yield `${path}: ${own.join(' ')}, not ${theirs.join(' ')}`;
  for (const inner of particlesOf(type).flatMap(elementsOf)) {
    const child = ours.children.get(nameOf(inner));
    if (child === undefined) yield `${path}/${nameOf(inner)} is missing`;
    else yield* differences(`${path}/${nameOf(inner)}`, child.type, inner);
  }
}

test('our tables are those of the schema', () => {
  expect([...differences('AuditFile', auditFile, global('element', 'AuditFile')!)]).toEqual([]);
});
