// Issues per second over HTTP on one series, 64 in flight, each with an idempotency key, against what limits a chain of
// signatures by nature: how many a core can make and do nothing else.
import { issueRow } from '../parts/issue-figures.mjs';

export const title = 'Issue, 64 in flight ÷ RSA of one core';
export const unit = 'ratio';
export const floor = { least: 0.35 };
export const goal = { least: 0.6 };

export const measure = (tools) =>
  issueRow(tools, ({ perSecond, rsa, rsaTogether, ...rest }) => ({
    value: perSecond[64] / rsa,
    details: { words: wordsOf(perSecond[64], rsa, rsaTogether), perSecond, rsa, rsaTogether, ...rest },
  }));

function wordsOf(issued, rsa, rsaTogether) {
  return `${issued.toFixed(0)}/s of ${rsa.toFixed(0)}/s; all cores together sign ${rsaTogether.toFixed(0)}/s`;
}
