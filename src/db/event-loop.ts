/**
 * Turns of the event loop between pieces of work that may be long. Reads that shared a round trip have their rows in one
 * turn, and of documents of a thousand lines each answer takes 50 ms to put together: 32 of them kept everybody else waiting
 * for a second and a half. So did the bodies of 24 such drafts, what was decided of them, and their seals.
 */

/** So much may be done in one turn before what comes next waits for another. */
const longest_ms = 10;
let began_ms: number | undefined;

/** Whether this turn has had its time. */
export function isTurnOver(): boolean {
  if (began_ms === undefined) {
    began_ms = performance.now();
    setImmediate(() => {
      began_ms = undefined;
    });
  }
  return performance.now() - began_ms > longest_ms;
}

/** Resolves in a turn that has time. Undefined: this one has. */
export function turnWithTime(): Promise<void> | undefined {
  return isTurnOver() ? nextTurn() : undefined;
}

async function nextTurn(): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve));
  while (isTurnOver());
}
