/** The one column of a till roll: what comes next stands below what came before, and the paper ends where it does. */
import { type Roll, rollInside } from '../paper-roll.ts';
import type { PdfDocument } from './document.ts';
import { lineOf, type Paragraph, type Piece, paragraphOf, type Style } from './lines.ts';
import { fills } from './look.ts';
import type { Alignment, Page } from './page.ts';

/** How a text stands in the column. */
interface How {
  readonly align?: Alignment;
  /** Half the size of the text unless it is said: where sizes are mixed, half the larger one. */
  readonly leading?: number;
  readonly isLiteral?: boolean;
  readonly width?: number;
}

const margin = 14;
const solid = '0.75 w 0 G';

/** The column of one document, from its top to its end. */
export class Reel {
  readonly document: PdfDocument;
  readonly left: number;
  readonly width: number;
  readonly body: Style;
  readonly small: Style;
  readonly large: number;
  readonly #roll: Roll;
  #sheet: { page: Page; height: number };
  #y = margin;
  /** White that is drawn when something follows: of two such, the larger one. */
  #white = 0;

  constructor(document: PdfDocument, roll: Roll) {
    this.document = document;
    this.#roll = roll;
    this.left = roll.margin;
    this.width = rollInside(roll);
    this.body = { size: roll.body, weight: 0, colour: fills.black };
    this.small = { size: roll.small, weight: 0, colour: fills.black };
    this.large = roll.body * 1.2;
    this.#sheet = document.begin(roll.width);
  }

  get page(): Page {
    return this.#sheet.page;
  }

  strong(size: number): Style {
    return { size, weight: 1, colour: fills.black };
  }

  smallLines(texts: readonly string[]): Piece[][] {
    return texts.map((text) => [{ text, style: this.small }]);
  }

  /** White before what follows. */
  white(height: number): void {
    this.#white = Math.max(this.#white, height);
  }

  /** Where the next thing stands, its white drawn. */
  place(): number {
    if (this.#y > margin) this.#y += this.#white;
    this.#white = 0;
    return this.#y;
  }

  advance(height: number): void {
    this.#y += height;
  }

  /** Ends the page, and the paper with it. */
  end(): void {
    this.#sheet.height = this.#y + margin;
  }

  /** Goes on on another page. */
  next(): void {
    this.end();
    this.page.settle();
    this.#sheet = this.document.begin(this.#roll.width);
    this.#y = margin;
    this.#white = 0;
  }

  layout(lines: readonly (readonly Piece[])[], how: How = {}): Paragraph {
    const largest = Math.max(...lines.flat().map(({ style }) => style.size));
    return paragraphOf(this.document.shaper, lines, {
      width: how.width ?? this.width,
      leading: how.leading ?? 0.5 * largest,
      ...(how.isLiteral === undefined ? {} : { isLiteral: how.isLiteral }),
    });
  }

  /** A paragraph. */
  text(lines: readonly (readonly Piece[])[], how: How): void {
    if (lines.length === 0) return;
    const text = this.layout(lines, how);
    const spot = { x: this.left, y: this.place(), width: this.width, align: how.align ?? 'left' };
    this.document.within('P', (element) => this.page.paragraph(text, spot, element));
    this.advance(text.height);
  }

  heading(title: string): void {
    const text = this.layout([[{ text: title, style: this.strong(this.body.size * 1.44) }]]);
    const y = this.place();
    this.document.entitle(title, this.page, y);
    this.document.within('H1', (element) => this.page.paragraph(text, { x: this.left, y, width: this.width }, element));
    this.advance(text.height);
  }

  /** Words at the left and, if there are any, at the right of a line; on two where they do not fit one. */
  spread(left: readonly Piece[], right: Piece | undefined): void {
    if (right === undefined) {
      this.text([left], { isLiteral: true });
      return;
    }
    const beside = lineOf(this.document.shaper, [right]);
    const text = this.layout([left], { isLiteral: true });
    const last = text.lines.at(-1)!;
    const fits = last.width + beside.width <= this.width;
    const y = this.place();
    // On one line both stand on its baseline, below the higher one of them.
    const lower = fits ? Math.max(0, beside.height - last.height) : 0;
    const height = text.height + (fits ? lower : 0.5 * this.body.size + beside.height);
    this.document.within('P', (element) => {
      this.page.paragraph(text, { x: this.left, y: y + lower, width: this.width }, element);
      const spot = { x: this.left, y: y + height, width: this.width, align: 'right' as const };
      this.page.mark(element, () => this.page.line(beside, spot));
    });
    this.advance(height);
  }

  /** A label and its figure; the label is broken where the figure needs the place. */
  pair(label: readonly (readonly Piece[])[], value: Piece, leading?: number): void {
    const figure = lineOf(this.document.shaper, [value]);
    const how = { width: this.width - figure.width - gap, ...(leading === undefined ? {} : { leading }) };
    const text = this.layout(label, how);
    const y = this.place();
    this.document.within('P', (element) => {
      this.page.paragraph(text, { x: this.left, y, width: how.width }, element);
      const spot = { x: this.left, y: y + figure.height, width: this.width, align: 'right' as const };
      this.page.mark(element, () => this.page.line(figure, spot));
    });
    this.advance(Math.max(text.height, figure.height));
  }

  /** A line across; a dotted one is thinner. */
  rule(isDotted = false): void {
    this.white(isDotted ? 7 : 8);
    const y = this.place();
    if (isDotted) this.page.artifact(() => this.page.dotted(this.left, y, this.width));
    else this.page.rule(this.left, y, this.width, solid);
    this.white(isDotted ? 7 : 8);
  }

  /** A line at a place of its own. */
  line(y: number): void {
    this.page.rule(this.left, y, this.width, solid);
  }

  /** White on black. */
  banner(word: string): void {
    const text = this.layout([[{ text: word, style: { size: this.large, weight: 1, colour: fills.white } }]]);
    const y = this.place();
    const height = text.height + 10;
    this.page.artifact(() => this.page.box(this.left, y, this.width, height, fills.black));
    const spot = { x: this.left, y: y + 5, width: this.width, align: 'center' as const };
    this.document.within('P', (element) => this.page.paragraph(text, spot, element));
    this.advance(height);
  }

  /** Within a frame. */
  framed(words: string): void {
    const text = this.layout([[{ text: words, style: this.strong(this.small.size) }]], { width: this.width - 8 });
    const y = this.place();
    const height = text.height + 8;
    this.page.artifact(() => this.page.frame(this.left, y, this.width, height, solid));
    const spot = { x: this.left + 4, y: y + 4, width: this.width - 8, align: 'center' as const };
    this.document.within('P', (element) => this.page.paragraph(text, spot, element));
    this.advance(height);
  }
}

/** Between a label and its figure. */
export const gap = 8;
