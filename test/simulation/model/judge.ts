/**
 * The contract as a function: what each act does to the books, or why it is refused. Where several rules are broken at
 * once, any of them may be told; states come before the other rules.
 */
import type { DocumentType } from './catalogue.ts';
import { customers, items } from './catalogue.ts';
import { credited, type Line, type Off, type Priced, price, type Wanted, withheldWith } from './money.ts';
import {
  type Asked,
  type AskedNote,
  awaitsPayment,
  childrenOf,
  type Day,
  type Doc,
  docOf,
  numberOf,
  openOf,
  type Shown,
  shownOf,
  statusOf,
  type World,
} from './world.ts';

/** Nobody's id. */
export const nobody = -1;

interface Change {
  readonly lines?: readonly Line[] | undefined;
  readonly off?: Off | undefined;
  readonly date?: Day | undefined;
  readonly due?: Day | undefined;
}

/** The lines that it names are those of this revision of its invoice. */
export interface NamedNote extends AskedNote {
  readonly of: number;
}

/** What a caller asks. Documents are named by the act that made them. */
export type Command =
  | {
      readonly kind: 'create';
      readonly type: DocumentType;
      readonly asked: Asked;
      readonly parent?: number | undefined;
      readonly reason?: boolean | undefined;
    }
  | { readonly kind: 'patch'; readonly doc: number; readonly change: Change }
  | { readonly kind: 'patch note'; readonly doc: number; readonly parent: number; readonly change: NamedNote }
  | { readonly kind: 'delete'; readonly doc: number }
  | { readonly kind: 'issue'; readonly doc: number; readonly revision: number }
  | {
      readonly kind: 'pay';
      readonly doc: number;
      readonly amount?: number | undefined;
      readonly date?: Day | undefined;
    }
  | { readonly kind: 'credit'; readonly doc: number; readonly note: NamedNote; readonly issue: boolean }
  | { readonly kind: 'cancel'; readonly doc: number }
  | { readonly kind: 'read'; readonly doc: number };

/** A refusal, and its problems each as "pointer code". */
export interface Refused {
  readonly status: number;
  readonly code: string;
  readonly problems?: readonly string[];
}

export type Verdict =
  | { readonly world: World; readonly status: 200 | 201; readonly shown: Shown }
  /** Any of them. */
  | { readonly refused: readonly Refused[] };

/** What `command`, the act number `act`, does. */
export function judge(world: World, command: Command, act: number): Verdict {
  if (command.kind === 'create') return create(world, command, act);
  // Of the form, which comes before all else.
  if (command.kind === 'pay' && command.amount === 0) return no(invalid('/amount TOO_SMALL'));
  const doc = docOf(world, command.doc);
  if (doc === undefined)
    return no({ status: 404, code: command.kind === 'credit' ? 'PARENT_NOT_FOUND' : 'INVOICE_NOT_FOUND' });
  switch (command.kind) {
    case 'read':
      return { world, status: 200, shown: shownOf(world, doc) };
    case 'patch':
      return doc.state === 'DRAFT' ? patch(world, doc, command.change, act) : no(invalidState);
    case 'patch note':
      return doc.state === 'DRAFT' ? patchNote(world, doc, command.change, act) : no(invalidState);
    case 'delete':
      return doc.state === 'DRAFT' ? remove(world, doc) : no(invalidState);
    case 'issue':
      return doc.state === 'DRAFT' ? issue(world, doc, command.revision, act) : no(invalidState);
    case 'pay':
      return pay(world, doc, command, act);
    case 'credit':
      return credit(world, doc, command, act);
    case 'cancel':
      return cancel(world, doc, act);
  }
}

const code = (name: string, status = 400): Refused => ({ status, code: name });
const invalid = (...problems: readonly string[]): Refused => ({ status: 400, code: 'INVALID_REQUEST', problems });
const invalidState = code('INVALID_STATE');
const no = (...refused: readonly Refused[]): Verdict => ({ refused });

function done(world: World, doc: Doc, status: 200 | 201, more: Shown = {}): Verdict {
  const next = { ...world, docs: { ...world.docs, [doc.id]: doc } };
  return { world: next, status, shown: { ...shownOf(next, doc), ...more } };
}

