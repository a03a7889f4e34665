// `search` over HTTP beside ILIKE in SQL over every document, without HTTP: the worst of the classes of words.
import { listFigures } from '../parts/list-figures.mjs';
import { median } from '../parts/statistics.mjs';

export const title = 'Search ÷ ILIKE scan';
export const unit = 'ratio';
export const floor = { most: 0.1 };
export const goal = { most: 0.03 };

export async function measure(tools) {
  const { searches } = await listFigures(tools);
  const told = searches.map(({ kind, ours, plain }) => ({ kind, ours: median(ours), plain: median(plain) }));
  const worst = told.reduce((a, b) => (a.ours / a.plain > b.ours / b.plain ? a : b));
  const words = told.map(({ kind, ours, plain }) => `${kind} ${ours.toFixed(0)} of ${plain.toFixed(0)} ms`).join(', ');
  return { value: worst.ours / worst.plain, details: { words, worst: worst.kind, searches } };
}
