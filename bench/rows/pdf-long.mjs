// Processor time of one PDF of many pages (A4, 300 lines): sums carried from page to page.
import { pdfFigures } from '../parts/pdf-figures.mjs';

export const title = 'PDF of 300 lines';
export const unit = 'ms CPU';
export const floor = { most: 100 };
export const goal = { most: 60 };

export const measure = (tools) => pdfFigures(tools, { count: 20, warmUp: 10, lines: 300, format: 'A4' });