/** A document is not before the one that it is about. */
const early = (date: Day | undefined, parent: Doc | undefined): string[] =>
  date !== undefined && parent?.date !== undefined && date < parent.date ? ['/date DATE_BEFORE_PARENT'] : [];
const tooEarly = (date: Day | undefined, parent: Doc | undefined): Refused[] =>
  early(date, parent).map((problem) => invalid(problem));

/** Priced, or what is wrong with it. `parent`: the invoice of a debit note. */
function pricedOf(world: World, { lines, off, date, due }: Asked, parent: Doc | undefined): Priced | Refused {
  const priced = price(lines, off, world.region);
  const problems = [
    ...early(date, parent),
    ...(date !== undefined && due !== undefined && due < date ? ['/dueDate DUE_BEFORE_DATE'] : []),
    ...(priced === 'DISCOUNT_OUT_OF_RANGE'
      ? ['/globalDiscountAmount DISCOUNT_OUT_OF_RANGE']
      : foreignRates(lines, parent)),
  ];
  return problems.length > 0 || priced === 'DISCOUNT_OUT_OF_RANGE' ? invalid(...problems) : priced;
}

function create(world: World, command: Command & { kind: 'create' }, act: number): Verdict {
  const { type, asked, parent, reason } = command;
  if (type === 'CREDIT_NOTE' || type === 'RECEIPT') return no(code('USE_OTHER_ENDPOINT'));
  const named = parent === undefined ? undefined : docOf(world, parent);
  const isUnknown = parent !== undefined && !(named !== undefined && isDebitable(named));
  const priced = pricedOf(world, asked, isUnknown ? undefined : named);
  const isAnothers = !isUnknown && named !== undefined && named.asked!.customer !== asked.customer;
  const problems = [
    ...(isUnknown ? ['/parentInvoiceId UNKNOWN_PARENT'] : []),
    ...(isAnothers ? ['/customerId PARENT_DIFFERS'] : []),
    ...('code' in priced ? priced.problems! : []),
  ];
  if ('code' in priced || problems.length > 0) return no(invalid(...problems));
  const { date, due } = asked;
  return done(
    world,
    { id: act, type, state: 'DRAFT', revision: act, sameLines: [act], asked, priced, parent, reason, date, due },
    201,
  );
}

/** A debit note is taxed as its invoice was. */
const foreignRates = (lines: readonly Line[], original: Doc | undefined): string[] =>
  lines.flatMap(({ item }, i) =>
    original === undefined || original.priced.taxes[items[item]!.vat] !== undefined
      ? []
      : [`/items/${i}/vatRate RATE_NOT_OF_PARENT`],
  );

const isDebitable = ({ type, state }: Doc): boolean =>
  state === 'ISSUED' && (type === 'INVOICE' || type === 'SIMPLIFIED_INVOICE' || type === 'INVOICE_RECEIPT');
const isCreditable = (doc: Doc): boolean => isDebitable(doc) || (doc.type === 'DEBIT_NOTE' && doc.state === 'ISSUED');

/** Only what is given changes; a discount of 0 is none. */
function patch(world: World, doc: Doc, change: Change, act: number): Verdict {
  const before = doc.asked!;
  const off = change.off ?? before.off;
  const isNone = off !== undefined && ('percent' in off ? off.percent : off.amount) === 0;
  const asked: Asked = {
    ...before,
    lines: change.lines ?? before.lines,
    off: isNone ? undefined : off,
    date: change.date ?? before.date,
    due: change.due ?? before.due,
  };
  const priced = pricedOf(world, asked, doc.parent === undefined ? undefined : docOf(world, doc.parent));
  if ('code' in priced) return no(priced);
  const sameLines = change.lines === undefined ? [...doc.sameLines, act] : [act];
  return done(world, { ...doc, revision: act, sameLines, asked, priced, date: asked.date, due: asked.due }, 200);
}

const remove = (world: World, doc: Doc): Verdict => ({
  world: { ...world, docs: { ...world.docs, [doc.id]: { ...doc, state: 'DELETED' } } },
  status: 200,
  shown: { id: doc.id, deleted: 1 },
});

