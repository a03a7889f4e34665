/**
 * The chain of signatures of a series (Despacho 8632/2014, points 1, 2 and 4 to 7; Portaria 363/2010, articles 6 and 7):
 * what is signed, what of the signature is printed, and how a chain is verified with the public keys alone.
 */
import { type KeyObject, verify } from 'node:crypto';
import type { Day, Decimal } from './document.ts';
import { assert } from './refusal.ts';

/** The values that are signed, as text exactly as they are stored and exported (2.6.7: never recomputed). */
export interface SignedParts {
  /** InvoiceDate, MovementDate or WorkDate. */
  readonly date: Day;
  /** SystemEntryDate, "YYYY-MM-DDThh:mm:ss", local time. */
  readonly systemEntry: string;
  /** "FT A2026/1". */
  readonly number: string;
  /** GrossTotal in EUR, 2 decimals. */
  readonly grossTotal: Decimal;
}

/** What a document adds to the chain: the signed text without the previous signature and its semicolon. */
export function chainPart(parts: SignedParts): string {
  assert(/^\d{4}-\d\d-\d\d$/.test(parts.date), 'a signed date is YYYY-MM-DD');
  assert(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(parts.systemEntry), 'a signed time has seconds and no zone');
  assert(/^[^ ;]+ [^/^ ;]+\/\d+$/.test(parts.number), 'a signed number is a document id');
  assert(/^(?:0|[1-9]\d*)\.\d\d$/.test(parts.grossTotal), 'a signed total has exactly two decimals');
  return `${parts.date};${parts.systemEntry};${parts.number};${parts.grossTotal}`;
}

/** The text whose RSA-SHA1 signature is the document's Hash. The first of a series has no previous hash: it ends in ";". */
export function signedText(parts: SignedParts, previousHash: string): string {
  return `${chainPart(parts)};${previousHash}`;
}

/** 128 bytes (a 1024-bit key) as Base64 on one line: 171 characters and one "=". */
export function isHash(text: string): boolean {
  // No bits hide in the last character, of which two say nothing: one signature has one text.
  return /^[A-Za-z0-9+/]{170}[AEIMQUYcgkosw048]=$/.test(text);
}

/** The four characters that are printed and stand in the QR code: positions 1, 11, 21 and 31. */
export function shortHash(hash: string): string {
  assert(isHash(hash), 'a hash has 172 characters');
  return `${hash[0]}${hash[10]}${hash[20]}${hash[30]}`;
}

/** Whether `hash` is the signature of `text`. Pass a KeyObject where many are verified: a PEM is parsed each time. */
export function verifyHash(publicKey: KeyObject | string, text: string, hash: string): boolean {
  return isHash(hash) && verify('RSA-SHA1', Buffer.from(text, 'utf8'), publicKey, Buffer.from(hash, 'base64'));
}

/** A stored document as a verifier reads it. Unsigned documents (receipts) have `hash` "". */
export interface ChainedDocument extends SignedParts {
  readonly sequence: number;
  readonly hash: string;
  readonly keyVersion: number;
}

/** The end of a verified stretch: pass it on to verify a long series in pieces. */
export type ChainPoint = Pick<ChainedDocument, 'sequence' | 'hash' | 'keyVersion' | 'date' | 'systemEntry'>;

export type ChainFault =
  /** The sequence does not follow the one before (the first is the series' start number). */
  | 'GAP'
  /** The number's digits are not the sequence. */
  | 'NUMBER_DIFFERS'
  | 'DATE_GOES_BACK'
  | 'SYSTEM_ENTRY_GOES_BACK'
  /** No public key of this version, or an older version than the document before. */
  | 'KEY_VERSION'
  /** The signature is not one of these values and the previous signature. */
  | 'HASH_WRONG';

/** Which document, by its place in the series and by its number as stored. */
export interface ChainFinding {
  readonly sequence: number;
  readonly number: string;
  readonly fault: ChainFault;
}

export interface ChainStart {
  /** Where verifying goes on; absent: at the series' first document. */
  readonly after?: ChainPoint | undefined;
  /** First sequence of the series, 1 when absent. */
  readonly startNumber?: number | undefined;
  /** False for documents that the law leaves unsigned (receipts): everything but key and signature is checked. */
  readonly signed?: boolean | undefined;
}

/**
 * Every fault of one series' documents, given in order of sequence. After a fault it goes on from the document as it
 * stands, so that one altered document is reported once and not by all that follow.
 */
export function verifyChain(
  publicKeysByVersion: ReadonlyMap<number, KeyObject>,
  documents: Iterable<ChainedDocument>,
  start: ChainStart = {},
): ChainFinding[] {
  const findings: ChainFinding[] = [];
  let previous = start.after;
  for (const document of documents) {
    const faults = [
      ...orderFaults(previous, document, start.startNumber ?? 1),
      ...(start.signed === false ? unsignedFaults(document) : hashFaults(publicKeysByVersion, previous, document)),
    ];
    for (const fault of faults) findings.push({ sequence: document.sequence, number: document.number, fault });
    previous = document;
  }
  return findings;
}

function orderFaults(previous: ChainPoint | undefined, document: ChainedDocument, startNumber: number): ChainFault[] {
  const faults: ChainFault[] = [];
  if (document.sequence !== (previous === undefined ? startNumber : previous.sequence + 1)) faults.push('GAP');
  if (!document.number.endsWith(`/${document.sequence}`)) faults.push('NUMBER_DIFFERS');
  if (previous === undefined) return faults;
  if (document.date < previous.date) faults.push('DATE_GOES_BACK');
  if (document.systemEntry < previous.systemEntry) faults.push('SYSTEM_ENTRY_GOES_BACK');
  return faults;
}

function unsignedFaults(document: ChainedDocument): ChainFault[] {
  return document.hash === '' ? [] : ['HASH_WRONG'];
}

function hashFaults(
  keys: ReadonlyMap<number, KeyObject>,
  previous: ChainPoint | undefined,
  document: ChainedDocument,
): ChainFault[] {
  const key = keys.get(document.keyVersion);
  if (key === undefined) return ['KEY_VERSION'];
  const faults: ChainFault[] =
    previous !== undefined && document.keyVersion < previous.keyVersion ? ['KEY_VERSION'] : [];
  const { date, systemEntry, number, grossTotal } = document;
  // Stored values that were altered need not even have the right form: then there is nothing that could be signed.
  const text = `${date};${systemEntry};${number};${grossTotal};${previous?.hash ?? ''}`;
  if (!verifyHash(key, text, document.hash)) faults.push('HASH_WRONG');
  return faults;
}
