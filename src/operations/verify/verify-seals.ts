/** Whether a stored document and what happened to it carry the seals that their values make. Pure but for the key. */
import {
  type BookEvent,
  documentSeal,
  eventSeal,
  type Frozen,
  frozenMembers,
  type Mac,
  type State,
  sealedMembers,
  stateAfter,
  stateColumns,
  stateSeal,
} from '../../fiscal/seal.ts';

/** An event as it is stored. */
export interface StoredEvent extends BookEvent {
  readonly seal: Buffer;
}

/** A numbered document as it is stored, for its seals. */
export interface SealedDocument {
  readonly id: string;
  readonly frozen: Frozen;
  /** The moving columns as they stand, all of them. */
  readonly state: Readonly<Record<string, string | null>>;
  readonly lastEvent: number;
  readonly seal: Buffer | null;
  readonly stateSeal: Buffer | null;
  readonly events: readonly StoredEvent[];
  /** Numbers in JSON that are not written as they were issued ("1.0" for 1): the same value, other bytes. */
  readonly strangeNumbers: boolean;
}

export interface SealFault {
  readonly problem: string;
  /** The seal that the present values make, in hexadecimal: other values are another fault. */
  readonly evidence: string;
}

/** Seals that the next document of the series may have been sealed after: the stored one, and the one it should be. */
export type Before = readonly (Buffer | null)[];

export interface SealReport {
  readonly faults: readonly SealFault[];
  readonly next: Before;
}

/**
 * `before`: what the document before it leaves to be sealed after. `next` is the same for the one behind it, so that
 * one broken document is told once.
 */
export function sealFaults(mac: Mac, document: SealedDocument, before: Before): SealReport {
  const faults: SealFault[] = [];
  const { frozen, seal, strangeNumbers } = document;
  const members = [sealedMembers(frozenMembers(frozen))];
  const fitting = before.map((previous) => documentSeal(mac, members, previous));
  const made = fitting.find((one) => seal?.equals(one)) ?? fitting[0]!;
  const fault = (problem: string): void => void faults.push({ problem, evidence: made.toString('hex') });
  if (seal === null) fault('has no seal');
  else if (!seal.equals(made)) fault('has a seal that does not fit what is frozen of it and the document before it');
  if (strangeNumbers) fault('has numbers in its frozen content that are written otherwise than when it was issued');
  return { faults: [...faults, ...eventFaults(mac, document)], next: seal?.equals(made) ? [seal] : [seal, made] };
}

function eventFaults(mac: Mac, document: SealedDocument): SealFault[] {
  const { id, events, seal } = document;
  const faults: SealFault[] = [];
  let last = seal ?? Buffer.alloc(32);
  let count = 0;
  for (const event of events) {
    const previous = stateSeal(mac, id, count, last);
    const made = eventSeal(mac, id, event, previous);
    count += 1;
    if (event.sequence !== count || !event.seal.equals(made)) {
      faults.push({
        problem: `has an event ${event.sequence} (${event.kind}) that is not what happened after the event before it`,
        evidence: made.toString('hex'),
      });
    }
    last = event.seal;
  }
  return [...faults, ...endFaults(mac, document, last)];
}

/** The document's row must say what its events say, and which of them is the last. */
function endFaults(mac: Mac, document: SealedDocument, last: Buffer): SealFault[] {
  const { id, events, lastEvent, frozen, state } = document;
  const made = stateSeal(mac, id, events.length, last);
  const evidence = made.toString('hex');
  const faults: SealFault[] = [];
  if (lastEvent !== events.length) {
    faults.push({ problem: `says that ${lastEvent} event(s) followed its issue, and has ${events.length}`, evidence });
  }
  if (document.stateSeal === null || !document.stateSeal.equals(made)) {
    faults.push({ problem: 'has a seal of its state that does not fit its last event', evidence });
  }
  const derived = stateAfter((frozen.issued_state ?? {}) as State, events);
  for (const column of stateColumns) {
    const is = state[column] ?? null;
    const should = derived[column] ?? null;
    if (is === should) continue;
    const problem = `has ${column} ${is ?? 'empty'}, and its events make it ${should ?? 'empty'}`;
    faults.push({ problem, evidence: column });
  }
  return faults;
}
