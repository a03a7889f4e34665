/** How work grows with its size, on a machine that does other work at the same time. */

const times = 64;
const rounds = 5;

/**
 * The time of 64 times the work of `size`, divided by the time of that of `size`: about 64 where it grows with the size,
 * 4,096 where it grows with the square. Processor time of this process, the shortest of some rounds. `prepare` makes what
 * the work needs, and is not counted.
 */
export async function growth(prepare: (size: number) => () => unknown, size: number): Promise<number> {
  const [few, many] = [prepare(size), prepare(size * times)];
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < rounds; round += 1) {
    // The large work first: what is compiled meanwhile does not slow down the small one, which would hide a square.
    large = Math.min(large, await spent(many, 1));
    // Several times, since the clock counts in microseconds and the work may take a few hundred.
    small = Math.min(small, (await spent(few, 8)) / 8);
    // Plainly not the square of it.
    if (large < small * times * 2) break;
  }
  return large / small;
}

/**
 * Eight times what linear work has, and an eighth of what a square has. Beside other programs, large work was measured to
 * take up to five times its time (29 to 41 where 8 was expected): the processor's caches are theirs, and the threads of the
 * garbage collector wait for each other.
 */
export const no_square = 512;

async function spent(work: () => unknown, often: number): Promise<number> {
  const from = process.cpuUsage();
  for (let i = 0; i < often; i += 1) await work();
  const { user, system } = process.cpuUsage(from);
  return user + system;
}