/** The number that comes next, or why a document of that day can have none. */
function numbered(world: World, type: DocumentType, asked: Day | undefined) {
  const date = asked ?? world.today;
  const head = world.heads[type];
  const refused = [
    ...(date > world.today ? [code('DATE_IN_FUTURE')] : []),
    ...(head !== undefined && date < head.date ? [code('DATE_GOES_BACK')] : []),
    ...(date < world.seriesStart ? [code('DATE_BEFORE_SERIES')] : []),
  ];
  const last = (head?.last ?? 0) + 1;
  const heads = { ...world.heads, [type]: { last, date } };
  return { refused, number: numberOf(type, last), date, world: { ...world, heads } };
}

function issue(world: World, doc: Doc, revision: number, act: number): Verdict {
  if (doc.revision !== revision) return no(code('DRAFT_CHANGED'));
  const place = numbered(world, doc.type, doc.date);
  const parent = doc.parent === undefined ? undefined : docOf(world, doc.parent);
  const rules = [...place.refused, ...tooEarly(doc.date, parent)];
  let { priced } = doc;
  if (doc.type === 'DEBIT_NOTE') {
    if (parent === undefined || doc.reason !== true) rules.push(code('PARENT_REQUIRED'));
    if (parent?.state === 'CANCELED') rules.push(code('NOT_CREDITABLE'));
  }
  if (doc.type === 'CREDIT_NOTE') {
    // A draft reserves nothing: it takes its quantities of what is open now.
    const note = noteOver(world, parent!, wantedBy(doc));
    if ('code' in note) rules.push(note);
    else priced = note;
  }
  if (doc.type === 'SIMPLIFIED_INVOICE' && priced.gross > simplifiedLimit(doc)) rules.push(code('SIMPLIFIED_LIMIT'));
  if (rules.length > 0) return no(...rules);
  const { number, date } = place;
  return behind(
    done(place.world, { ...doc, state: 'ISSUED', priced, number, date, due: doc.due ?? date }, 200),
    doc,
    act,
  );
}

/** The amounts of other notes' drafts follow a note that was issued or cancelled, as far as it leaves them what they take. */
function behind(verdict: Verdict, { type, parent }: Doc, act: number): Verdict {
  if ('refused' in verdict || type !== 'CREDIT_NOTE') return verdict;
  const { world } = verdict;
  const docs = Object.values(world.docs).map((doc): [number, Doc] => {
    if (doc.type !== 'CREDIT_NOTE' || doc.state !== 'DRAFT' || doc.parent !== parent) return [doc.id, doc];
    const priced = noteOver(world, docOf(world, parent!)!, wantedBy(doc));
    const isMoved = !('code' in priced) && JSON.stringify(priced) !== JSON.stringify(doc.priced);
    return [doc.id, isMoved ? { ...doc, priced, revision: act } : doc];
  });
  return { ...verdict, world: { ...world, docs: Object.fromEntries(docs) } };
}

const wantedBy = ({ priced }: Doc): Wanted[] =>
  priced.lines.map(({ origin, quantity }) => ({ line: origin!, quantity }));

/** CIVA article 40: 1,000 euros of goods to a private person, else 100. */
function simplifiedLimit({ asked }: Doc): number {
  const isGoods = asked!.lines.every(({ item }) => items[item]!.type === 'PRODUCT');
  return isGoods && customers[asked!.customer] === 'person' ? 1_000_00 : 100_00;
}

