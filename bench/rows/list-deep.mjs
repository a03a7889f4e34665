// A page in the middle of the list, over HTTP, beside the plain OFFSET in SQL without HTTP.
import { listFigures } from '../parts/list-figures.mjs';
import { median } from '../parts/statistics.mjs';

export const title = 'Page in the middle ÷ plain OFFSET';
export const unit = 'ratio';
export const floor = { most: 0.25 };
export const goal = { most: 0.05 };

export async function measure(tools) {
  const { count, deep } = await listFigures(tools);
  const [ours, plain] = [median(deep.ours), median(deep.plain)];
  const words = `${ours.toFixed(0)} ms of ${plain.toFixed(0)} ms at offset ${Math.floor(count / 2)}`;
  return { value: ours / plain, details: { words, ...deep } };
}
