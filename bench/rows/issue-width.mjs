// Whether more requests at once give more documents, although one series numbers one after the other.
import { issueRow } from '../parts/issue-figures.mjs';

export const title = 'Issue, 64 in flight ÷ 8 in flight';
export const unit = 'ratio';
export const floor = { least: 1.5 };
export const goal = { least: 2 };

export const measure = (tools) =>
  issueRow(tools, ({ perSecond }) => ({
    value: perSecond[64] / perSecond[8],
    details: { words: `${perSecond[64].toFixed(0)}/s and ${perSecond[8].toFixed(0)}/s` },
  }));