function pay(world: World, doc: Doc, { amount: asked, date }: Command & { kind: 'pay' }, act: number): Verdict {
  const status = statusOf(world, doc);
  const state = [
    ...(awaitsPayment(doc.type) ? [] : [code('NOT_PAYABLE')]),
    ...(status === 'ISSUED' ? [] : [invalidState]),
  ];
  if (state.length > 0) return no(...state);
  const open = openOf(world, doc);
  const amount = asked ?? open.toPay;
  const place = numbered(world, 'RECEIPT', date);
  const rules = [
    ...place.refused,
    ...tooEarly(date, doc),
    ...(amount > open.toPay ? [invalid('/amount AMOUNT_EXCEEDS_OUTSTANDING')] : []),
  ];
  if (rules.length > 0) return no(...rules);
  const withheld = withheldWith(amount, open);
  const gross = amount + withheld;
  const none = { lines: [], taxes: {}, withholdings: {} };
  const receipt: Doc = {
    id: act,
    type: 'RECEIPT',
    state: 'ISSUED',
    revision: act,
    sameLines: [act],
    priced: { ...none, net: 0, tax: 0, gross, withheld, toPay: amount },
    parent: doc.id,
    number: place.number,
    date: place.date,
    due: place.date,
  };
  const next = { ...place.world, docs: { ...place.world.docs, [act]: receipt } };
  return done(next, doc, 200, { receipt: act, receiptNumber: place.number });
}

/** The note over what is open of its invoice now, or why there is none. */
function noteOver(world: World, parent: Doc, wanted: readonly Wanted[] | undefined, of = parent.revision) {
  if (!isCreditable(parent)) return code('NOT_CREDITABLE');
  if (wanted !== undefined && !parent.sameLines.includes(of))
    return invalid(...wanted.map((_line, i) => `/items/${i}/id UNKNOWN_LINE`));
  const notes = childrenOf(world, parent.id, 'CREDIT_NOTE').map(({ priced }) => priced);
  const note = credited(parent.priced, notes, wanted, world.region);
  return 'net' in note ? note : invalid(...note);
}

/** Of a draft all that is wrong is told at once; of what is issued, the day when it is numbered. */
const together = (wrong: readonly Refused[]): readonly Refused[] =>
  wrong.every(({ problems }) => problems !== undefined) && wrong.length > 1
    ? [invalid(...wrong.flatMap(({ problems }) => problems!))]
    : wrong;

function credit(world: World, parent: Doc, command: Command & { kind: 'credit' }, act: number): Verdict {
  const { note, issue: isIssued } = command;
  const priced = noteOver(world, parent, note.items, note.of);
  if ('code' in priced && priced.code === 'NOT_CREDITABLE') return no(priced);
  const place = numbered(world, 'CREDIT_NOTE', note.date);
  const wrong = [...('code' in priced ? [priced] : []), ...tooEarly(note.date, parent)];
  const rules = isIssued ? [...wrong, ...place.refused] : together(wrong);
  if ('code' in priced || rules.length > 0) return no(...rules);
  const draft: Doc = {
    id: act,
    type: 'CREDIT_NOTE',
    state: 'DRAFT',
    revision: act,
    sameLines: [act],
    note: { items: note.items, date: note.date },
    priced,
    parent: parent.id,
    date: note.date,
  };
  if (!isIssued) return done(world, draft, 201);
  const { number, date } = place;
  return behind(done(place.world, { ...draft, state: 'ISSUED', number, date, due: date }, 201), draft, act);
}

function patchNote(world: World, doc: Doc, change: NamedNote, act: number): Verdict {
  const note = { items: change.items ?? doc.note!.items, date: change.date ?? doc.note!.date };
  const parent = docOf(world, doc.parent!)!;
  // Its lines stay as they are unless others are given: what is open by now is asked when it is issued.
  const priced = change.items === undefined ? doc.priced : noteOver(world, parent, change.items, change.of);
  const rules = together([...('code' in priced ? [priced] : []), ...tooEarly(note.date, parent)]);
  if ('code' in priced || rules.length > 0) return no(...rules);
  return done(world, { ...doc, revision: act, note, priced, date: note.date }, 200);
}

function cancel(world: World, doc: Doc, act: number): Verdict {
  if (doc.state === 'CANCELED') return no(code('ALREADY_CANCELED'));
  if (doc.state === 'DRAFT') return no(invalidState);
  const rules = [
    ...(childrenOf(world, doc.id, 'CREDIT_NOTE', 'DEBIT_NOTE').length > 0 ? [code('HAS_NOTES')] : []),
    ...(childrenOf(world, doc.id, 'RECEIPT').length > 0 ? [code('HAS_PAYMENTS')] : []),
  ];
  return rules.length > 0 ? no(...rules) : behind(done(world, { ...doc, state: 'CANCELED' }, 200), doc, act);
}
