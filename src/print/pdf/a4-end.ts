/** The end of an A4 paper: totals, and at the foot of the last page ATCUD, QR code, notes and the company's words. */
import type { PaperTotals } from '../paper-totals.ts';
import { leftColumn } from './a4-head.ts';
import {
  drawOverPages,
  drawTogether,
  exemptionText,
  finalSum,
  heightOf,
  type Part,
  sumsBefore,
  vatRows,
} from './a4-money.ts';
import { drawFigure, qrOperators } from './figure.ts';
import { lineOf, type Paragraph, type Piece, paragraphOf } from './lines.ts';
import { styles, type } from './look.ts';
import { capitals, inside, leading, type Sheets, side } from './sheets.ts';

/** White above the totals, and above the QR code. */
const [aboveTotals, aboveFoot] = [20, 18];

/** The totals beside each other: what of them stands on the last page. */
export function totalsPart(sheets: Sheets, totals: PaperTotals): Part {
  const flows = sheets.paper.closing!.flows;
  const left = flows === 'rates' || flows === 'sums' ? undefined : leftPart(sheets, totals, flows === 'nothing');
  const sums = flows === 'sums' ? undefined : sumsBefore(sheets, totals);
  const before = sums === undefined || sums.rows.length === 0 ? undefined : sums;
  const final = finalSum(sheets, totals, before === undefined ? 0 : 9);
  // Its first line stands on the line of the heads of VAT per rate.
  const white = flows === 'sums' ? 0 : sheets.paper.closing!.ratePadding + capitals(type.small) - capitals(type.body);
  const right = white + (before === undefined ? 0 : heightOf(before)) + final.height;
  return {
    height: Math.max(left?.height ?? 0, right),
    draw: () => {
      const { y } = sheets;
      left?.draw();
      const leftEnd = sheets.y;
      sheets.y = y + white;
      if (before !== undefined) drawTogether(sheets, before);
      final.draw();
      sheets.y = Math.max(sheets.y, leftEnd);
    },
  };
}

/** VAT per rate, and the mentions of exemptions below. */
function leftPart(sheets: Sheets, totals: PaperTotals, hasMentions: boolean): Part | undefined {
  const vat = vatRows(sheets, totals);
  const mentions = hasMentions ? totals.exemptions.map((one) => exemptionText(sheets, one, leftColumn)) : [];
  if (vat === undefined && mentions.length === 0) return undefined;
  const table = vat === undefined ? 0 : heightOf(vat);
  const white = vat === undefined || mentions.length === 0 ? 0 : 0.9 * type.small;
  const text = mentions.reduce(
    (sum, { height }) => sum + height,
    Math.max(0, mentions.length - 1) * leading(type.small),
  );
  return {
    height: table + white + text,
    draw: () => {
      if (vat !== undefined) sheets.document.within('Table', () => drawTogether(sheets, vat));
      sheets.y += white;
      for (const mention of mentions) {
        drawText(sheets, mention, side, leftColumn);
        sheets.y += mention.height + leading(type.small);
      }
    },
  };
}

function drawText({ document, page, y }: Sheets, text: Paragraph, x: number, width: number): void {
  document.within('P', (element) => page.paragraph(text, { x, y, width }, element));
}

/** What flows over the pages before the last one, where it is more than one block can hold. */
export function drawFlowing(sheets: Sheets, totals: PaperTotals, ending: number): void {
  const { flows } = sheets.paper.closing!;
  if (flows === 'nothing') return;
  drawMentions(sheets, totals, flows === 'mentions' ? ending : 60);
  if (flows === 'mentions') return;
  const vat = vatRows(sheets, totals);
  if (vat !== undefined) {
    sheets.skip(aboveTotals);
    sheets.document.within('Table', () => drawOverPages(sheets, vat));
  }
  if (flows !== 'sums') return;
  sheets.skip(aboveTotals);
  drawOverPages(sheets, sumsBefore(sheets, totals));
}

/** The first and the last two do not stand alone, and none is cut. `ending`: what the last ones go along with. */
function drawMentions(sheets: Sheets, { exemptions }: PaperTotals, ending: number): void {
  const texts = exemptions.map((one) => exemptionText(sheets, one, inside));
  const white = leading(type.small);
  const heights = texts.map(({ height }) => height);
  for (const [index, text] of texts.entries()) {
    const isSecondLast = index === Math.max(0, texts.length - 2);
    const isFirst = index === 0;
    const needed = isSecondLast
      ? heights.slice(index).reduce((sum, height) => sum + height + white, ending)
      : text.height + (isFirst ? white + (heights[1] ?? 0) : 0);
    const above = isFirst ? aboveTotals : white;
    if (above + needed > sheets.room && !sheets.isEmpty) sheets.next();
    else sheets.skip(above);
    drawText(sheets, text, side, inside);
    sheets.y += text.height;
  }
}

/** The foot of the last page; `draw` draws it at the lower margin, wherever the text ended. */
export function footPart(sheets: Sheets): Part {
  const { document, paper } = sheets;
  const { qr, atcud, notes, notesAreLong, footer, labels } = paper;
  const width = qr.module * qr.modules;
  const code = lineOf(document.shaper, [{ text: atcud, style: styles.smallStrong }]);
  const place = inside - width - 16;
  const small = (lines: readonly string[]): Piece[][] => lines.map((text) => [{ text, style: styles.small }]);
  const hasNotes = notes.length > 0 && !notesAreLong;
  const noted = hasNotes
    ? paragraphOf(document.shaper, [[{ text: labels['notes']!, style: styles.faint }], ...small(notes)], {
        width: place,
        leading: leading(type.body),
      })
    : undefined;
  const words =
    footer.length > 0
      ? paragraphOf(
          document.shaper,
          footer.map((text): Piece[] => [{ text, style: styles.faint }]),
          { width: place, leading: leading(type.small) },
        )
      : undefined;
  const white = noted !== undefined && words !== undefined ? 10 : 0;
  const beside = (noted?.height ?? 0) + white + (words?.height ?? 0) + 8;
  const height = Math.max(code.height + 1 + width, beside);
  return {
    height,
    draw: () => {
      const { page } = sheets;
      const bottom = sheets.y + sheets.room;
      const top = bottom - height;
      document.within('P', (element) =>
        page.mark(element, () => page.line(code, { x: side, y: top + code.height, width })),
      );
      // The white margin of the code reaches into the page's, so that its dark edge stands on the axis of the text.
      const frame = { x: side - 4 * qr.module, y: top + code.height + 1, width, height: width };
      drawFigure(document, page, frame, qr.alt, qrOperators(qr));
      const x = side + width + 16;
      sheets.y = bottom - beside;
      if (noted !== undefined) drawText(sheets, noted, x, place);
      sheets.y += (noted?.height ?? 0) + white;
      if (words !== undefined) drawText(sheets, words, x, place);
      sheets.y = bottom;
    },
  };
}

/** What has to stand on one page behind the last lines, with the white between. */
export function endingHeight(totals: Part | undefined, foot: Part): number {
  return (totals === undefined ? 0 : aboveTotals + totals.height) + aboveFoot + foot.height;
}

/** Totals and foot, on the page where they fit together; where nothing makes them fit, one behind the other. */
export function drawEnding(sheets: Sheets, totals: Part | undefined, foot: Part): void {
  if (endingHeight(totals, foot) > sheets.room && !sheets.isEmpty) sheets.next();
  if (totals !== undefined) {
    sheets.skip(aboveTotals);
    totals.draw();
  }
  if (aboveFoot + foot.height > sheets.room && !sheets.isEmpty) sheets.next();
  foot.draw();
}
