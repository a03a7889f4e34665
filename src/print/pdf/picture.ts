/** A logo that can be drawn. */
import type { PdfDocument } from './document.ts';
import type { Page } from './page.ts';

/** A place on a page, in points from its upper left corner. */
export interface Frame {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Picture {
  /** Of these only the ratio counts. */
  readonly width: number;
  readonly height: number;
  /** In the middle of the frame, as large as it gets there; `alt` says what it is to those who do not see it. */
  readonly draw: (document: PdfDocument, page: Page, frame: Frame, alt: string) => void;
}
