// Issues per second over HTTP on one series, one request at a time.
import { measureIssuing } from '../parts/issuing.mjs';

export const title = 'Issue, 1 in flight';
export const unit = 'per second';
export const measure = ({ bench, say }) => measureIssuing({ bench, say, width: 1, count: 200 });
