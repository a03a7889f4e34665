/**
 * The head of a series while documents are numbered: each is decided on what the one before it left, which is not
 * committed yet and perhaps not even signed.
 */
import type { Row } from '../db/transact.ts';
import type { DocumentType } from '../fiscal/document.ts';
import type { DecidedIssue, SeriesHead } from '../fiscal/issue.ts';
import { assert } from '../fiscal/refusal.ts';
import type { SeriesKind } from '../fiscal/regime.ts';
import type { SealChain } from './stamp.ts';
import type { World } from './world.ts';

export interface RunningHead extends SealChain {
  head: SeriesHead;
  lastHash: string;
  /** By the database's clock, when the last one was decided. */
  now: Date | undefined;
  waiting: ToSign[];
  /** Signatures are given in the order of the numbers. */
  signing: Promise<unknown>;
}

interface ToSign {
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

export function runningFrom(series: Row): RunningHead {
  const head = headOf(series);
  const lastSeal = series['last_seal'] as Buffer | null;
  return { head, lastHash: head.lastHash, lastSeal, now: undefined, waiting: [], signing: Promise.resolve() };
}

/** Receipts are not signed. Documents that were decided in the same turn are signed in one call. */
export function signed(
  running: RunningHead,
  parts: DecidedIssue['parts'],
  world: World,
): Promise<{ readonly previousHash: string; readonly hash: string }> {
  if (parts === undefined) return Promise.resolve({ previousHash: running.lastHash, hash: '' });
  return new Promise((resolve, reject) => {
    running.waiting.push({ parts, resolve, reject });
    if (running.waiting.length > 1) return;
    setImmediate(() => {
      const group = running.waiting;
      running.waiting = [];
      running.signing = running.signing.then(() => signGroup(running, group, world));
    });
  });
}

async function signGroup(running: RunningHead, group: readonly ToSign[], world: World): Promise<void> {
  try {
    const all = group.map(({ parts }) => parts);
    const { signatures, keyVersion } = await world.sign(running.lastHash, all);
    assert(keyVersion === world.keyVersion, 'the signer uses the key it was decided for');
    for (const [i, { resolve }] of group.entries()) {
      const hash = signatures[i]!;
      resolve({ previousHash: running.lastHash, hash });
      running.lastHash = hash;
    }
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}
