// Issues per second over HTTP on one series, one request at a time.
import { issueRow } from '../parts/issue-figures.mjs';

export const title = 'Issue, 1 in flight';
export const unit = 'per second';

export const measure = (tools) =>
  issueRow(tools, ({ perSecond, rounds }) => ({
    value: perSecond[1],
    details: { words: `half within ${rounds.map((round) => round[1].p50_ms.toFixed(1)).join(', ')} ms` },
  }));
