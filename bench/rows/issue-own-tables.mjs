// The same issues against the same transaction in the product's own tables, in seven round trips, by 32 clients that want
// the same row of a series: what it is worth not to do it one document after the other.
import { beside, issueRow } from '../parts/issue-figures.mjs';

export const title = "Issue, 64 in flight ÷ pgbench in the product's tables, 7 round trips";
export const unit = 'ratio';

export const measure = (tools) => issueRow(tools, (figures) => beside(figures, figures.ownTables));
