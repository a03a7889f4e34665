/**
 * What a document costs, in whole cents and fractions of whole numbers: the one rounding policy (VAT page, section 5)
 * written a second time, without anything of the program. Fractions are rounded half up, and nothing is negative.
 */
import { type Item, items, type Region, rates, type Vat } from './catalogue.ts';

/** A line as asked. Quantity in thousandths, price in ten thousandths of a euro. */
export interface Line {
  /** Which item of the catalogue. */
  readonly item: number;
  readonly quantity: number;
  /** Instead of the catalogue's. */
  readonly price?: number | undefined;
  /** In hundredths of a percent, or in cents per unit. */
  readonly off?: { readonly percent: number } | { readonly each: number } | undefined;
}

/** On the whole document: hundredths of a percent, or cents. */
export type Off = { readonly percent: number } | { readonly amount: number };

export interface PricedLine {
  readonly item: number;
  readonly quantity: number;
  readonly net: number;
  /** Of a credit note: which line of the original it takes back. */
  readonly origin?: number | undefined;
}

interface Levy {
  readonly base: number;
  readonly amount: number;
}

export interface Priced {
  readonly lines: readonly PricedLine[];
  readonly taxes: Readonly<Partial<Record<Vat, Levy>>>;
  /** By what they are withheld as, and under which norm. */
  readonly withholdings: Readonly<Record<string, Levy>>;
  readonly net: number;
  readonly tax: number;
  readonly gross: number;
  readonly withheld: number;
  readonly toPay: number;
}

/** n/d to the nearest whole, half up. */
export function half(n: bigint, d: bigint): number {
  return Number((2n * n + d) / (2n * d));
}

/** The priced document, or "DISCOUNT_OUT_OF_RANGE" when more is taken off than it is worth. */
export function price(lines: readonly Line[], off: Off | undefined, region: Region): Priced | 'DISCOUNT_OUT_OF_RANGE' {
  const exact = lines.map(exactCents);
  const nets = exact.map((n) => half(n, exactly));
  if (off === undefined) return totalled(priced(lines, nets), region);
  if ('percent' in off) {
    const kept = BigInt(10_000 - off.percent);
    const discounted = exact.map((n) => half(n * kept, exactly * 10_000n));
    return totalled(priced(lines, discounted), region);
  }
  if (off.amount > sum(nets)) return 'DISCOUNT_OUT_OF_RANGE';
  const shares = shared(off.amount, nets, exact);
  const discounted = nets.map((net, i) => net - shares[i]!);
  return totalled(priced(lines, discounted), region);
}

const exactly = 1_000_000_000n;

/** A line after its own discount: so many thousand-millionths of a cent. */
function exactCents({ item, quantity, price: own, off }: Line): bigint {
  const unit = BigInt(own ?? items[item]!.price);
  if (off === undefined) return BigInt(quantity) * unit * 10_000n;
  if ('percent' in off) return BigInt(quantity) * unit * BigInt(10_000 - off.percent);
  return BigInt(quantity) * (unit - BigInt(off.each) * 100n) * 10_000n;
}

const priced = (lines: readonly Line[], nets: readonly number[]): PricedLine[] =>
  lines.map(({ item, quantity }, i) => ({ item, quantity, net: nets[i]! }));

/** In proportion to the exact values; the last takes what is left, and nobody more than there is. */
function shared(amount: number, values: readonly number[], exact: readonly bigint[]): number[] {
  const total = exact.reduce((a, b) => a + b, 0n);
  let left = amount;
  let behind = sum(values);
  return values.map((value, i) => {
    behind -= value;
    const fair = total === 0n ? 0 : half(BigInt(amount) * exact[i]!, total);
    const share = Math.min(Math.max(fair, left - behind), left, value);
    left -= share;
    return share;
  });
}

function totalled(lines: readonly PricedLine[], region: Region): Priced {
  const taxes: Partial<Record<Vat, Levy>> = {};
  for (const vat of vatsOf(lines)) {
    const base = netOf(lines, (item) => item.vat === vat);
    taxes[vat] = { base, amount: percentOf(base, rates[region][vat]) };
  }
  const withholdings: Record<string, Levy> = {};
  for (const kind of kindsOf(lines)) {
    const base = netOf(lines, (item) => kindOf(item) === kind);
    withholdings[kind] = { base, amount: percentOf(base, withheldPercent) };
  }
  return summed(lines, taxes, withholdings);
}

