// From a kill -9 under load to the next write that is done.
import { recoveryRow } from '../parts/recovery-figures.mjs';

export const title = 'Recovery after kill -9 of the service';
export const unit = 's';
export const goal = { most: 3 };

export const measure = (tools) => recoveryRow(tools, 'service');
