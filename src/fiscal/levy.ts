/**
 * A percentage taken from groups of lines: VAT and withholding tax both work this way.
 *
 * It is computed once per group on the group's base and rounded to 2 decimals there (CIVA article 36, no. 5: base and tax per
 * rate). The lines' own parts are the growth of the rounded running total, so they are never
 * negative and their sum is the group's amount to the cent.
 */
import { add, percentOf, round2, subtract } from './decimal.ts';
import type { Decimal } from './document.ts';

export interface LevyLine {
  /** Lines with the same key form a group; undefined: this line is in none. */
  readonly key: string | undefined;
  readonly percent: Decimal;
  /** 2 decimals. */
  readonly base: Decimal;
}

export interface LevyGroup {
  /** Index of the group's first line. */
  readonly first: number;
  readonly base: Decimal;
  readonly amount: Decimal;
}

/** `parts` has one amount per line ("0.00" outside any group); `groups` are in order of first appearance. */
export function levy(lines: readonly LevyLine[]): { parts: readonly Decimal[]; groups: readonly LevyGroup[] } {
  const groups = new Map<string, { first: number; base: Decimal; amount: Decimal }>();
  const parts = lines.map((line, index) => {
    if (line.key === undefined) return '0.00';
    const group = groups.get(line.key);
    const before = group?.amount ?? '0.00';
    const base = round2(group === undefined ? line.base : add(group.base, line.base));
    const amount = round2(percentOf(line.percent, base));
    if (group === undefined) groups.set(line.key, { first: index, base, amount });
    else Object.assign(group, { base, amount });
    return round2(subtract(amount, before));
  });
  return { parts, groups: [...groups.values()] };
}
