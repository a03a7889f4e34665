/** Asks again and again until it is so; the last difference is the failure. */
export async function eventually(check: () => Promise<void>, milliseconds = 10_000): Promise<void> {
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
