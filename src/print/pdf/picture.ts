/** A logo that can be drawn. */
import type { PdfDocument } from './document.ts';
import { drawFigure, type Frame } from './figure.ts';
import type { Page } from './page.ts';

export interface Picture {
  /** Of these only the ratio counts. */
  readonly width: number;
  readonly height: number;
  /** Adds it to a file. Returns its object, whose unit is its whole width and height. */
  readonly add: (document: PdfDocument) => number;
}

/** Draws it in the middle of a frame, as large as it gets there; `alt` says what it is to those who do not see it. */
export function drawPicture(document: PdfDocument, page: Page, picture: Picture, frame: Frame, alt: string): void {
  const scale = Math.min(frame.width / picture.width, frame.height / picture.height);
  const [width, height] = [picture.width * scale, picture.height * scale];
  const x = frame.x + (frame.width - width) / 2;
  const y = frame.y + (frame.height - height) / 2;
  document.resource('XObject', 'Logo', `${picture.add(document)} 0 R`);
  drawFigure(document, page, { x, y, width, height }, alt, '/Logo Do');
}
