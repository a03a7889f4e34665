// Peak resident memory of the process that exports 100,000 invoices.
import { saftFigures } from '../parts/saft-figures.mjs';

export const title = 'Peak memory of that SAF-T';
export const unit = 'MiB';
export const floor = { most: 250 };

export async function measure(tools) {
  const { exports } = await saftFigures(tools);
  return { value: Math.max(...exports.map((one) => one.peak_mib)), details: { words: `largest of ${exports.length}` } };
}
