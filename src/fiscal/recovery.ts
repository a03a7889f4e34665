/**
 * Recovered documents (hash chain, section 6; Despacho 8632/2014, 2.4): what they stand for, written as SAF-T's
 * HashControl wants it, what refers to them, and the one spelling by which two recoveries of the same original are found.
 */
import { fits } from './cut.ts';
import { type DocumentRef, type DocumentType, documentTypes, type Recovered } from './document.ts';

/**
 * What refers to a recovered document has 60 characters in SAF-T (Reference) and at the AT, and says "FTM " before the
 * original; HashControl has 70, with the key's version before that ("1-FTM ").
 */
export const longest_original = 56;

/** M: series "/" number. D: code, space, series "/" number. Series hold neither space, slash nor caret. */
const forms = {
  M: /^[^\s/^]+\/\d+$/u,
  D: /^[^\s]+ [^\s/^]+\/\d+$/u,
} as const;

/** How an original is written, for people. */
export const originalForm = { M: 'abc/00001', D: 'FT A2025/99' } as const;

const typeCodes: ReadonlySet<string> = new Set([...Object.values(documentTypes).map(({ code }) => code), 'RC']);

/**
 * Whether what was lost is of another type: the number of a duplicate begins with the code of its type (Portaria 195/2020,
 * article 2). Another program may have used a code of its own for it. Of a receipt either of its codes will do where it is
 * not known whether it is of the cash VAT scheme.
 */
export function isOfOtherType(
  { type, cashVat }: { readonly type: DocumentType; readonly cashVat?: boolean | 'unknown' | undefined },
  { kind, original }: Pick<Recovered, 'kind' | 'original'>,
): boolean {
  const code = canonicalNumber(original).split(' ', 1)[0]!;
  const own = type === 'RECEIPT' && cashVat !== 'unknown' ? [cashVat === true ? 'RC' : 'RG'] : codesOf(type);
  return kind === 'D' && typeCodes.has(code) && !own.includes(code);
}

const codesOf = (type: DocumentType): readonly string[] =>
  type === 'RECEIPT' ? ['RG', 'RC'] : [documentTypes[type].code];

/** Whether an original is written as its kind wants it, and fits where it is told. */
export function isOriginal({ kind, original }: Pick<Recovered, 'kind' | 'original'>): boolean {
  return fits(original, longest_original) && forms[kind].test(original);
}

/** "FTM abc/00001" or "FTD XY 2013A/00099": the printed form or the duplicate that a recovered document stands for. */
export function originalOf(typeCode: string, { kind, original }: Pick<Recovered, 'kind' | 'original'>): string {
  return `${typeCode}${kind} ${original}`;
}

/**
 * How a recovered document is named by what refers to it: a printed form by its manual number, "FTM abc/00001" (hash
 * chain, section 6); a duplicate by the number of the lost document, "FT A2025/99", which is the one that its customer and
 * the AT have.
 */
export function quotedOriginal(typeCode: string, recovered: Pick<Recovered, 'kind' | 'original'>): string {
  return recovered.kind === 'D' ? recovered.original : originalOf(typeCode, recovered);
}

/** The number by which a document is referred to, alike on paper, in SAF-T and in what the AT is told. */
export const quotedNumber = ({ number, original }: Pick<DocumentRef, 'number' | 'original'>): string =>
  original ?? number;

/**
 * The same original in whatever letter case, width or accents' encoding, with or without leading zeros, has the same key.
 * `typeCode`, of a printed form: the paper of an invoice and that of a debit note may carry the same number. The number of
 * a lost document begins with its type, so it is the same original whatever type it is entered as.
 */
export function recoveredKey(typeCode: string, { kind, original }: Pick<Recovered, 'kind' | 'original'>): string {
  return kind === 'D' ? duplicateKey(original) : `${typeCode}M ${canonicalNumber(original)}`;
}

/** The key of a recovered duplicate, by the number of the lost document. */
export function duplicateKey(number: string): string {
  return `D ${canonicalNumber(number)}`;
}

/** How a key may stand in the books: earlier duplicates have the type that they were entered as before it ("FTD …"). */
export function storedKeys(key: string): readonly string[] {
  return key.startsWith('D ') ? [key, ...['FT', 'FS', 'FR', 'ND'].map((code) => code + key)] : [key];
}

/** The key that stands in the books in one of those ways. */
export function keyOfStored(stored: string): string {
  return stored.replace(/^[A-Z]{2}(?=D )/, '');
}

/** A document number as it is compared: "ft a2025/0099" is "FT A2025/99". */
export function canonicalNumber(number: string): string {
  return number
    .normalize('NFKC')
    .toUpperCase()
    .normalize('NFKC')
    .replace(/\/0+(?=\d)/, '/');
}
