// How much longer the slowest in a hundred waits than the middle one.
import { issueRow } from '../parts/issue-figures.mjs';

export const title = 'Issue, 64 in flight, p99 ÷ p50';
export const unit = 'ratio';
export const floor = { most: 3 };
export const goal = { most: 2 };

export const measure = (tools) =>
  issueRow(tools, ({ tail, p50_ms, p99_ms }) => ({
    value: tail,
    details: { words: `half within ${p50_ms.toFixed(1)} ms, 99 % within ${p99_ms.toFixed(1)} ms` },
  }));
