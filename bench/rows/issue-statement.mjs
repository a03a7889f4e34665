// The same issues against the same transaction as one statement: what the database would take if nothing else were done.
import { beside, issueRow } from '../parts/issue-figures.mjs';

export const title = 'Issue, 64 in flight ÷ pgbench, one statement';
export const unit = 'ratio';

export const measure = (tools) => issueRow(tools, (figures) => beside(figures, figures.oneStatement));
