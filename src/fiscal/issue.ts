/**
 * Issuing: the decision that gives a draft its number, date, ATCUD and the text to sign. Pure: the clock, the signature
 * and the series' head are handed in.
 *
 * A group of documents of one series is decided in order, each against the head that the decision before returned; then
 * the whole group is signed in one go and each is finished with its own hash:
 *
 *     first = decideIssue({ …, head });   second = decideIssue({ …, head: first.next });
 *     signatures = sign(head.lastHash, [first.parts, second.parts]);
 *     finishIssue(first, signatures[0]);  finishIssue(second, signatures[1]);
 *
 * A head's lastHash is therefore that of the last document that was signed before the group.
 */
import { atcud } from './atcud.ts';
import { dateProblems } from './dates.ts';
import { compare } from './decimal.ts';
import { type Content, type Day, type DocumentType, documentTypes, type Issued, type Region } from './document.ts';
import { type SignedParts, shortHash } from './hash-chain.ts';
import { isOwnNif } from './nif.ts';
import { fitsQr } from './qr-message.ts';
import { type QrDrafted, qrDrafted, qrPayloadOf } from './qr-payload.ts';
import { companyRemedy, notReady, type ReadinessCode, seriesRemedy } from './readiness.ts';
import { assert, Refusal, refuseAll } from './refusal.ts';
import { type CashVatPeriod, regimeOf, type SeriesKind, schemeOf, typeCode, wantsCashVat } from './regime.ts';
import { reprice } from './reprice.ts';
import { documentNumber } from './series.ts';
import { checkSimplifiedLimit } from './simplified-limit.ts';
import { dayOf, localText } from './time.ts';

/** Where a series stands. */
export interface SeriesHead {
  readonly documentType: DocumentType;
  /** The identifier, "A2026". */
  readonly code: string;
  /** Given by the AT when the series was registered. */
  readonly validationCode: string;
  /** 0 (or start number − 1) before the first document. */
  readonly lastSequence: number;
  /** Absent before the first document. */
  readonly lastDate?: Day | undefined;
  /** Local time text of the last signature. */
  readonly lastSystemEntry?: string | undefined;
  /** "" before the first document, and always for receipts. */
  readonly lastHash: string;
  readonly kind: SeriesKind;
  /** A series of the cash VAT scheme. */
  readonly cashVat: boolean;
}

export interface IssueFacts {
  /** The draft as its last revision shows it. */
  readonly content: Content;
  /** The series chosen for it; undefined: the type has none that is active, or not the one that it names. */
  readonly head: SeriesHead | undefined;
  /** First day of the head's series, as the AT was told when it was registered. Read with the series each time. */
  readonly seriesStart: Day | undefined;
  /** It names its series. */
  readonly isSeriesNamed?: boolean | undefined;
  /** The database's clock. */
  readonly now: Date;
  /** The company's region: its civil time. */
  readonly region: Region;
  /** The company's cash VAT scheme; undefined: it was never in it. */
  readonly cashVat?: CashVatPeriod | undefined;
  /** Instant of the company's last signed document of any series. */
  readonly lastSigned?: Date | undefined;
  /** What keeps the company from issuing at all (readiness.ts); empty: ready. */
  readonly notReady: readonly { readonly code: ReadinessCode }[];
  readonly certificateNumber: number;
  readonly keyVersion: number;
}

/** Everything that issuing stamps, but for the hash and what is made of it. */
export interface DecidedIssue {
  readonly wait?: undefined;
  /** As it is frozen: priced for its tax point, under the regime of its series. The draft's own where that changes nothing. */
  readonly content: Content;
  readonly sequence: number;
  readonly number: string;
  readonly seriesCode: string;
  readonly atcud: string;
  readonly date: Day;
  readonly dueDate: Day;
  readonly systemEntry: string;
  /** What is signed; undefined for receipts, which the law leaves unsigned. */
  readonly parts: SignedParts | undefined;
  readonly certificateNumber: number;
  readonly keyVersion: number;
  /** The head for the next document of this series. */
  readonly next: SeriesHead;
}

/** The clock is a little behind the last signed document: ask again after so many milliseconds. */
export interface IssueWait {
  readonly wait: number;
}

