/**
 * V8 lets its young generation grow to 2 × 16 MB per thread under load, most of it garbage in waiting. A service keeps
 * 2 × 8 MB: over 1,000 issued invoices and 100 PDFs it peaks tens of MB lower, for a few per cent more collecting.
 * It is done here because the flag for it (--max-semi-space-size) counts only on Node's own command line.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const wanted_bytes = 16 * 1024 * 1024;
const most_rounds = 200;

/** Lets the young generation grow to its working size (some 10 ms), then no further. */
export function keepYoungGenerationSmall(): void {
  let alive: unknown[] = [];
  for (let round = 0; round < most_rounds && size() < wanted_bytes; round++) {
    for (let i = 0; i < 5000; i++) alive.push({ i });
    if (alive.length > 40_000) alive = [];
  }
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=50');
}

function size(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? wanted_bytes;
}
