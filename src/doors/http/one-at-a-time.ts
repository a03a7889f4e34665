/**
 * While one is under way, all who ask meanwhile get what it brings, in the order in which they asked: what needs no
 * credential costs the database one query at a time, however many ask.
 */
export function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}