/** Up to this far behind the last signature the clock is waited for; beyond it, nothing is signed. */
const longest_wait_ms = 5000;

/**
 * Decides one document. Throws, and then nothing has happened:
 * NOT_READY (with `reasons`), SERIES_NOT_ACTIVE, PARENT_REQUIRED, CLOCK_REGRESSION (503), DATE_IN_FUTURE, DATE_GOES_BACK,
 * DATE_BEFORE_SERIES, SIMPLIFIED_LIMIT, TRAINING_DIFFERS, CASH_VAT_NOT_IN_FORCE, CASH_VAT_EXCLUDED, CASH_VAT_DIFFERS,
 * and INVALID_REQUEST where a day of it is too early, or its date contradicts the document it is about or its payment
 * (dates.ts), and where the draft can't be priced any more: for its tax point (rates or exemption codes that ended), or with what its customer, items and
 * company are now.
 */
export function decideIssue(facts: IssueFacts): DecidedIssue | IssueWait {
  refuseAll(facts.content.refused ?? []);
  const head = readyHead(facts);
  checkParent(facts.content);
  checkComplete(facts.content, head);
  const behind_ms = (facts.lastSigned?.getTime() ?? 0) - facts.now.getTime();
  if (facts.lastSigned !== undefined && behind_ms > 0) return waitFor(behind_ms);

  const today = dayOf(facts.now, facts.region);
  const date = issueDate(facts.content.date, head.lastDate, today);
  refuseAll(dateProblems(date, facts.content));
  checkSeriesStart(date, head, facts.seriesStart, today);
  const regime = regimeOf(facts.content, head, date, facts.cashVat);
  const priced = reprice(facts.content, facts.content.taxPointDate ?? date);
  const content = withRegime(priced, regime);
  checkSimplifiedLimit(content);
  return stamped(facts, head, content, date);
}

/** The same object where the series adds nothing: then what the draft's row has already is what is frozen. */
function withRegime(content: Content, { cashVat, training }: Pick<Content, 'cashVat' | 'training'>): Content {
  if (content.cashVat === cashVat && content.training === training) return content;
  return { ...content, cashVat, training };
}

/** The stamped facts of a decided document; `hash` is "" exactly for receipts. `qr`: of its content, where it is known. */
export function finishIssue(decided: DecidedIssue, hash: string, qr: QrDrafted = qrDrafted(decided.content)): Issued {
  assert((decided.parts === undefined) === (hash === ''), 'a signed document has a hash, a receipt has none');
  const { number, sequence, seriesCode, atcud, date, systemEntry, keyVersion, certificateNumber } = decided;
  const short = hash === '' ? '' : shortHash(hash);
  return {
    qr: qrPayloadOf(qr, { number, atcud, date, shortHash: short, certificateNumber }),
    number,
    sequence,
    seriesCode,
    atcud,
    date,
    systemEntry,
    hash,
    shortHash: short,
    keyVersion,
    certificateNumber,
  };
}

function readyHead(facts: IssueFacts): SeriesHead {
  const codes = new Set<ReadinessCode>(facts.notReady.map((reason) => reason.code));
  // The company may have others: what helps is to name one of them.
  if (facts.head === undefined && facts.isSeriesNamed !== true) codes.add('SERIES_REQUIRED');
  if (codes.size > 0) {
    const remedy = facts.notReady.length > 0 ? companyRemedy : seriesRemedy(isCashVat(facts));
    throw notReady(facts.content.type, [...codes], remedy);
  }
  if (facts.head === undefined) throw new Refusal('SERIES_NOT_ACTIVE');
  return facts.head;
}

/** As it stands, it would go into a series of the cash VAT scheme. */
function isCashVat({ content, cashVat, now, region }: IssueFacts): boolean {
  return wantsCashVat(schemeOf(content), cashVat, content.date ?? dayOf(now, region));
}

/** CIVA article 36, no. 6: a debit note names the invoice it corrects, and why. A credit note is made from its invoice. */
function checkParent(content: Content): void {
  const named = content.parent !== undefined && (content.parent.reason ?? '') !== '';
  if (content.type === 'DEBIT_NOTE' && !named) throw new Refusal('PARENT_REQUIRED');
  assert(content.type !== 'CREDIT_NOTE' || named, 'a credit note has its invoice and a reason');
}

