import type { Paper } from '../paper.ts';
import type { PdfDocument } from './document.ts';
import type { Picture } from './picture.ts';
/** Draws a roll. */
export function drawRoll(_document: PdfDocument, _paper: Paper, _logo: Picture | undefined): void {}
