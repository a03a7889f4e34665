// Processor time of one PDF after warm-up, all threads of the process counted: the median of as many processes as rounds.
import { start } from './children.mjs';
import { median } from './statistics.mjs';

export async function pdfFigures({ say, rounds: processes }, asked) {
  const rounds = [];
  for (let round = 1; round <= processes; round++) {
    say(`round ${round} of ${processes}`);
    const child = start('pdf-process.mjs');
    rounds.push(await child.ask(asked));
  }
  const value = median(rounds.map(({ cpu_ms }) => cpu_ms));
  const wall = median(rounds.map(({ wall_ms }) => wall_ms));
  return {
    value,
    details: { words: `${wall.toFixed(1)} ms by the clock, ${rounds[0].kilobytes.toFixed(0)} kB each`, rounds },
  };
}
