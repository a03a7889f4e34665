/** Reads PDFs back: text as it stands on the page, marks of PDF/A, and pages as pictures. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createCanvas } from '@napi-rs/canvas';
import { getDocument, type PDFDocumentProxy, type PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import type { PaperFormat } from '../../src/print/input.ts';

// By default the reader is fetched from the network.
const wasmBinary = new Uint8Array(
  readFileSync(createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm')),
).buffer;
prepareZXingModule({ overrides: { wasmBinary } });

/** A piece of text and where it stands, in points from the lower left corner. */
export interface Piece {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Opens a PDF; the caller ends it with `destroy()`. */
export async function openPdf(pdf: Uint8Array): Promise<PDFDocumentProxy> {
  return getDocument({ data: new Uint8Array(pdf), verbosity: 0 }).promise;
}

export async function pagesOf(document: PDFDocumentProxy): Promise<PDFPageProxy[]> {
  return Promise.all(Array.from({ length: document.numPages }, (_, index) => document.getPage(index + 1)));
}

export async function piecesOf(page: PDFPageProxy): Promise<Piece[]> {
  const { items } = await page.getTextContent();
  return items.flatMap((item) =>
    'str' in item && item.str.trim() !== ''
      ? [{ text: item.str, x: item.transform[4], y: item.transform[5], width: item.width }]
      : [],
  );
}

/** Where text ends at the latest, in points from the left, to the tenth. */
export function rightEdgeOf(page: PDFPageProxy, format: PaperFormat): number {
  const margin = { A4: 56.4, RECEIPT: 11.2, RECEIPT_58: 14 }[format];
  return page.view[2]! - margin + 0.1;
}

/** The page as lines of text, top to bottom; pieces far apart stand apart by " | ". Special spaces become plain. */
export async function linesOf(page: PDFPageProxy): Promise<string[]> {
  const rows = new Map<number, Piece[]>();
  for (const piece of await piecesOf(page)) {
    const row = Math.round(piece.y / 2);
    rows.set(row, [...(rows.get(row) ?? []), piece]);
  }
  return [...rows]
    .sort(([a], [b]) => b - a)
    .map(([, pieces]) => joined(pieces.sort((a, b) => a.x - b.x)))
    .map((line) => line.replace(/[\u00a0\u202f\u2002]/g, ' ').replaceAll('\u200b', ''));
}

function joined(pieces: readonly Piece[]): string {
  let end = 0;
  return pieces.reduce((line, piece) => {
    const gap = piece.x - end;
    end = piece.x + piece.width;
    return line === '' ? piece.text : `${line}${gap > 8 ? ' | ' : gap > 1 ? ' ' : ''}${piece.text}`;
  }, '');
}

/** All text of the document, pages after one another. */
export async function textOf(pdf: Uint8Array): Promise<string> {
  const document = await openPdf(pdf);
  const pages = await Promise.all((await pagesOf(document)).map(linesOf));
  await document.destroy();
  return pages.map((lines, index) => `── page ${index + 1} ──\n${lines.join('\n')}\n`).join('');
}

/** The QR codes on a page: what they say, and the box of the symbol in points from the lower left corner. */
export async function qrCodesOf(page: PDFPageProxy) {
  const scale = 3;
  const viewport = page.getViewport({ scale });
  const canvas = createCanvas(viewport.width, viewport.height);
  await page.render({ canvas: canvas as never, viewport }).promise;
  const { data, width, height } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const found = await readBarcodes({ data, width, height, colorSpace: 'srgb' } as ImageData, {
    formats: ['QRCode'],
    maxNumberOfSymbols: 4,
  });
  return found.map(({ text, ecLevel, version, position }) => ({
    text,
    ecLevel,
    version,
    left: position.topLeft.x / scale,
    top: (height - position.topLeft.y) / scale,
    width: (position.topRight.x - position.topLeft.x) / scale,
    height: (position.bottomLeft.y - position.topLeft.y) / scale,
  }));
}
