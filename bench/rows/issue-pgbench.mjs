// The same issues against the same transaction in seven round trips, by 32 clients that want the same row of a series.
import { beside, issueRow } from '../parts/issue-figures.mjs';

export const title = 'Issue, 64 in flight ÷ pgbench, 7 round trips';
export const unit = 'ratio';
export const floor = { least: 4 };
export const goal = { least: 7 };

export const measure = (tools) => issueRow(tools, (figures) => beside(figures, figures.sevenTrips));
