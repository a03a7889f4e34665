/** Pictures as figures of the structure: with words for those who do not see them, and where they stand. */
import type { PdfDocument } from './document.ts';
import { textString } from './file.ts';
import { decimal, type Page } from './page.ts';

/** A place on a page, in points from its upper left corner. */
export interface Frame {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Draws by operators whose unit is the frame's whole width and height, upwards. */
export function drawFigure(document: PdfDocument, page: Page, frame: Frame, alt: string, operators: string): void {
  const more = `/Alt${textString(alt)}/A<</O/Layout/Placement/Block>>`;
  document.within('Figure', (element) => page.mark(element, () => page.isolated(placed(frame, operators))), more);
}

function placed({ x, y, width, height }: Frame, operators: string): string {
  return `${decimal(width)} 0 0 ${decimal(height)} ${decimal(x)} ${decimal(-y - height)} cm ${operators}`;
}

/** The QR code in a frame, with its white margin, downwards from its upper edge. */
export function qrOperators({ path, modules }: { readonly path: string; readonly modules: number }): string {
  const unit = (1 / modules).toFixed(9);
  return `${unit} 0 0 -${unit} 0 1 cm 1 g 0 0 ${modules} ${modules} re f 0 g\n${path}f*`;
}
