// SAF-T of 100,000 invoices of three lines, from the database into a file, against xmllint reading and validating that
// file: a yardstick that goes with the machine. Without xmllint the seconds are told.

import { hasXmllint, saftFigures } from '../parts/saft-figures.mjs';
import { median } from '../parts/statistics.mjs';

export const title = 'SAF-T of 100,000 invoices';
export const unit = hasXmllint ? '× xmllint' : 's';
export const floor = hasXmllint ? { most: 1.5 } : undefined;

export async function measure(tools) {
  const { exports, xmllint_seconds, check_seconds } = await saftFigures(tools);
  const seconds = median(exports.map((one) => one.seconds));
  const megabytes = (exports[0].bytes / 1e6).toFixed(0);
  const words = `${seconds.toFixed(1)} s for ${megabytes} MB; our own check of it ${check_seconds.toFixed(1)} s`;
  const yardstick = hasXmllint ? median(xmllint_seconds) : 1;
  return { value: seconds / yardstick, details: { words, exports, xmllint_seconds, check_seconds } };
}
