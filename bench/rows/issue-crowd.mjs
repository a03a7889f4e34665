// Issues per second over HTTP on one series, 32 requests at a time.
import { measureIssuing } from '../parts/issuing.mjs';

export const title = 'Issue, 32 in flight';
export const unit = 'per second';
export const measure = ({ bench, say }) => measureIssuing({ bench, say, width: 32, count: 600 });
