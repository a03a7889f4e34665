/** How V8 is set for a service, which runs for weeks. */
import { setFlagsFromString } from 'node:v8';

/** So many cores the service, its signer and PostgreSQL keep busy by themselves. */
const most_taken_cores = 2;

/**
 * The young generation is V8's own affair: it grows to 2 × 16 MB under load and shrinks afterwards. Kept at 2 × 8 MB by
 * `--semi-space-growth-factor=1`, as it once was, it never grew again after it had shrunk in a quiet moment, and collecting
 * took a third of an issue's time.
 *
 * `version`: V8's own, as `process.versions.v8` says it. A flag that it does not know it would complain about on stderr.
 * `cores`: that this process may use.
 */
export function setV8ForService(version: string, cores: number): void {
  const major = Number.parseInt(version, 10);
  // A function is compiled for speed after a seventh of the work that V8 waits for: the first thousands of requests, which
  // V8 would take to find out, cost up to a half more. Since 12 (Node 22) it counts calls and has a compiler between.
  if (major < 12) setFlagsFromString('--interrupt-budget=10000');
  // The old generation is collected when it has grown by a third, not when it has doubled or more: some 90 MB less at its
  // peak, for no measurable time.
  setFlagsFromString('--heap-growing-percent=30');
  // Code that was not used for a while is kept: V8 gives it up after a few collections, which under load are seconds, and
  // reads and compiles it anew when a function of many runs of the program comes to be asked for again.
  setFlagsFromString('--no-flush-bytecode');
  // Helpers of the collector would take a core from PostgreSQL or the signer, and the service stands still until they have
  // had their turn: without them it collects as quickly, for less of the processor's time. V8 since 13 (Node 24), where it
  // has to mark without them, lets a service grow by 100 MB.
  if (cores > most_taken_cores) return;
  setFlagsFromString('--no-parallel-scavenge');
  if (major < 13) setFlagsFromString('--no-concurrent-marking');
}
