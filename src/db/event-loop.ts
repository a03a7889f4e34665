/**
 * Turns of the event loop between pieces of work that may be long: a body that is read, a document of a thousand lines that
 * is decided, sealed or answered. Each takes 5 to 50 ms, and nobody else is served meanwhile.
 *
 * Work that has to wait stands in a queue. Companies take turns, and the work of one company is done in the order in which it
 * came. Each turn of the event loop does at least one piece, whatever its sockets brought, so nobody waits for ever. A small
 * request needs some twenty turns of the loop until it is answered (its bytes, the database's, the signer's), so one piece
 * in each of them would add up: after a long piece, what is long rests as long as it took, while anybody else is served.
 */

/** So much may be done in one turn before what comes next waits for another. */
const longest_ms = 10;
/** A long piece is followed by a rest of its own length, but of no more than this. */
const longest_rest_ms = 100;
/** A company whose last piece was long is taken to bring long ones for this time. So long it also counts as being served. */
const remembered_ms = 1_000;

let began_ms: number | undefined;

/** Whether this turn has had its time. */
function isTurnOver(): boolean {
  if (began_ms === undefined) {
    began_ms = performance.now();
    setImmediate(() => {
      began_ms = undefined;
    });
  }
  return performance.now() - began_ms > longest_ms;
}

type Begin = () => void;

/** Work that waits, by whose it is; these in the order of their turns. */
const waiting = new Map<string, Begin[]>();
/** Whose last piece was long, and when that was. */
const long = new Map<string, number>();
/** Until when what is long rests. */
let restsUntil_ms = 0;
/** `serve` is under way, or comes in the next turn. */
let isServing = false;
/** Wakes it when all that waits has rested. */
let alarm: NodeJS.Timeout | undefined;
/** Who was served last, and when, and who before that. */
let latest = { whose: '', at_ms: Number.NEGATIVE_INFINITY };
let before = latest;

/**
 * Resolves in a turn that has time, once it is the turn of `whose` (a company's id, or whatever else is known of the caller).
 * Undefined: it has time now, and nobody waits. What may be long has to follow at once: in the continuation of this promise, or
 * before the present function waits for anything.
 */
export function turnWithTime(whose: string): Promise<void> | undefined {
  const now_ms = performance.now();
  noteServed(whose, now_ms);
  if (waiting.size === 0 && !isTurnOver() && !isResting(whose, now_ms)) {
    // Behind whatever follows in the present function.
    queueMicrotask(() => noteLength(whose, performance.now() - now_ms));
    return undefined;
  }
  return new Promise((begin) => {
    const own = waiting.get(whose);
    if (own === undefined) waiting.set(whose, [begin]);
    else own.push(begin);
    wake();
  });
}

function wake(): void {
  if (isServing) return;
  isServing = true;
  clearTimeout(alarm);
  setImmediate(serve);
}

/** Between a promise that is resolved and the work behind it there may be a few others. */
const ticks = 4;

/** Does what waits until the turn has had its time, but at least one piece of it, unless all of it rests. Never rejects. */
async function serve(): Promise<void> {
  const start_ms = performance.now();
  let now_ms = start_ms;
  do {
    const whose = nextOf(now_ms);
    if (whose === undefined) break;
    takeFirst(whose)();
    // Behind what was begun: continuations run in the order in which their promises were settled.
    for (let tick = 0; tick < ticks; tick += 1) await undefined;
    const end_ms = performance.now();
    noteLength(whose, end_ms - now_ms);
    now_ms = end_ms;
  } while (waiting.size > 0 && now_ms - start_ms <= longest_ms);
  isServing = false;
  if (waiting.size === 0) return;
  if (nextOf(now_ms) === undefined) alarm = setTimeout(wake, restsUntil_ms - now_ms);
  else wake();
}

/** The first whose work does not rest. */
function nextOf(now_ms: number): string | undefined {
  for (const whose of waiting.keys()) if (!isResting(whose, now_ms)) return whose;
  return undefined;
}

function takeFirst(whose: string): Begin {
  const own = waiting.get(whose)!;
  const begin = own.shift()!;
  // Behind all others: it is their turn now.
  waiting.delete(whose);
  if (own.length > 0) waiting.set(whose, own);
  return begin;
}

function noteServed(whose: string, now_ms: number): void {
  if (latest.whose === whose) {
    latest.at_ms = now_ms;
    return;
  }
  if (before.whose === whose) [latest, before] = [before, latest];
  else [latest, before] = [{ whose, at_ms: now_ms }, latest];
  latest.at_ms = now_ms;
}

const isAnybodyElse = (now_ms: number): boolean => now_ms - before.at_ms < remembered_ms;

function noteLength(whose: string, took_ms: number): void {
  if (took_ms <= longest_ms) {
    if (long.size > 0) long.delete(whose);
    return;
  }
  const now_ms = performance.now();
  for (const [other, at_ms] of long) if (now_ms - at_ms > remembered_ms) long.delete(other);
  long.set(whose, now_ms);
  restsUntil_ms = now_ms + Math.min(took_ms, longest_rest_ms);
}

function isResting(whose: string, now_ms: number): boolean {
  if (now_ms >= restsUntil_ms) return false;
  const at_ms = long.get(whose);
  return at_ms !== undefined && now_ms - at_ms < remembered_ms && isAnybodyElse(now_ms);
}
