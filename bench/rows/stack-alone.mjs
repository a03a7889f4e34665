// A draft and its issue over HTTP by one client, against the usual stack (bench/comparator) doing the same.
import { stackRow } from '../parts/stack-figures.mjs';

export const title = 'Create and issue ÷ usual stack, 1 client';
export const unit = 'ratio';
export const floor = { least: 3 };
export const goal = { least: 4 };

export const measure = (tools) => stackRow(tools, 1);