function summed(lines: readonly PricedLine[], taxes: Priced['taxes'], withholdings: Priced['withholdings']): Priced {
  const net = sum(lines.map((line) => line.net));
  const tax = sum(Object.values(taxes).map(({ amount }) => amount));
  const gross = net + tax;
  const withheld = sum(Object.values(withholdings).map(({ amount }) => amount));
  return { lines, taxes, withholdings, net, tax, gross, withheld, toPay: gross - withheld };
}

/** A line of the original to take back. */
export interface Wanted {
  readonly line: number;
  readonly quantity: number;
}

/**
 * A credit note over `original`, of which `notes` have taken something already: of each line the share of its quantity,
 * and whoever takes the last of a line, or of a rate, takes all that is left of it. Or the problems, each with its place.
 */
export function credited(
  original: Priced,
  notes: readonly Priced[],
  wanted: readonly Wanted[] | undefined,
  region: Region,
): Priced | readonly string[] {
  const open = original.lines.map((line, i) => {
    const taken = notes.flatMap((note) => note.lines.filter(({ origin }) => origin === i));
    return {
      quantity: rest(line.quantity, sum(taken.map(({ quantity }) => quantity))),
      net: rest(line.net, sum(taken.map(({ net }) => net))),
    };
  });
  const asked =
    wanted ?? open.flatMap(({ quantity }, line) => (quantity > 0 ? [{ line, quantity }] : ([] as Wanted[])));
  if (asked.length === 0) return ['/parentInvoiceId NOTHING_TO_CREDIT'];
  const problems = asked.flatMap(({ line, quantity }, i) => {
    if (asked.findIndex((other) => other.line === line) < i) return [`/items/${i}/id DUPLICATE_LINE`];
    return quantity > open[line]!.quantity ? [`/items/${i}/quantity QUANTITY_EXCEEDS_OPEN`] : [];
  });
  if (problems.length > 0) return problems;
  const lines = asked.map(({ line, quantity }) => {
    const { item, quantity: whole, net } = original.lines[line]!;
    const left = open[line]!;
    const upTo = half(BigInt(net) * BigInt(whole - left.quantity + quantity), BigInt(whole));
    return { item, quantity, net: Math.min(rest(upTo, net - left.net), left.net), origin: line };
  });
  const taxes: Partial<Record<Vat, Levy>> = {};
  for (const vat of vatsOf(lines)) {
    const earlier = notes.flatMap((note) => note.taxes[vat] ?? []);
    const base = netOf(lines, (item) => item.vat === vat);
    taxes[vat] = { base, amount: levied(base, rates[region][vat], original.taxes[vat]!, earlier) };
  }
  const withholdings: Record<string, Levy> = {};
  for (const kind of kindsOf(lines)) {
    const earlier = notes.flatMap((note) => note.withholdings[kind] ?? []);
    const base = netOf(lines, (item) => kindOf(item) === kind);
    withholdings[kind] = { base, amount: levied(base, withheldPercent, original.withholdings[kind]!, earlier) };
  }
  return summed(lines, taxes, withholdings);
}

/** Of all notes up to this one, less those before it. */
function levied(base: number, percent: number, whole: Levy, earlier: readonly Levy[]): number {
  const taken = sum(earlier.map(({ amount }) => amount));
  const upTo = base + sum(earlier.map((levy) => levy.base));
  const left = rest(whole.amount, taken);
  return upTo >= whole.base ? left : Math.min(rest(percentOf(upTo, percent), taken), left);
}

/** The tax withheld goes with each payment in proportion; the last one takes what is left of it. */
export function withheldWith(amount: number, open: { readonly toPay: number; readonly withheld: number }): number {
  return half(BigInt(open.withheld) * BigInt(amount), BigInt(open.toPay));
}

const withheldPercent = 23;
const kindOf = ({ withheld, withheldType = 'IRS', norm }: Item): string | undefined =>
  withheld > 0 ? `${withheldType} ${norm}` : undefined;
const kindsOf = (lines: readonly PricedLine[]): Set<string> =>
  new Set(lines.flatMap(({ item }) => kindOf(items[item]!) ?? []));
const vatsOf = (lines: readonly PricedLine[]): Set<Vat> => new Set(lines.map(({ item }) => items[item]!.vat));
const percentOf = (base: number, percent: number): number => half(BigInt(base) * BigInt(percent), 100n);

function netOf(lines: readonly PricedLine[], belongs: (item: Item) => boolean): number {
  return sum(lines.filter(({ item }) => belongs(items[item]!)).map(({ net }) => net));
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
export const rest = (whole: number, used: number): number => Math.max(0, whole - used);
