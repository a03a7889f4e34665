// The first page of a list over HTTP, one request after the other: a company with a million documents waits no longer for
// it than one with ten thousand.
import { listFigures } from '../parts/list-figures.mjs';
import { median } from '../parts/statistics.mjs';

export const title = 'First page, 1,000,000 ÷ 10,000 documents';
export const unit = '×';
export const floor = { most: 2 };
export const goal = { most: 1.2 };

export async function measure(tools) {
  const { count, first } = await listFigures(tools);
  const [small, large] = [median(first.small), median(first.large)];
  const words = `99 % within ${large.toFixed(1)} ms of ${count} documents, ${small.toFixed(1)} ms of 10000`;
  return { value: large / small, details: { words, ...first } };
}
