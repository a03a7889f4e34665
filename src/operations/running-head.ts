/**
 * The head of a series while documents are numbered: each is decided on what the one before it left, which is not
 * committed yet and perhaps not even signed.
 */

import { turnWithTime } from '../db/event-loop.ts';
import type { Row } from '../db/transact.ts';
import type { DocumentType } from '../fiscal/document.ts';
import type { DecidedIssue, SeriesHead } from '../fiscal/issue.ts';
import { assert } from '../fiscal/refusal.ts';
import type { SeriesKind } from '../fiscal/regime.ts';
import type { SignedChain, Signer } from '../keys/signer.ts';
import type { SealChain } from './stamp.ts';

export interface RunningHead extends SealChain {
  readonly companyId: string;
  head: SeriesHead;
  lastHash: string;
  /** By the database's clock, when the last one was decided. */
  now: Date | undefined;
  waiting: ToSign[];
  /** Signatures to be given to those who wait for them. */
  readonly toGive: (() => void)[];
  /** What is being signed of it last: signatures are given in the order of the numbers. */
  signing: Promise<SignedChain> | undefined;
}

/**
 * So many documents are signed in one piece (docs/decisions/0068-signed-in-pieces.md): what is signed is sealed, and goes to
 * the database, while the next are signed.
 */
const a_piece = 8;

interface ToSign {
  /** Of the key that it was decided for. */
  readonly signer: Signer;
  readonly parts: NonNullable<DecidedIssue['parts']>;
  readonly resolve: (signed: { readonly previousHash: string; readonly hash: string }) => void;
  readonly reject: (error: unknown) => void;
}

/** Where the row of a series says that it stands. */
export function headOf(series: Row): SeriesHead {
  return {
    documentType: series['document_type'] as DocumentType,
    code: String(series['code']),
    validationCode: String(series['validation_code']),
    lastSequence: Number(series['last_number']),
    lastDate: (series['last_date'] as string | null) ?? undefined,
    lastSystemEntry: (series['last_system_entry'] as string | null) ?? undefined,
    lastHash: String(series['last_hash']),
    kind: series['kind'] as SeriesKind,
    cashVat: series['cash_vat'] === true,
  };
}

/** From a series of the company whose row is locked, or which is compared when the documents are written. */
export function runningFrom(companyId: string, series: Row): RunningHead {
  const head = headOf(series);
  const lastSeal = series['last_seal'] as Buffer | null;
  return {
    companyId,
    head,
    lastHash: head.lastHash,
    lastSeal,
    now: undefined,
    waiting: [],
    toGive: [],
    signing: undefined,
  };
}

/** Receipts are not signed. Documents that were decided in the same turn are handed to the signer together. */
export function signed(
  running: RunningHead,
  parts: DecidedIssue['parts'],
  signer: Signer,
): Promise<{ readonly previousHash: string; readonly hash: string }> {
  if (parts === undefined) return Promise.resolve({ previousHash: running.lastHash, hash: '' });
  return new Promise((resolve, reject) => {
    running.waiting.push({ signer, parts, resolve, reject });
    if (running.waiting.length > 1) return;
    setImmediate(() => {
      const group = running.waiting;
      running.waiting = [];
      for (let at = 0; at < group.length; at += a_piece) void signPiece(running, group.slice(at, at + a_piece));
    });
  });
}

/** Never rejects. */
async function signPiece(running: RunningHead, piece: readonly ToSign[]): Promise<void> {
  const { signer } = piece[0]!;
  const all = piece.map(({ parts }) => parts);
  const signing = signer.sign(running.signing ?? running.lastHash, all);
  running.signing = signing;
  try {
    const { signatures, keyVersion } = await signing;
    const isTheirs = piece.every((one) => one.signer.keyVersion === keyVersion);
    assert(isTheirs, 'what is signed together was decided for the key that signs');
    for (const [i, { resolve }] of piece.entries()) {
      const hash = signatures[i]!;
      const { lastHash: previousHash } = running;
      running.toGive.push(() => resolve({ previousHash, hash }));
      // One after the other, each as far as it goes (docs/decisions/0077-one-after-the-other.md). A piece of one, too: it would
      // overtake the piece before it, and be sealed out of its turn.
      setImmediate(giveNext, running);
      running.lastHash = hash;
    }
  } catch (error) {
    for (const { reject } of piece) reject(error);
  }
  if (running.signing === signing) running.signing = undefined;
}

/** To whoever is next: a document of a thousand lines is sealed for 50 ms then, and others have a turn before the one behind it. */
function giveNext(running: RunningHead): void {
  const give = (): void => running.toGive.shift()!();
  const turn = turnWithTime(running.companyId);
  if (turn === undefined) give();
  else void turn.then(give);
}
