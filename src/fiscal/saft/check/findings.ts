/** What a check finds: collected, bounded and counted. The words stand in finding-words.ts. */
import { shortened } from '../../cut.ts';
import type { Language, Words } from '../../refusal.ts';
import { findingWords } from './finding-words.ts';

export type FindingCode = keyof typeof findingWords;
export type FindingFacts = Readonly<Record<string, string | number | Words>>;

export interface Finding {
  readonly code: FindingCode;
  /** ERROR: the file is invalid or contradicts itself. WARNING: unusual, or worth a look. */
  readonly severity: 'ERROR' | 'WARNING';
  /** Line of the file, from 1. */
  readonly line: number;
  /** Number of the document it is in. */
  readonly document?: string | undefined;
  readonly facts: FindingFacts;
}

/** Keeps the first findings of each code and counts them all, so that a file that is wrong throughout costs no memory. */
export class Findings {
  readonly kept: Finding[] = [];
  readonly counts = new Map<FindingCode, number>();
  /** The document that is being read. */
  document: string | undefined;
  readonly mostPerCode: number;

  constructor(mostPerCode: number) {
    this.mostPerCode = mostPerCode;
  }

  tell(code: FindingCode, line: number, facts: FindingFacts = {}): void {
    const count = (this.counts.get(code) ?? 0) + 1;
    this.counts.set(code, count);
    if (count > this.mostPerCode) return;
    const { severity } = findingWords[code];
    const document = this.document === undefined ? {} : { document: short(this.document) };
    this.kept.push({ code, severity, line, ...document, facts: shortFacts(facts) });
  }

  /** More of a code of which as many were told as are kept. */
  countOnly(code: FindingCode, more: number): void {
    if (more > 0) this.counts.set(code, (this.counts.get(code) ?? 0) + more);
  }

  /** How many of each severity, those not kept included. */
  severities(): { readonly errors: number; readonly warnings: number } {
    let [errors, warnings] = [0, 0];
    for (const [code, count] of this.counts) {
      if (findingWords[code].severity === 'ERROR') errors += count;
      else warnings += count;
    }
    return { errors, warnings };
  }
}

/** Characters of a fact; names and values of a file may have any number. */
const longest_fact = 300;

function shortFacts(facts: FindingFacts): FindingFacts {
  return Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, shortFact(fact)]));
}

function shortFact(fact: FindingFacts[string]): FindingFacts[string] {
  if (typeof fact === 'object') return { en: short(fact.en), pt: short(fact.pt) };
  return typeof fact === 'string' ? short(fact) : fact;
}

const short = (text: string): string => shortened(text, longest_fact);

/** What was found and how to mend it, one sentence each, in a language. */
export function findingSentence({ code, facts }: Pick<Finding, 'code' | 'facts'>, language: Language): string {
  const words: string = findingWords[code][language];
  return words.replace(/\{(\w+)\}/g, (place, fact: string) => String(inWords(facts[fact] ?? place, language)));
}

/** Facts for programs: of words the English ones, whatever language the sentence is in. */
export function plainFacts(facts: FindingFacts): Readonly<Record<string, string | number>> {
  return Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, inWords(fact, 'en')]));
}

function inWords(fact: FindingFacts[string], language: Language): string | number {
  return typeof fact === 'object' ? fact[language] : fact;
}
