/**
 * The structure: each element against the grammar as it is read. Everything wrong is told and reading goes on, so that
 * one mistake does not hide the next. Records (a customer, a line, an invoice) are handed over when they end.
 */
import { cut } from '../../cut.ts';
import { namespace } from '../head.ts';
import type { Findings } from './findings.ts';
import type { ElementType, NodeType, RecordName } from './grammar.ts';
import type { XmlSink } from './reader.ts';
import { auditFile } from './schema.ts';

/** An element that was read: a leaf has text, others have children, without those that are records of their own. */
export interface SaftNode {
  readonly name: string;
  readonly line: number;
  readonly text: string;
  readonly children: readonly SaftNode[];
}

/** Takes the records. `open` tells of sections and documents when they begin. */
export interface RecordSink {
  opened(record: RecordName): void;
  /** `around`: what is read so far of the record's parent. */
  closed(record: RecordName, node: SaftNode, around: SaftNode): void;
}

/** Characters kept of one text, and children of one element. */
const longest = 100_000;
const most = 10_000;
/** What a document is called by: findings behind it name it. */
const numbers = new Set(['InvoiceNo', 'DocumentNumber', 'PaymentRefNo']);

interface Frame {
  readonly type: ElementType | undefined;
  readonly node: SaftNode & { text: string; readonly children: SaftNode[] };
  /** The particle that the latest child belongs to. */
  at: number;
  /** One bit per particle that was met. */
  seen: number;
}

/** The sink of the reader that checks structure. */
export class Structure implements XmlSink {
  readonly #findings: Findings;
  readonly #records: RecordSink;
  readonly #frames: Frame[] = [];
  /** The root's namespace: its elements are to be in the same. */
  #space = namespace;

  constructor(findings: Findings, records: RecordSink) {
    this.#findings = findings;
    this.#records = records;
  }

  open(name: string, space: string, line: number): void {
    const parent = this.#frames.at(-1);
    const type = parent === undefined ? this.#root(name, space, line) : this.#child(parent, name, space, line);
    this.#frames.push({ type, node: { name, line, text: '', children: [] }, at: 0, seen: 0 });
    if (type?.kind === 'node' && type.record !== undefined) this.#records.opened(type.record);
  }

  attribute(name: string, line: number): void {
    if (this.#frames.at(-1)?.type !== undefined) this.#tell('ATTRIBUTE', line, { name });
  }

  text(value: string, line: number): void {
    const frame = this.#frames.at(-1);
    if (frame?.type === undefined) return;
    if (frame.type.kind === 'leaf') {
      // Longer than anything that is allowed already: the rest only costs memory.
      if (frame.node.text.length < longest) frame.node.text += value;
    }
    if (frame.type.kind === 'node' && value.trim() !== '')
      this.#tell('TEXT_UNEXPECTED', line, { text: cut(value.trim(), 40) });
  }

  close(_line: number): void {
    const frame = this.#frames.pop();
    if (frame?.type === undefined) return;
    if (frame.type.kind === 'leaf') this.#leaf(frame, frame.type);
    else this.#node(frame, frame.type);
  }

  #tell(code: Parameters<Findings['tell']>[0], line: number, facts: Readonly<Record<string, string | number>>): void {
    this.#findings.tell(code, line, { path: this.#path(), ...facts });
  }

  #path(): string {
    return this.#frames.map(({ node }) => node.name).join('/');
  }

  #root(name: string, space: string, line: number): ElementType | undefined {
    if (name === 'AuditFile' && space === namespace) return auditFile;
    const known = name === 'AuditFile' && /^urn:OECD:StandardAuditFile-Tax:PT_/.test(space);
    this.#findings.tell(known ? 'VERSION_OTHER' : 'ROOT_UNKNOWN', line, { path: name, namespace: space });
    // Another version is near enough to be worth reading on.
    this.#space = space;
    return known ? auditFile : undefined;
  }

  #child(parent: Frame, name: string, space: string, line: number): ElementType | undefined {
    if (parent.type === undefined) return undefined;
    const found = parent.type.kind === 'node' ? parent.type.children.get(name) : undefined;
    if (found === undefined || parent.type.kind === 'leaf') {
      this.#tell('ELEMENT_UNKNOWN', line, { name });
      return undefined;
    }
    if (space !== this.#space) this.#tell('NAMESPACE', line, { name });
    this.#place(parent, parent.type, name, found.at, line);
    return found.type;
  }

  /** Order and number of a child. Out of order it still counts as there. */
  #place(parent: Frame, type: NodeType, name: string, at: number, line: number): void {
    const bit = 1 << at;
    const met = (parent.seen & bit) !== 0;
    const particle = type.particles[at]!;
    if (met && !particle.repeats) this.#tell('ELEMENT_REPEATED', line, { name, names: particle.names.join(', ') });
    else if (at < parent.at) {
      this.#tell('ELEMENT_ORDER', line, { name, before: type.particles[parent.at]!.names.join(' / ') });
    }
    parent.seen |= bit;
    if (at > parent.at) parent.at = at;
  }

  #leaf({ node }: Frame, type: Extract<ElementType, { kind: 'leaf' }>): void {
    if (type.trims) node.text = node.text.trim();
    const fault = type.fault(node.text);
    if (fault !== undefined) {
      this.#findings.tell(fault.code, node.line, {
        path: `${this.#path()}/${node.name}`,
        name: node.name,
        ...fault.facts,
      });
    }
    if (numbers.has(node.name)) this.#findings.document = node.text;
    this.#keep(node);
  }

  #keep(node: SaftNode): void {
    const children = this.#frames.at(-1)?.node.children;
    // Nobody has so many references to one line; a file that does must not fill the memory.
    if (children !== undefined && children.length < most) children.push(node);
  }

  #node(frame: Frame, type: NodeType): void {
    const { node } = frame;
    for (let at = 0; at < type.particles.length; at += 1) {
      const { required, names } = type.particles[at]!;
      if (!required || (frame.seen & (1 << at)) !== 0) continue;
      this.#findings.tell('ELEMENT_MISSING', node.line, {
        path: [...this.#frames.map((outer) => outer.node.name), node.name].join('/'),
        name: names.join(' / '),
        inside: node.name,
      });
    }
    const parent = this.#frames.at(-1)?.node;
    if (type.record !== undefined && parent !== undefined) this.#records.closed(type.record, node, parent);
    else this.#keep(node);
  }
}

/** The first child of a name. */
export function child(node: SaftNode | undefined, name: string): SaftNode | undefined {
  if (node === undefined) return undefined;
  for (const found of node.children) if (found.name === name) return found;
  return undefined;
}

/** The text of a child, '' when it is not there. */
export function textIn(node: SaftNode | undefined, name: string): string {
  return child(node, name)?.text ?? '';
}

/** Every child of a name. */
export function allIn(node: SaftNode, name: string): SaftNode[] {
  return node.children.filter((found) => found.name === name);
}
