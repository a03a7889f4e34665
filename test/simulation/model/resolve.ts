/** A wish becomes a command: which document, how much, which day, as the books stand in the model. */
import { type Command, nobody } from './judge.ts';
import { type Line, rest, sum, type Wanted } from './money.ts';
import type { AmountWish, DraftWish, Pick, QuantityWish, Wish } from './wishes.ts';
import {
  type Asked,
  addDays,
  awaitsPayment,
  childrenOf,
  type Day,
  type Doc,
  docOf,
  openOf,
  type World,
} from './world.ts';

/** What the caller has been told: only of that can it speak. */
export interface Heard {
  /** Documents whose id is known, deleted ones too. */
  readonly docs: readonly number[];
  /** Revisions of a document whose updatedAt and lines are known, in the order they were heard of. */
  revisionsOf(doc: number): readonly number[];
  /** Ids of the lines of such a revision; of any other none. */
  lineIdsOf(doc: number, revision: number): readonly string[];
}

type Acting = Exclude<Wish, { readonly kind: 'again' | 'day' }>;

/** The command; undefined when the caller does not know enough to ask it. */
export function commandOf(wish: Acting, world: World, heard: Heard): Command | undefined {
  if (wish.kind === 'create') return createOf(wish.draft, world, heard);
  const apt = aptFor[wish.kind];
  const id = chosen(wish.on, world, heard, (doc) => apt(doc, world));
  const doc = docOf(world, id);
  switch (wish.kind) {
    case 'patch':
      return patchOf(wish, id, doc, world, heard);
    case 'issue': {
      const revisions = heard.revisionsOf(id);
      const revision = wish.isStale ? revisions[0] : revisions.at(-1);
      return revision === undefined ? undefined : { kind: 'issue', doc: id, revision };
    }
    case 'pay': {
      const open = doc === undefined ? 0 : openOf(world, doc).toPay;
      return { kind: 'pay', doc: id, amount: amountOf(wish.amount, open), date: dayOf(wish.date, world) };
    }
    case 'credit': {
      const items = wish.items === undefined || doc === undefined ? undefined : wantedOf(wish.items, doc, world, heard);
      const of = doc === undefined ? nobody : linesOf(doc, heard);
      return { kind: 'credit', doc: id, note: { of, items, date: dayOf(wish.date, world) }, issue: wish.issue };
    }
    default:
      return { kind: wish.kind, doc: id };
  }
}

const isDraft = ({ state }: Doc): boolean => state === 'DRAFT';
const isIssued = ({ state }: Doc): boolean => state === 'ISSUED';
const isSale = ({ type }: Doc): boolean => type !== 'RECEIPT' && type !== 'CREDIT_NOTE';
const aptFor: Readonly<
  Record<'patch' | 'delete' | 'issue' | 'pay' | 'credit' | 'cancel' | 'read', (doc: Doc, world: World) => boolean>
> = {
  patch: isDraft,
  delete: isDraft,
  issue: isDraft,
  pay: (doc, world) => isIssued(doc) && awaitsPayment(doc.type) && openOf(world, doc).toPay > 0,
  credit: (doc) => isIssued(doc) && isSale(doc),
  // With receipts and notes, too: most refusals of a cancellation are about those.
  cancel: isIssued,
  read: () => true,
};

function chosen({ isApt, nth }: Pick, world: World, { docs }: Heard, apt: (doc: Doc) => boolean): number {
  const known = docs.flatMap((id) => docOf(world, id) ?? []);
  const some = isApt ? known.filter(apt) : [];
  const from = some.length > 0 ? some.map(({ id }) => id) : isApt && docs.length > 0 ? docs : [...docs, nobody];
  return from[nth % from.length]!;
}

const dayOf = (days: number | undefined, { today }: World): Day | undefined =>
  days === undefined ? undefined : addDays(today, days);

function askedOf({ customer, lines, off, date, due }: DraftWish, world: World): Asked {
  return { customer, lines, off, date: dayOf(date, world), due: dayOf(due, world) };
}

function createOf(draft: DraftWish, world: World, heard: Heard): Command {
  const { type, parent, reason } = draft;
  const asked = askedOf(draft, world);
  if (type !== 'DEBIT_NOTE') return { kind: 'create', type, asked };
  const id = parent && chosen(parent, world, heard, (doc) => isIssued(doc) && isSale(doc) && doc.type !== 'DEBIT_NOTE');
  const its = id === undefined ? undefined : docOf(world, id)?.asked;
  // For somebody else, or at other rates, now and then.
  const customer = its === undefined || parent!.nth % 4 === 0 ? asked.customer : its.customer;
  const lines = its === undefined || parent!.nth % 4 === 1 ? asked.lines : ofItems(asked.lines, its.lines);
  return { kind: 'create', type, asked: { ...asked, customer, lines }, parent: id, reason };
}

/** The lines with the items of others, without prices and discounts that were meant for their own. */
const ofItems = (lines: readonly Line[], others: readonly Line[]): Line[] =>
  lines.map(({ item, quantity }) => ({ item: others[item % others.length]!.item, quantity }));

/** `parts` says by its bits which fields are given. */
function patchOf(
  { parts, draft, note }: Wish & { kind: 'patch' },
  id: number,
  doc: Doc | undefined,
  world: World,
  heard: Heard,
): Command {
  const given = <T>(bit: number, value: T): T | undefined => ((parts & bit) === 0 ? undefined : value);
  const { lines, off, date, due } = askedOf(draft, world);
  const parent = doc?.type === 'CREDIT_NOTE' ? docOf(world, doc.parent!) : undefined;
  if (parent !== undefined)
    return {
      kind: 'patch note',
      doc: id,
      parent: parent.id,
      change: {
        of: linesOf(parent, heard),
        items: given(1, wantedOf(note, parent, world, heard)),
        date: given(2, date),
      },
    };
  const change = { lines: given(1, lines), date: given(2, date), due: given(4, due), off: given(8, off) };
  return { kind: 'patch', doc: id, change };
}

/** The revision whose lines are named: the document's, if the caller has heard of it. */
function linesOf({ id, revision }: Doc, heard: Heard): number {
  const known = heard.revisionsOf(id);
  return known.includes(revision) ? revision : (known.at(-1) ?? nobody);
}

function amountOf(wish: AmountWish, open: number): number | undefined {
  switch (wish) {
    case 'all':
      return undefined;
    case 'exactly':
      return open;
    case 'a cent more':
      return open + 1;
    case 'a cent':
      return 1;
    case 'nothing':
      return 0;
    default:
      return Math.floor((open * wish.permille) / 1_000);
  }
}

function wantedOf(
  wishes: readonly { line: number; quantity: QuantityWish }[],
  parent: Doc,
  world: World,
  heard: Heard,
): Wanted[] | undefined {
  const { lines } = parent.priced;
  // The answer that told of the others may have been lost.
  const known = Math.min(lines.length, heard.lineIdsOf(parent.id, linesOf(parent, heard)).length);
  // A receipt has no lines to take back.
  if (known === 0) return undefined;
  const notes = childrenOf(world, parent.id, 'CREDIT_NOTE').flatMap(({ priced }) => priced.lines);
  return wishes.map(({ line: nth, quantity }) => {
    const line = nth % known;
    const whole = lines[line]!.quantity;
    const open = rest(whole, sum(notes.filter(({ origin }) => origin === line).map((note) => note.quantity)));
    const wanted =
      quantity === 'more' ? open + 1 : quantity === 'what is open' ? open : (whole * quantity.permille) / 1_000;
    return { line, quantity: Math.max(1, Math.floor(wanted)) };
  });
}
