/** How work grows with its size, whatever else the machine does. */

const times = 8;
const rounds = 5;

/**
 * How often the work of `size` is done by that of eight times as much: about 8 where it grows as its size does, 64 where it
 * grows with the square. Of the processor's time of this process, the least of some rounds.
 */
export async function growth(work: (size: number) => unknown, size: number): Promise<number> {
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < rounds; round += 1) {
    // As much work on both sides of the comparison, so that neither is lost in the clock's grain.
    small = Math.min(small, (await spent(() => work(size), times)) / times);
    large = Math.min(large, await spent(() => work(size * times), 1));
    // Plainly not the square of it.
    if (large < small * times * 2) break;
  }
  return large / small;
}

/** Between 8 and 64, far from both. */
export const no_square = 24;

async function spent(work: () => unknown, often: number): Promise<number> {
  const from = process.cpuUsage();
  for (let i = 0; i < often; i += 1) await work();
  const { user, system } = process.cpuUsage(from);
  return user + system;
}
