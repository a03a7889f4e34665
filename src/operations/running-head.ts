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

/** Companies whose heads are kept at most; one that is put out is read from its row again. */
const most_companies = 1_000;

/**
 * Heads of what this process has decided ahead of the database. They may be wrong, where another process has numbered
 * or what was decided was not written: the condition on which the row of a series moves tells.
 */
export class RunningHeads {
  readonly #byCompany = new Map<string, Map<string, RunningHead>>();

  /** The head to go on from: the one kept, unless the row has come further. */
  of(companyId: string, series: Row): RunningHead {
    const heads = this.#of(companyId);
    const id = String(series['id']);
    const kept = heads.get(id);
    if (kept !== undefined && kept.head.lastSequence >= Number(series['last_number'])) return kept;
    const running = runningFrom(series);
    heads.set(id, running);
    return running;
  }

  /** Something that was decided for this company was not written, or nobody knows. */
  forget(companyId: string): void {
    this.#byCompany.delete(companyId);
  }

  #of(companyId: string): Map<string, RunningHead> {
    const heads = this.#byCompany.get(companyId) ?? new Map<string, RunningHead>();
    this.#byCompany.delete(companyId);
    this.#byCompany.set(companyId, heads);
    if (this.#byCompany.size > most_companies) this.forget(this.#byCompany.keys().next().value!);
    return heads;
  }
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
