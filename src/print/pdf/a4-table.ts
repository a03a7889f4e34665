/** The lines of an A4 paper: a table that goes on over pages under its heads, each row with a hairline below. */
import type { PaperRow, PaperTable } from '../paper-lines.ts';
import type { TableTags } from './document.ts';
import { type Line, lineOf, type Paragraph, type Piece, paragraphOf } from './lines.ts';
import { strokes, styled, styles, type } from './look.ts';
import { capitals, inside, leading, pageRoom, type Sheets, side } from './sheets.ts';

const padding = 6.5;

/** A row with its texts laid out. */
interface Row {
  readonly words: Paragraph;
  readonly figures: readonly Line[];
  readonly height: number;
  /** Where a row stands on one line, figures of smaller type stand in its middle. */
  readonly isCentred: boolean;
}

/** The table of one paper, drawn once. */
export class LineTable {
  readonly #sheets: Sheets;
  readonly #table: PaperTable;
  readonly #tags: TableTags;
  readonly #first: number;
  /** Right edges of the columns of figures. */
  readonly #edges: readonly number[];
  readonly #headHeight: number;
  readonly #isLiteral: boolean;

  constructor(sheets: Sheets, table: PaperTable) {
    const widths = table.columns.map(({ width }) => width);
    const first = inside - widths.reduce((sum, width) => sum + width, 0);
    let edge = side + first;
    this.#edges = widths.map((width) => {
      edge += width;
      return edge;
    });
    this.#sheets = sheets;
    this.#table = table;
    this.#tags = sheets.document.table(1 + widths.length);
    this.#first = first;
    const lines = Math.max(...this.#heads.map(({ length }) => length));
    this.#headHeight = 2 * padding + lines * capitals(type.small) + (lines - 1) * leading(type.small);
    this.#isLiteral = sheets.paper.listsNumbers;
  }

  /**
   * All rows; the last `kept`, or fewer, go to the next page where they and `ending`, which is what follows at once, do not
   * fit this one.
   */
  draw(kept: number, ending: number): void {
    const { document } = this.#sheets;
    const { rows } = this.#table;
    const firstKept = rows.length - kept;
    let last: readonly Row[] | undefined;
    document.within('Table', () => {
      this.#begin(rows[0]);
      document.within('TBody', () => {
        for (const [index, given] of rows.entries()) {
          if (index < firstKept) this.#place(this.#row(given));
          else {
            last ??= rows.slice(firstKept).map((one) => this.#row(one));
            this.#keepTogether(last.slice(index - firstKept), ending);
            this.#place(last[index - firstKept]!);
          }
          if (given.carried !== undefined) this.#sheets.carried = given.carried;
        }
      });
    });
  }

  get #heads(): readonly (readonly string[])[] {
    return [this.#table.label, ...this.#table.columns.map(({ label }) => label)];
  }

  /** The heads do not stand alone at the end of a page. */
  #begin(first: PaperRow | undefined): void {
    const sheets = this.#sheets;
    const needed = this.#headHeight + (first === undefined ? 0 : Math.min(this.#row(first).height, 60));
    if (needed > sheets.room && !sheets.isEmpty) sheets.next();
    sheets.document.within('THead', () => this.#drawHeads(true));
  }

  #keepTogether(last: readonly Row[], ending: number): void {
    const sheets = this.#sheets;
    const height = last.reduce((sum, row) => sum + row.height, ending);
    if (height > sheets.room && !sheets.isEmpty && this.#headHeight + height <= sheets.nextRoom) this.#goOn();
  }

  #goOn(): void {
    this.#sheets.next();
    this.#drawHeads(false);
  }

  /** The first time as heads of the columns; again, on further pages, as decoration. */
  #drawHeads(areTagged: boolean): void {
    const { document, page } = this.#sheets;
    const draw = () => {
      for (const [column, lines] of this.#heads.entries()) {
        const text = paragraphOf(
          document.shaper,
          lines.map((label): Piece[] => [{ text: label, style: styles.faint }]),
          { width: inside, leading: leading(type.small) },
        );
        const y = this.#sheets.y + padding;
        const edge = column === 0 ? side + inside : this.#edges[column - 1]!;
        const spot =
          column === 0 ? { x: side, y, width: inside } : { x: side, y, width: edge - side, align: 'right' as const };
        if (!areTagged) {
          let at = y;
          for (const line of text.lines) {
            at += line.height;
            page.line(line, { ...spot, y: at });
            at += text.leading;
          }
          continue;
        }
        document.within(
          'TH',
          (element) => {
            this.#tags.isHeadOf(element, column);
            page.paragraph(text, spot, element);
          },
          this.#tags.head(column),
        );
      }
    };
    if (areTagged) document.within('TR', draw);
    else page.artifact(draw);
    this.#sheets.y += this.#headHeight;
    page.rule(side - 0.375, this.#sheets.y, inside + 0.75, strokes.heads);
  }

  #row({ name, detail, figures, exemption, isFlat }: PaperRow): Row {
    const { shaper } = this.#sheets.document;
    const lines: Piece[][] = [
      [{ text: name, style: styles.body }],
      ...detail.map((text) => [{ text, style: styles.faint }]),
    ];
    const words = paragraphOf(shaper, lines, {
      width: this.#first,
      leading: leading(type.body),
      isLiteral: this.#isLiteral,
    });
    const style = this.#table.size === type.body ? styles.body : styled(this.#table.size);
    const drawn = figures.map((text, column) =>
      lineOf(
        shaper,
        exemption !== undefined && this.#table.columns[column]!.isRate
          ? [
              { text: exemption, style: styles.faint },
              { text, style, before: 4 },
            ]
          : [{ text, style }],
      ),
    );
    return { words, figures: drawn, height: 2 * padding + words.height, isCentred: isFlat && detail.length === 0 };
  }

  /** On this page or the next; a row that is high goes on over pages. */
  #place(row: Row): void {
    const sheets = this.#sheets;
    const { document } = sheets;
    if (row.height <= sheets.room) {
      this.#drawRow(row);
      return;
    }
    const isHigh = row.height > pageRoom / 4;
    if (!isHigh || sheets.room < padding + 3 * (capitals(type.body) + leading(type.body))) this.#goOn();
    if (row.height <= sheets.room) this.#drawRow(row);
    else document.within('TR', () => this.#drawInParts(row));
  }

  #drawRow({ words, figures, height, isCentred }: Row): void {
    const { document, page, y } = this.#sheets;
    document.within('TR', () => {
      document.within(
        'TD',
        (element) => page.paragraph(words, { x: side, y: y + padding, width: this.#first }, element),
        this.#tags.below(0),
      );
      this.#drawFigures(figures, isCentred ? height : undefined);
    });
    this.#sheets.y += height;
    page.rule(side - 0.25, this.#sheets.y, inside + 0.5, strokes.hairline);
  }

  /** `height`: of a row in whose middle they stand. */
  #drawFigures(figures: readonly Line[], height: number | undefined): void {
    const { document, page, y } = this.#sheets;
    for (const [column, line] of figures.entries()) {
      const baseline = height === undefined ? y + padding + line.height : y + (height + line.height) / 2;
      const spot = { x: side, y: baseline, width: this.#edges[column]! - side, align: 'right' as const };
      document.within(
        'TD',
        (element) => {
          if (line.width > 0) page.mark(element, () => page.line(line, spot));
        },
        this.#tags.below(column + 1),
      );
    }
  }

  /** The words on as many pages as they take, the figures beside their first line. */
  #drawInParts({ words, figures }: Row): void {
    const sheets = this.#sheets;
    const { document } = sheets;
    document.within(
      'TD',
      (element) => {
        for (let from = 0; from < words.lines.length; ) {
          let to = from;
          let height = padding;
          while (to < words.lines.length && height + words.lines[to]!.height + padding <= sheets.room) {
            height += words.lines[to]!.height + words.leading;
            to++;
          }
          to = Math.max(to, from + 1);
          height += padding - words.leading;
          const spot = { x: side, y: sheets.y + padding, width: this.#first };
          sheets.page.paragraph(words, spot, element, from, to);
          if (from === 0) this.#sketchFigures(figures);
          sheets.y += height;
          sheets.page.rule(side - 0.25, sheets.y, inside + 0.5, strokes.hairline);
          from = to;
          if (from < words.lines.length) this.#goOn();
        }
      },
      this.#tags.below(0),
    );
    this.#drawLater(figures);
  }

  /** The figures stand on the first page of the row, and are read behind all of its words. */
  #later: (() => void)[] = [];

  #sketchFigures(figures: readonly Line[]): void {
    const { page, y, document } = this.#sheets;
    this.#later = figures.map((line, column) => () => {
      const spot = {
        x: side,
        y: y + padding + line.height,
        width: this.#edges[column]! - side,
        align: 'right' as const,
      };
      document.within(
        'TD',
        (element) => {
          if (line.width > 0) page.mark(element, () => page.line(line, spot));
        },
        this.#tags.below(column + 1),
      );
    });
  }

  #drawLater(figures: readonly Line[]): void {
    for (const draw of this.#later.slice(0, figures.length)) draw();
    this.#later = [];
  }
}
