/** An A4 paper: letterhead and title, buyer and dates, lines, totals, QR code at the foot of the last page. */
import type { Paper } from '../paper.ts';
import { drawEnding, drawFlowing, endingHeight, footPart, totalsPart } from './a4-end.ts';
import { drawHead } from './a4-head.ts';
import { LineTable } from './a4-table.ts';
import type { PdfDocument } from './document.ts';
import { type Piece, paragraphOf } from './lines.ts';
import { styles, type } from './look.ts';
import type { Picture } from './picture.ts';
import { capitals, inside, leading, Sheets, side } from './sheets.ts';

/** Draws all of its pages. */
export function drawA4(document: PdfDocument, paper: Paper, logo: Picture | undefined): void {
  const sheets = new Sheets(document, paper);
  drawHead(sheets, logo);
  const { totals, notesAreLong, closing, table } = paper;
  const isWhole = closing?.flows === 'nothing';
  const kept = notesAreLong || !isWhole ? 0 : table!.kept;
  const foot = footPart(sheets);
  const money = totals === undefined ? undefined : totalsPart(sheets, totals);
  const ending = endingHeight(money, foot);
  new LineTable(sheets, table!).draw(kept, ending);
  if (notesAreLong) drawNotes(sheets, isWhole ? ending : 0);
  if (totals !== undefined) drawFlowing(sheets, totals, ending);
  drawEnding(sheets, money, foot);
  sheets.finish();
}

/** Notes that may fill pages, under their label. `ending`: the height of what follows at once. */
function drawNotes(sheets: Sheets, ending: number): void {
  const { document, paper } = sheets;
  const label = paragraphOf(document.shaper, [[{ text: paper.labels['notes']!, style: styles.faint }]], {
    width: inside,
    leading: 0,
  });
  const notes = paragraphOf(
    document.shaper,
    paper.notes.map((text): Piece[] => [{ text, style: styles.small }]),
    { width: inside, leading: leading(type.small) },
  );
  const needed = 18 + label.height + 6 + 2 * capitals(type.small) + leading(type.small);
  if (needed > sheets.room) sheets.next();
  else sheets.skip(18);
  document.within('P', (element) => sheets.page.paragraph(label, { x: side, y: sheets.y, width: inside }, element));
  sheets.y += label.height + 6;
  sheets.flow('P', notes, ending);
}
