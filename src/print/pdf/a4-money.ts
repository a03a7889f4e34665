/** The money at the end of an A4 paper: VAT per rate at the left, sums and the total at the right. */
import { vatGap } from '../measures.ts';
import type { PaperTotals, Sum } from '../paper-totals.ts';
import { axis, leftColumn, rightColumn } from './a4-head.ts';
import { lineOf, type Paragraph, type Piece, paragraphOf } from './lines.ts';
import { fills, strokes, styled, styles, type } from './look.ts';
import { colourOf } from './page.ts';
import { capitals, leading, type Sheets, side } from './sheets.ts';

/** A part of the paper that is laid out, so high, and is drawn from the place that it gets. */
export interface Part {
  readonly height: number;
  readonly draw: () => void;
}

/** Rows that go on over pages: of VAT per rate, under their heads; of sums. */
export interface Rows {
  readonly head?: Part | undefined;
  readonly rows: readonly Part[];
  /** Between the rows. */
  readonly gap: number;
}

/** VAT per rate, as a table. */
export function vatRows(sheets: Sheets, totals: PaperTotals): Rows | undefined {
  const { vat } = totals;
  const { closing, measures } = sheets.paper;
  if (vat === undefined) return undefined;
  const padding = closing!.ratePadding;
  const widths = measures!.vat!.widths;
  const first = leftColumn - widths.reduce((sum, width) => sum + width + vatGap, 0);
  const edges = [side + first, side + leftColumn - widths[1]! - vatGap, side + leftColumn];
  const tags = sheets.document.table(3);
  const cells = (texts: readonly Paragraph[], role: 'TH' | 'TD') => {
    const { document, page, y } = sheets;
    document.within('TR', () => {
      for (const [column, text] of texts.entries()) {
        const spot = { x: side, y: y + padding, width: column === 0 ? first : edges[column]! - side };
        document.within(
          role,
          (element) => {
            if (role === 'TH') tags.isHeadOf(element, column);
            page.paragraph(text, { ...spot, align: column === 0 ? 'left' : 'right' }, element);
          },
          role === 'TH' ? tags.head(column) : tags.below(column),
        );
      }
    });
  };
  const laid = (lines: readonly string[], column: number, isHead: boolean) =>
    paragraphOf(
      sheets.document.shaper,
      lines.map((text): Piece[] => [{ text, style: isHead ? styles.faint : styles.small }]),
      { width: column === 0 && !isHead ? first : leftColumn, leading: leading(type.small) },
    );
  const heads = vat.heads.map((lines, column) => laid(lines, column, true));
  const headHeight = 2 * padding + Math.max(...heads.map(({ height }) => height));
  let isFirst = true;
  const head: Part = {
    height: headHeight,
    draw: () => {
      const draw = () => cells(heads, 'TH');
      if (isFirst) sheets.document.within('THead', draw);
      else sheets.page.artifact(() => drawAgain(sheets, heads, edges, padding));
      isFirst = false;
      sheets.y += headHeight;
      sheets.page.rule(side, sheets.y, leftColumn, strokes.hairline);
    },
  };
  const rows = vat.rows.map((row): Part => {
    const texts = row.map((text, column) => laid([text], column, false));
    const height = 2 * padding + Math.max(...texts.map((text) => text.height));
    return {
      height,
      draw: () => {
        cells(texts, 'TD');
        sheets.y += height;
      },
    };
  });
  return { head, rows, gap: 0 };
}

/** Heads on a further page. */
function drawAgain({ page, y }: Sheets, heads: readonly Paragraph[], edges: readonly number[], padding: number): void {
  for (const [column, { lines, leading: white }] of heads.entries()) {
    let at = y + padding;
    for (const line of lines) {
      at += line.height;
      const width = column === 0 ? leftColumn : edges[column]! - side;
      page.line(line, { x: side, y: at, width, align: column === 0 ? 'left' : 'right' });
      at += white;
    }
  }
}

/** An exemption's mention. */
export function exemptionText(
  sheets: Sheets,
  { code, mention }: PaperTotals['exemptions'][number],
  width: number,
): Paragraph {
  return paragraphOf(
    sheets.document.shaper,
    [
      [
        { text: code, style: styles.smallStrong },
        { text: mention, style: styles.small, before: 6 },
      ],
    ],
    { width, leading: leading(type.small) },
  );
}

