/**
 * Groups of tax and of withholding, by what they are of. A document may have a thousand kinds of withholding, each with a norm
 * of its own: what belongs to one is looked up, since to look for it among all took the cube of them.
 */
import { add, trimmed } from './decimal.ts';
import type { Decimal, TaxGroup, WithholdingGroup } from './document.ts';

export type RateOf = Pick<TaxGroup, 'region' | 'taxCode' | 'rate' | 'exemptionCode'>;
type WithholdingOf = Pick<WithholdingGroup, 'type' | 'percent' | 'reason'>;

/** The same of two of one region, code, rate and exemption. */
export const rateKey = ({ region, taxCode, rate, exemptionCode }: RateOf): string =>
  `${region} ${taxCode} ${rate} ${exemptionCode ?? ''}`;

/** The same of two that are withheld alike: of one type, percentage and legal norm. */
export const withholdingKey = ({ type, percent, reason }: WithholdingOf): string =>
  `${type} ${trimmed(percent)} ${reason ?? ''}`;

/** What is taken of a group: its base, and the tax or what is withheld. */
export interface Share {
  readonly base: Decimal;
  readonly amount: Decimal;
}

const nothing: Share = { base: '0', amount: '0' };

/** What groups of one key have together, by that key. */
export function sharesOf<Group extends { readonly base: Decimal }>(
  groups: readonly Group[],
  keyOf: (group: Group) => string,
  amountOf: (group: Group) => Decimal,
): (key: string) => Share {
  const all = new Map<string, Share>();
  for (const group of groups) {
    const key = keyOf(group);
    const before = all.get(key) ?? nothing;
    all.set(key, { base: add(before.base, group.base), amount: add(before.amount, amountOf(group)) });
  }
  return (key) => all.get(key) ?? nothing;
}

/** Groups by key; of two with one key the first. */
export function firstBy<Group>(groups: readonly Group[], keyOf: (group: Group) => string): ReadonlyMap<string, Group> {
  // Of two entries with one key a map keeps the last.
  return new Map(groups.map((group) => [keyOf(group), group] as const).reverse());
}

/** What has the same key together, in the order of the first of each. */
export function together<Key, One>(all: Iterable<One>, keyOf: (one: One) => Key): ReadonlyMap<Key, readonly One[]> {
  const found = new Map<Key, One[]>();
  for (const one of all) {
    const key = keyOf(one);
    const same = found.get(key);
    if (same === undefined) found.set(key, [one]);
    else same.push(one);
  }
  return found;
}
