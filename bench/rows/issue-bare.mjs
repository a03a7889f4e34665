// The same issues against those of a service of the same parts that keeps no rule: what is left is the product's own.
import { issueRow } from '../parts/issue-figures.mjs';

export const title = 'Issue, 64 in flight ÷ the bare parts';
export const unit = 'ratio';

export const measure = (tools) =>
  issueRow(tools, ({ perSecond, bare, rsa }) => ({
    value: perSecond[64] / bare,
    details: {
      words: `${perSecond[64].toFixed(0)}/s of ${bare.toFixed(0)}/s, which is ${(bare / rsa).toFixed(2)} of RSA`,
      bare,
    },
  }));
