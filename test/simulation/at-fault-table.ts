/** Each way in which the tax authority fails, as the simulator plays it, and what that means for what was being told. */
import { connectionFaults, type FaultRule, requestFaults } from '../../src/at/simulator/faults.ts';

export interface AtFault {
  readonly name: string;
  readonly rule: FaultRule;
  /**
   * - nothing: the AT has heard nothing, and no answer is believed
   * - lost: the AT has it, and its answer is not believed
   * - yes: the AT has it and its answer is believed
   * - no: it refuses each document
   * - repeated: it has it, and answers as if it had been there before
   * - password: it refuses the sub-user
   */
  readonly means: 'nothing' | 'lost' | 'yes' | 'no' | 'repeated' | 'password';
  /** A call takes the whole deadline. */
  readonly hangs: boolean;
}

type Kind = FaultRule['kind'];

const special: Readonly<Partial<Record<Kind, AtFault['means']>>> = {
  'two-replies': 'yes',
  'series-unknown': 'no',
  'document-refused': 'no',
  'already-registered': 'repeated',
  'wrong-credentials': 'password',
};
const hanging: readonly Kind[] = ['silent-connection', 'no-answer', 'no-answer-after', 'slow', 'drip'];

function meaning(kind: Kind): AtFault['means'] {
  return (
    special[kind] ?? (kind in requestFaults && requestFaults[kind as keyof typeof requestFaults] ? 'lost' : 'nothing')
  );
}

/** An answer that comes after a minute: the deadline cuts it off. */
const late_ms = 60_000;

const asPlayed = ([...Object.keys(connectionFaults), ...Object.keys(requestFaults)] as Kind[]).map(
  (kind): AtFault => ({
    name: kind,
    rule: kind === 'slow' ? { kind, milliseconds: late_ms } : { kind },
    means: meaning(kind),
    hangs: hanging.includes(kind),
  }),
);

/** The same with the document carried out first, where that is not the way it is played anyway. */
const after = (['huge', 'html', 'soap-fault'] as const).map(
  (kind): AtFault => ({ name: `${kind}-after`, rule: { kind, processed: true }, means: 'lost', hangs: false }),
);

/** All of them, in an order that stands. */
export const atFaults: readonly AtFault[] = [...asPlayed, ...after];