/** Labels at the left, figures at the right. */
export function sumRows(sheets: Sheets, entries: readonly Sum[], size: number, gap: number, figures: number): Rows {
  const { document } = sheets;
  const width = rightColumn - 12 - figures;
  const rows = entries.map(({ label, value, note }): Part => {
    const style = styled(size);
    const lines: Piece[][] = [
      [{ text: label, style }],
      ...(note === undefined ? [] : [[{ text: note, style: styles.faint }]]),
    ];
    const text = paragraphOf(document.shaper, lines, { width, leading: leading(size) });
    const sum = lineOf(document.shaper, [{ text: value, style }]);
    const height = Math.max(text.height, sum.height);
    return {
      height,
      draw: () => {
        const { page, y } = sheets;
        document.within('P', (element) => {
          page.paragraph(text, { x: axis, y, width }, element);
          page.mark(element, () => page.line(sum, { x: axis, y: y + sum.height, width: rightColumn, align: 'right' }));
        });
        sheets.y += height;
      },
    };
  });
  return { rows, gap };
}

/** What leads to the total. */
export function sumsBefore(sheets: Sheets, totals: PaperTotals): Rows {
  const figures = sheets.paper.measures!.sums;
  return sumRows(sheets, [...totals.sums, ...totals.afterGross], type.body, 7.5, figures);
}

/** The total below its line, and its value in euros. `above`: the white above the line, where sums stand there. */
export function finalSum(sheets: Sheets, { final, euros }: PaperTotals, above: number): Part {
  const { document, paper } = sheets;
  const value = lineOf(document.shaper, [{ text: final.value, style: styled(type.largest, 1) }]);
  const lines: Piece[][] = [
    [{ text: final.label, style: styled(type.large, 1) }],
    ...(final.english === undefined ? [] : [[{ text: final.english, style: styles.faint }]]),
  ];
  const beside = rightColumn - 12 - paper.measures!.final;
  // The words stand above a figure that leaves no room for the longest of them: none is cut.
  const words = lines.flat().flatMap(({ text, style }) => text.split(' ').map((word) => [{ text: word, style }]));
  const isAbove = words.some((word) => lineOf(document.shaper, word).width > beside);
  const width = isAbove ? rightColumn : beside;
  const label = paragraphOf(document.shaper, lines, { width, leading: leading(type.body) });
  const height = isAbove ? label.height + leading(type.large) + value.height : Math.max(value.height, label.height);
  const inEuros = euros.length === 0 ? undefined : sumRows(sheets, euros, type.small, 5.5, paper.measures!.euros);
  const head = capitals(type.small) + 6;
  return {
    height: above + 9 + height + (inEuros === undefined ? 0 : 14 + head + heightOf(inEuros)),
    draw: () => {
      const { page } = sheets;
      page.rule(axis, sheets.y + above, rightColumn, `1 w ${colourOf(paper.accent, 'RG')}`);
      const end = sheets.y + above + 9 + height;
      document.within('P', (element) => {
        const top = isAbove ? end - height : end - label.height;
        page.paragraph(label, { x: axis, y: top, width }, element);
        page.mark(element, () => page.line(value, { x: axis, y: end, width: rightColumn, align: 'right' }));
      });
      sheets.y = end;
      if (inEuros === undefined) return;
      sheets.y += 14;
      const words = paragraphOf(
        document.shaper,
        [[{ text: paper.labels['counterValue']!, style: styled(type.small, 0, fills.quiet) }]],
        {
          width: rightColumn,
          leading: leading(type.small),
        },
      );
      document.within('P', (element) => page.paragraph(words, { x: axis, y: sheets.y, width: rightColumn }, element));
      sheets.y += head;
      drawTogether(sheets, inEuros);
    },
  };
}

/** Of all rows on one page. */
export function heightOf({ head, rows, gap }: Rows): number {
  return (head?.height ?? 0) + rows.reduce((sum, row) => sum + row.height, gap * Math.max(0, rows.length - 1));
}

/** All rows, on this page. */
export function drawTogether(sheets: Sheets, { head, rows, gap }: Rows): void {
  head?.draw();
  const draw = () => {
    for (const [index, row] of rows.entries()) {
      if (index > 0) sheets.y += gap;
      row.draw();
    }
  };
  if (head === undefined) draw();
  else sheets.document.within('TBody', draw);
}

/** The rows over as many pages as they take, the heads again on each. */
export function drawOverPages(sheets: Sheets, { head, rows, gap }: Rows): void {
  const needed = (head?.height ?? 0) + (rows[0]?.height ?? 0);
  if (needed > sheets.room && !sheets.isEmpty) sheets.next();
  head?.draw();
  const draw = () => {
    for (const [index, row] of rows.entries()) {
      const white = index > 0 ? gap : 0;
      if (white + row.height > sheets.room && !sheets.isEmpty) {
        sheets.next();
        head?.draw();
      } else sheets.y += white;
      row.draw();
    }
  };
  if (head === undefined) draw();
  else sheets.document.within('TBody', draw);
}
