/** The money on a till roll: sums, the total, its value in euros, VAT per rate, mentions of exemptions. */
import type { Paper } from '../paper.ts';
import type { PaperTotals, Sum } from '../paper-totals.ts';
import { lineOf, type Paragraph, type Piece, type Style } from './lines.ts';
import { gap, type Reel } from './reel.ts';

/** Draws all of it below a rule. */
export function drawMoney(reel: Reel, paper: Paper, totals: PaperTotals): void {
  reel.rule();
  drawSums(reel, [...totals.sums, ...totals.afterGross], reel.body, 4.5);
  reel.white(8);
  drawFinal(reel, paper, totals.final);
  reel.white(8);
  if (totals.euros.length > 0) {
    reel.rule(true);
    reel.text(reel.smallLines([paper.labels['counterValue']!]), {});
    reel.white(5);
    drawSums(reel, totals.euros, reel.small, 3.5);
  }
  if (totals.vat !== undefined) {
    reel.rule(true);
    drawVat(reel, totals.vat, paper.roll!.vatIsStacked);
  }
  if (totals.exemptions.length === 0) return;
  reel.white(paper.roll!.vatIsStacked ? 5 : 0.8 * reel.small.size);
  reel.text(
    totals.exemptions.map(({ code, mention }): Piece[] => [
      { text: code, style: reel.strong(reel.small.size) },
      { text: mention, style: reel.small, before: 4 },
    ]),
    {},
  );
}

function drawSums(reel: Reel, sums: readonly Sum[], style: Style, white: number): void {
  for (const [index, { label, value, note }] of sums.entries()) {
    if (index > 0) reel.white(white);
    const lines: Piece[][] = [[{ text: label, style }], ...(note === undefined ? [] : reel.smallLines([note]))];
    reel.pair(lines, { text: value, style }, 0.5 * style.size);
  }
}

function drawFinal(reel: Reel, { roll }: Paper, { label, english, value }: PaperTotals['final']): void {
  const { document, left, width } = reel;
  const { size, isStacked } = roll!.final!;
  const figure = lineOf(document.shaper, [{ text: value, style: reel.strong(size) }]);
  const lines: Piece[][] = [
    [{ text: label, style: reel.strong(reel.large) }],
    ...(english === undefined ? [] : reel.smallLines([english])),
  ];
  const leading = 0.5 * reel.body.size;
  const words = reel.layout(lines, { leading, width: isStacked ? width : width - figure.width - gap });
  const top = reel.place();
  const height = isStacked ? words.height + leading + figure.height : Math.max(words.height, figure.height);
  const first = isStacked ? top : top + height - words.height;
  document.within('P', (element) => {
    reel.page.paragraph(words, { x: left, y: first, width }, element);
    reel.page.mark(element, () => reel.page.line(figure, { x: left, y: top + height, width, align: 'right' }));
  });
  reel.advance(height);
}

type Vat = NonNullable<PaperTotals['vat']>;

const vatPadding = 2;

function drawVat(reel: Reel, { heads, rows }: Vat, isStacked: boolean): void {
  if (isStacked) {
    for (const [index, row] of rows.entries()) {
      if (index > 0) reel.white(5);
      for (const [column, value] of row.entries()) {
        if (column > 0) reel.white(3);
        reel.pair(reel.smallLines([heads[column]!.join(' / ')]), { text: value, style: reel.small });
      }
    }
    return;
  }
  const { document } = reel;
  const tags = document.table(3);
  const laid = rows.map((row) => row.map((text) => reel.layout(reel.smallLines([text]))));
  const headed = heads.map((lines) => reel.layout(reel.smallLines(lines)));
  const widest = (column: number) => Math.max(...[headed, ...laid].map((row) => row[column]!.width));
  const right = reel.left + reel.width;
  const edges = [right, right - widest(2) - gap, right];
  const draw = (texts: readonly Paragraph[], role: 'TH' | 'TD') => {
    const top = reel.place() + vatPadding;
    document.within('TR', () => {
      for (const [column, text] of texts.entries()) {
        const width = edges[column]! - reel.left;
        const spot = { x: reel.left, y: top, width, align: column === 0 ? ('left' as const) : ('right' as const) };
        document.within(
          role,
          (element) => {
            if (role === 'TH') tags.isHeadOf(element, column);
            reel.page.paragraph(text, spot, element);
          },
          role === 'TH' ? tags.head(column) : tags.below(column),
        );
      }
    });
    reel.advance(2 * vatPadding + Math.max(...texts.map((text) => text.height)));
  };
  document.within('Table', () => {
    document.within('THead', () => draw(headed, 'TH'));
    document.within('TBody', () => {
      for (const row of laid) draw(row, 'TD');
    });
  });
}
