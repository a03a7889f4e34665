/** How elements follow one another: particles of a sequence, as the schema's complex types are written. */
import type { LeafType } from './leaf-types.ts';

/** What is handed over as soon as it is read, and kept out of its parent: so no more than one document is in memory. */
export type RecordName =
  | 'header'
  | 'account'
  | 'customer'
  | 'supplier'
  | 'product'
  | 'tax'
  | 'ledger'
  | 'transaction'
  | 'ledgerLine'
  | 'salesInvoices'
  | 'movementOfGoods'
  | 'workingDocuments'
  | 'payments'
  | 'invoice'
  | 'movement'
  | 'work'
  | 'payment'
  | 'line';

interface Particle {
  readonly names: readonly string[];
  readonly required: boolean;
  readonly repeats: boolean;
}

/** A type with elements. */
export interface NodeType {
  readonly kind: 'node';
  readonly record: RecordName | undefined;
  readonly particles: readonly Particle[];
  /** Name → which particle it belongs to, and the type of the element. */
  readonly children: ReadonlyMap<string, { readonly at: number; readonly type: ElementType }>;
}

export type ElementType = LeafType | NodeType;

type Members = Readonly<Record<string, ElementType>>;
type Piece = { readonly members: Members; readonly required: boolean; readonly repeats: boolean };

/** Exactly one of these elements (one name: the element itself; several: a choice). */
export const one = (members: Members): Piece => ({ members, required: true, repeats: false });
/** None or one. */
export const maybe = (members: Members): Piece => ({ members, required: false, repeats: false });
/** Any number. */
export const many = (members: Members): Piece => ({ members, required: false, repeats: true });
/** One or more. */
export const some = (members: Members): Piece => ({ members, required: true, repeats: true });
/** Each of these exactly once, in this order. */
export const each = (members: Members): Piece[] => Object.entries(members).map(([name, type]) => one({ [name]: type }));
/** Each of these at most once, in this order. */
export const perhaps = (members: Members): Piece[] =>
  Object.entries(members).map(([name, type]) => maybe({ [name]: type }));

/** A sequence. At most 31 particles, so that what was seen of them fits one number. */
export function sequence(pieces: readonly Piece[], record?: RecordName): NodeType {
  const children = new Map<string, { at: number; type: ElementType }>();
  const particles = pieces.map(({ members, required, repeats }, at) => {
    for (const [name, type] of Object.entries(members)) children.set(name, { at, type });
    return { names: Object.keys(members), required, repeats };
  });
  return { kind: 'node', record, particles, children };
}
