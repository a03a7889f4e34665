// What three times the invoices cost in memory: nothing, since they pass through in portions.

import { saftFigures } from '../parts/saft-figures.mjs';
import { median } from '../parts/statistics.mjs';

export const title = 'SAF-T memory, 300,000 over 100,000';
export const unit = '×';
export const floor = { most: 1.2 };

export async function measure(tools) {
  const { exports, larger } = await saftFigures(tools);
  const smaller = median(exports.map((one) => one.peak_mib));
  const words = `${larger.peak_mib.toFixed(0)} and ${smaller.toFixed(0)} MiB, ${larger.seconds.toFixed(1)} s for 300,000`;
  return { value: larger.peak_mib / smaller, details: { words } };
}
