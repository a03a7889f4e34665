// Processor time of one PDF (A4, ten lines) after warm-up, all threads of the process counted.
import { start } from '../parts/children.mjs';
import { median } from '../parts/report.mjs';

export const title = 'PDF of ten lines';
export const unit = 'ms CPU';
export const floor = { most: 10 };
export const goal = { most: 6 };

export async function measure({ say }) {
  const rounds = [];
  for (let round = 1; round <= 3; round++) {
    say(`round ${round} of 3`);
    const child = start('pdf-process.mjs');
    rounds.push(await child.ask({ count: 300 }));
  }
  const value = median(rounds.map(({ cpu_ms }) => cpu_ms));
  const wall = median(rounds.map(({ wall_ms }) => wall_ms));
  return {
    value,
    details: { words: `${wall.toFixed(1)} ms by the clock, ${rounds[0].kilobytes.toFixed(0)} kB each`, rounds },
  };
}
