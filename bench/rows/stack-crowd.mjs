// A draft and its issue over HTTP by 32 clients at once, against the usual stack (bench/comparator) doing the same.
import { stackRow } from '../parts/stack-figures.mjs';

export const title = 'Create and issue ÷ usual stack, 32 clients';
export const unit = 'ratio';
export const floor = { least: 6 };
export const goal = { least: 10 };

export const measure = (tools) => stackRow(tools, 32);
