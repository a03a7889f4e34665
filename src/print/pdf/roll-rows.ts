/** The lines on a till roll, on as many pages as a PDF's limit makes of them, sums carried from one to the next. */
import type { Paper } from '../paper.ts';
import type { RollPage, RollRow } from '../paper-roll.ts';
import type { TableTags } from './document.ts';
import { type Line, lineOf, type Paragraph, type Piece } from './lines.ts';
import { gap, type Reel } from './reel.ts';
import { copyPiece, pageOf, unbroken } from './roll-words.ts';

/** White above and below what stands in a row. */
const padding = 4;

/** Draws all pages but what stands behind the lines on the last one. */
export function drawRows(reel: Reel, paper: Paper): void {
  const { roll, labels } = paper;
  for (const [index, page] of roll!.pages.entries()) {
    const before = roll!.pages[index - 1];
    if (before !== undefined) beginPage(reel, paper, index + 1, before);
    reel.white(before?.carried === undefined ? 0.8 * reel.body.size : 6);
    drawTable(reel, roll!.heads, page, paper.listsNumbers);
    if (page.carried === undefined) continue;
    carry(reel, labels['carriedForward']!, page.carried);
    reel.white(6);
    if (paper.program !== undefined) {
      reel.text(reel.smallLines([unbroken(paper.program)]), { leading: 0.5 * reel.body.size });
      reel.white(0.5 * reel.body.size);
    }
    reel.spread([{ text: paper.atcud, style: reel.small }], { text: pageOf(paper, index + 1), style: reel.small });
  }
}

function beginPage(reel: Reel, paper: Paper, number: number, { carried }: RollPage): void {
  const { issuer, title, numberInTitle, copy, saidAgain, labels } = paper;
  reel.next();
  reel.spread([{ text: issuer.name, style: reel.small }], { text: pageOf(paper, number), style: reel.small });
  reel.white(0.5 * reel.body.size);
  const named = { text: `${title} ${numberInTitle}`, style: reel.strong(reel.body.size) };
  reel.spread([named], copyPiece(reel, copy));
  if (saidAgain !== undefined) {
    reel.white(6);
    reel.text([[{ text: saidAgain, style: reel.strong(reel.small.size) }]], { isLiteral: true });
  }
  if (carried === undefined) return;
  carry(reel, labels['broughtForward']!, carried);
}

function carry(reel: Reel, word: string, sum: string): void {
  reel.white(6);
  reel.spread([{ text: word, style: reel.small }], { text: sum, style: reel.strong(reel.body.size) });
}

function drawTable(reel: Reel, heads: readonly (readonly string[])[], page: RollPage, isLiteral: boolean): void {
  const { document } = reel;
  const tags = document.table(2);
  document.within('Table', () => {
    document.within('THead', () => document.within('TR', () => drawHeads(reel, heads, tags)));
    document.within('TBody', () => {
      for (const row of page.rows) drawRow(reel, row, tags, isLiteral);
    });
  });
}

function drawHeads(reel: Reel, heads: readonly (readonly string[])[], tags: TableTags): void {
  const { document, left, width } = reel;
  const texts = heads.map((lines) => reel.layout(reel.smallLines(lines)));
  const height = Math.max(...texts.map((text) => text.height));
  const top = reel.place();
  reel.line(top);
  for (const [column, text] of texts.entries()) {
    const align = column === 0 ? ('left' as const) : ('right' as const);
    const spot = { x: left, y: top + padding + height - text.height, width, align };
    document.within(
      'TH',
      (element) => {
        tags.isHeadOf(element, column);
        reel.page.paragraph(text, spot, element);
      },
      tags.head(column),
    );
  }
  reel.advance(2 * padding + height);
  reel.line(top + 2 * padding + height);
}

/** A name above its terms, the amount beside these; beside the name where there are none; below all where none has room. */
function drawRow(reel: Reel, row: RollRow, tags: TableTags, isLiteral: boolean): void {
  const { shaper } = reel.document;
  const lines: Piece[][] = [[{ text: row.name, style: reel.strong(reel.body.size) }], ...reel.smallLines(row.detail)];
  const leading = 0.5 * reel.body.size;
  const amount = lineOf(shaper, [{ text: row.amount, style: reel.body }]);
  const beside = reel.width - amount.width - gap;
  if (row.terms.length === 0) {
    const words = reel.layout(lines, { leading, isLiteral, width: beside });
    drawBeside(reel, words, amount.height, padding, tags, (y) => reel.page.line(amount, amountSpot(reel, y)));
    return;
  }
  const words = reel.layout(lines, { leading, isLiteral });
  const terms = reel.layout(reel.smallLines(row.terms), { width: row.isStacked ? reel.width : beside });
  // However many lines they take, they stand so far below the name: half as much again as its own lines do.
  const white = 1.5 * leading;
  if (row.isStacked) {
    drawStacked(reel, words, terms, { amount, white, leading }, tags);
    return;
  }
  const y = reel.place() + padding;
  const { document, page, left, width } = reel;
  document.within('TR', () =>
    document.within('TD', (element) => page.paragraph(words, { x: left, y, width }, element), tags.across),
  );
  reel.advance(padding + words.height);
  drawBeside(reel, terms, amount.height, white, tags, (at) => page.line(amount, amountSpot(reel, at)));
}

/** One cell of all three. */
function drawStacked(
  reel: Reel,
  words: Paragraph,
  terms: Paragraph,
  { amount, white, leading }: { readonly amount: Line; readonly white: number; readonly leading: number },
  tags: TableTags,
): void {
  const { document, page, left, width } = reel;
  const top = reel.place() + padding;
  const below = top + words.height + white;
  const bottom = below + terms.height + leading + amount.height;
  document.within('TR', () =>
    document.within(
      'TD',
      (element) => {
        page.paragraph(words, { x: left, y: top, width }, element);
        page.paragraph(terms, { x: left, y: below, width }, element);
        page.mark(element, () => page.line(amount, amountSpot(reel, bottom)));
      },
      tags.across,
    ),
  );
  reel.advance(bottom - top + 2 * padding);
}

function amountSpot({ left, width }: Reel, y: number) {
  return { x: left, y, width, align: 'right' as const };
}

/** Two cells that stand on one line below. */
function drawBeside(
  reel: Reel,
  words: Paragraph,
  figure: number,
  above: number,
  tags: TableTags,
  draw: (y: number) => void,
): void {
  const { document } = reel;
  const height = Math.max(above + words.height, padding + figure);
  const bottom = reel.place() + height;
  document.within('TR', () => {
    document.within(
      'TD',
      (element) => reel.page.paragraph(words, { x: reel.left, y: bottom - words.height, width: reel.width }, element),
      tags.below(0),
    );
    document.within('TD', (element) => reel.page.mark(element, () => draw(bottom)), tags.below(1));
  });
  reel.advance(height + padding);
}
