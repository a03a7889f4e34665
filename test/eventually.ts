/**
 * Asks again and again until it is so, and returns what came then; the last difference is the failure. A minute: only who
 * fails waits for so long, and a machine that does other work at the same time may need much of it.
 */
export async function eventually<T>(check: () => Promise<T> | T, milliseconds = 60_000): Promise<T> {
  const end = performance.now() + milliseconds;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
