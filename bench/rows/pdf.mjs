// Processor time of one PDF (A4, ten lines).
import { pdfFigures } from '../parts/pdf-figures.mjs';

export const title = 'PDF of ten lines';
export const unit = 'ms CPU';
export const floor = { most: 10 };
export const goal = { most: 6 };

export const measure = (tools) => pdfFigures(tools, { count: 300, warmUp: 300, lines: 10, format: 'A4' });