/** What the draft's own rules have made sure of: without it a signature would be spent on a document that can't stand. */
function checkComplete(content: Content, head: SeriesHead): void {
  const { issuer, customer, type } = content;
  assert(head.documentType === type, 'the series is one of this type');
  assert(issuer.name !== '' && isOwnNif(issuer.taxpayerNumber ?? ''), 'an issuer has a name and its own NIF');
  assert(customer.name !== '', 'a customer has a name');
  assert(fitsQr('B', customer.taxpayerNumber ?? '-'), 'a tax number fits the QR message');
  assert(customer.finalConsumer || customer.country !== undefined, 'a customer has a country');
  assert(documentTypes[type].family === 'RECEIPT' || content.lines.length > 0, 'a document has lines');
}

/** Until when nothing of a company is signed, because the clock stands so far behind its last signature; undefined: it is. */
export function blockedUntil(lastSigned: Date | undefined, now: Date): Date | undefined {
  if (lastSigned === undefined) return undefined;
  return lastSigned.getTime() - now.getTime() > longest_wait_ms ? lastSigned : undefined;
}

/** Despacho 8632/2014: a clock behind the last signature, of whatever series, must not go on unnoticed. */
function waitFor(behind_ms: number): IssueWait {
  if (behind_ms <= longest_wait_ms) return { wait: behind_ms };
  throw clockBehind(behind_ms);
}

/** CLOCK_REGRESSION, of a clock so many milliseconds behind the last signature. */
export const clockBehind = (behind_ms: number): Refusal =>
  new Refusal('CLOCK_REGRESSION', {}, { retryAfterSeconds: Math.ceil(behind_ms / 1000) });

/** Numbers follow dates within a series, and nothing is dated after today. A draft without a date is dated today. */
function issueDate(asked: Day | undefined, lastDate: Day | undefined, today: Day): Day {
  const date = asked ?? today;
  if (date > today) throw new Refusal('DATE_IN_FUTURE', { date, today });
  if (lastDate !== undefined && date < lastDate) throw new Refusal('DATE_GOES_BACK', { date, lastDate });
  return date;
}

/**
 * DL 28/2019, article 35: a series is communicated before its first use, with its first day. A recovered paper keeps the day
 * on which it was handed out. Registration tells Lisbon's day: for an hour that is tomorrow on the Azores, where today is no
 * day too early.
 */
function checkSeriesStart(date: Day, head: SeriesHead, start: Day | undefined, today: Day): void {
  if (start === undefined || head.kind === 'R') return;
  const firstDay = start < today ? start : today;
  if (date < firstDay) throw new Refusal('DATE_BEFORE_SERIES', { series: head.code, firstDay, date });
}

function stamped(facts: IssueFacts, head: SeriesHead, content: Content, date: Day): DecidedIssue {
  const { signed } = documentTypes[content.type];
  const sequence = head.lastSequence + 1;
  const number = documentNumber(typeCode(content), head.code, sequence);
  // In autumn's repeated hour the local time would go back; the signed text stands still instead.
  const local = localText(facts.now, facts.region);
  const last = head.lastSystemEntry ?? '';
  const systemEntry = local > last ? local : last;
  const grossTotal = content.books.gross;
  assert(compare(grossTotal, '0') >= 0, 'no negative totals');
  return {
    content,
    sequence,
    number,
    seriesCode: head.code,
    atcud: atcud(head.validationCode, sequence),
    date,
    dueDate: content.dueDate ?? date,
    systemEntry,
    parts: signed ? { date, systemEntry, number, grossTotal } : undefined,
    certificateNumber: facts.certificateNumber,
    keyVersion: facts.keyVersion,
    next: headAfter(head, sequence, date, systemEntry),
  };
}

/** Written out: of a spread with members behind it V8 describes the object anew each time (0.7 µs). */
function headAfter(head: SeriesHead, lastSequence: number, lastDate: Day, lastSystemEntry: string): SeriesHead {
  const { documentType, code, validationCode, lastHash, kind, cashVat } = head;
  return { documentType, code, validationCode, lastSequence, lastDate, lastSystemEntry, lastHash, kind, cashVat };
}
