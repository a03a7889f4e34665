/** The pages of an A4 paper: their heads and feet, what stands behind them, and where the next thing stands. */
import type { Paper } from '../paper.ts';
import type { PdfDocument } from './document.ts';
import { type Line, lineOf, type Paragraph, type Piece, paragraphOf } from './lines.ts';
import { fills, strokes, styled, styles, type } from './look.ts';
import { colourOf, decimal, type Page } from './page.ts';

const millimetre = 72 / 25.4;
const paper = { width: 210 * millimetre, height: 297 * millimetre } as const;
/** Between the margins. */
export const side = 56.5;
export const inside = paper.width - 2 * side;
const [top, foot] = [62, 78];
/** Where the text of a page ends. */
const bottom = paper.height - foot;
/** The height of a whole page between its margins. */
export const pageRoom = bottom - top;

/** Height of the capitals of Noto Sans at a size. */
export const capitals = (size: number): number => 0.714 * size;
/** White between two lines of a size. */
export const leading = (size: number): number => 0.55 * size;

/** White below the head of a page, and between what stands in it. */
const [headWhite, headGap] = [18, 5];

interface Sheet {
  readonly page: Page;
  /** The sum of the rows up to its end. */
  carried?: string | undefined;
}

/** What stands at the head of each page but the first. */
interface Head {
  /** Of the issuer. */
  readonly name: Paragraph;
  /** With the number, and which copy it is. */
  readonly title: Paragraph;
  /** What the first page says of the document as a whole. */
  readonly again?: Paragraph | undefined;
  readonly environment?: Line | undefined;
  readonly height: number;
}

/** Where the head of a page begins, so that it leaves as much white above the text where each of its two lines is one. */
const headTop = top - headWhite - capitals(type.body) - headGap - capitals(type.small);

/** The pages of one paper, drawn one behind the other. */
export class Sheets {
  readonly document: PdfDocument;
  readonly paper: Paper;
  /** Where the next thing stands, from the top of the page. */
  y = top;
  /** The sum of the rows drawn so far. */
  carried: string | undefined;
  readonly #sheets: Sheet[] = [];
  /** Where the text of the page begins. */
  #top = top;
  #head: Head | undefined;

  constructor(document: PdfDocument, paper: Paper) {
    this.document = document;
    this.paper = paper;
    this.next();
  }

  get page(): Page {
    return this.#sheets.at(-1)!.page;
  }

  /** Whether nothing stands on the page yet. */
  get isEmpty(): boolean {
    return this.y === this.#top;
  }

  /** How much of the page is left. */
  get room(): number {
    return bottom - this.y;
  }

  /** How much the next page has. */
  get nextRoom(): number {
    this.#head ??= this.#layHead();
    return bottom - headTop - this.#head.height - headWhite;
  }

  /** Goes on to the next page. */
  next(): void {
    const last = this.#sheets.at(-1);
    if (last !== undefined) {
      last.carried = this.carried;
      last.page.settle();
    }
    const { page } = this.document.begin(paper.width, paper.height);
    this.#sheets.push({ page });
    this.#drawBack(page);
    if (last !== undefined) {
      this.#top = bottom - this.nextRoom;
      this.#drawHead(page, this.#head!);
    }
    this.y = this.#top;
  }

  /** White, of which nothing is left at the top of a page. */
  skip(white: number): void {
    if (!this.isEmpty) this.y += white;
  }

  /**
   * A paragraph of text in the flow, over as many pages as it takes. No page has a single line of it where it has more.
   * `ending`: the height of what follows at once; where it does not fit the page, the last lines go to the next one with it.
   */
  flow(role: 'P', text: Paragraph, ending = 0): void {
    const { lines } = text;
    this.document.within(role, (element) => {
      for (let from = 0; from < lines.length; ) {
        let to = from;
        let height = 0;
        for (; to < lines.length; to++) {
          const more = lines[to]!.height + (to > from ? text.leading : 0);
          if (height + more > this.room + 0.01) break;
          height += more;
        }
        if (to === lines.length && height + ending > this.room) to -= this.#linesWith(ending, text, from);
        const left = lines.length - to;
        if (left === 1 && to - from > 2) to--;
        if ((to === from || (left > 0 && to - from === 1)) && !this.isEmpty) {
          this.next();
          continue;
        }
        if (to === from) to++;
        this.page.paragraph(text, { x: side, y: this.y, width: inside }, element, from, to);
        const drawn = lines.slice(from, to);
        this.y += drawn.reduce((sum, line) => sum + line.height, (drawn.length - 1) * text.leading);
        from = to;
        if (from < lines.length) this.next();
      }
    });
  }

  /** How many of the last lines go along with what follows: two, or more where an empty one would be the first. */
  #linesWith(ending: number, { lines, leading: white }: Paragraph, from: number): number {
    let count = 2;
    while (lines.at(-count)?.width === 0) count++;
    const height = lines.slice(-count).reduce((sum, line) => sum + line.height + white, ending);
    return lines.length - from - count < 2 || height > this.nextRoom ? 0 : count;
  }

  /** The feet, when it is known how many pages there are. */
  finish(): void {
    for (const [index, sheet] of this.#sheets.entries()) this.#drawFoot(sheet, index + 1);
  }

  #drawBack(page: Page): void {
    page.artifact(() => {
      page.box(0, 0, paper.width, 5, colourOf(this.paper.accent));
      if (this.paper.cancelled !== undefined) this.#stamp(page, this.paper.cancelled);
    }, '/Type/Page');
  }

  /** Behind the text, in a slope over the middle of the page. */
  #stamp(page: Page, word: string): void {
    const size = 96;
    const line = lineOf(this.document.shaper, [{ text: word, style: styled(size, 1, fills.stamp) }]);
    const [sine, cosine] = [Math.sin((35 * Math.PI) / 180), Math.cos((35 * Math.PI) / 180)];
    const [right, up] = [line.width / 2, line.height / 2];
    const x = paper.width / 2 - (right * cosine - up * sine);
    const y = -paper.height / 2 - (right * sine + up * cosine);
    const matrix = [cosine, sine, -sine, cosine].map((value) => value.toFixed(5)).join(' ');
    const glyphs = line.placed.flatMap(({ shaped }) =>
      shaped.runs.map((run) => `/F${run.font} ${size} Tf [${run.glyphs}]TJ`),
    );
    page.isolated(`${fills.stamp} BT ${matrix} ${decimal(x)} ${decimal(y)} Tm ${glyphs.join(' ')} ET`);
  }

  /**
   * The number of the document stands on every page, but on no first or last line (Despacho 8632/2014): below the issuer's
   * name at the head, above the page's own at the foot.
   */
  #drawHead(page: Page, { name, title, again, environment }: Head): void {
    page.artifact(() => {
      const second = headTop + name.height + headGap;
      this.#draw(page, name, headTop);
      if (environment !== undefined)
        page.line(environment, { x: side, y: headTop + environment.height, width: inside, align: 'right' });
      this.#draw(page, title, second);
      if (this.carried !== undefined) {
        const carry = this.#carry(this.paper.labels['broughtForward']!, this.carried);
        page.line(carry, { x: side, y: second + carry.height, width: inside, align: 'right' });
      }
      if (again !== undefined) this.#draw(page, again, second + title.height + headGap);
    }, '/Type/Pagination/Subtype/Header/Attached[/Top]');
  }

  /** The same on each page: what stands at the right has room for the largest sum that is carried. */
  #layHead(): Head {
    const { issuer, environment, title, number, copy, saidAgain, labels, table } = this.paper;
    const most = table?.rows.at(-1)?.carried;
    const carry = most === undefined ? undefined : this.#carry(labels['broughtForward']!, most);
    const mark =
      environment === undefined
        ? undefined
        : this.#line({ text: environment, style: styled(type.small, 1, fills.attention) });
    const beside = inside - Math.max(mark?.width ?? 0, carry?.width ?? 0) - 12;
    const head = {
      name: this.#text([{ text: issuer.name, style: styles.faint }], beside),
      title: this.#text(
        [
          { text: `${title} ${number}`, style: styles.strong },
          ...(copy === undefined ? [] : [{ text: copy, style: styles.faint, before: 10 }]),
        ],
        beside,
      ),
      again: saidAgain === undefined ? undefined : this.#text([{ text: saidAgain, style: styles.smallStrong }], inside),
      environment: mark,
    };
    const below = head.again === undefined ? 0 : headGap + head.again.height;
    return { ...head, height: head.name.height + headGap + head.title.height + below };
  }

  #drawFoot({ page, carried }: Sheet, number: number): void {
    const { title, number: name, atcud, program, labels, pageWords } = this.paper;
    const count = this.#sheets.length;
    const isLast = number === count;
    page.artifact(() => {
      let y = bottom + 14;
      if (!isLast && carried !== undefined) {
        const carry = this.#carry(labels['carriedForward']!, carried);
        y += carry.height;
        page.line(carry, { x: side, y, width: inside, align: 'right' });
        y += 4 + paragraphGap;
      }
      page.rule(side, y, inside, strokes.hairline);
      y += 5 + paragraphGap + capitals(type.small);
      const spot = { x: side, width: inside };
      // The last page shows the ATCUD above the QR code.
      const own: Piece[] = [{ text: `${title} ${name}`, style: styles.faint }];
      if (!isLast) own.push({ text: atcud, style: styles.faint, before: 10 });
      const mention = program === undefined ? undefined : this.#line({ text: program, style: styles.faint });
      const left = paragraphOf(this.document.shaper, [own], {
        width: inside - (mention === undefined ? 0 : mention.width + 12),
        leading: leading(type.small),
      });
      this.#draw(page, left, y - capitals(type.small));
      if (mention !== undefined) page.line(mention, { ...spot, y, align: 'right' });
      y += left.height - capitals(type.small) + 4 + capitals(type.small);
      const words = pageWords.map(([before, of]) => `${before} ${number} ${of} ${count}`).join(' / ');
      page.line(this.#line({ text: words, style: styles.faint }), { ...spot, y, align: 'right' });
    }, '/Type/Pagination/Subtype/Footer/Attached[/Bottom]');
  }

  #carry(word: string, sum: string) {
    return lineOf(this.document.shaper, [
      { text: word, style: styles.faint },
      { text: sum, style: styles.strong, before: 10 },
    ]);
  }

  #line(piece: Piece) {
    return lineOf(this.document.shaper, [piece]);
  }

  #text(pieces: readonly Piece[], width: number): Paragraph {
    const white = leading(pieces[0]!.style.size);
    return paragraphOf(this.document.shaper, [pieces], { width, leading: white, isLiteral: true });
  }

  #draw(page: Page, { lines, leading: white }: Paragraph, y: number): void {
    let at = y;
    for (const line of lines) {
      at += line.height;
      page.line(line, { x: side, y: at, width: inside });
      at += white;
    }
  }
}

/** Between paragraphs of the text: 0.9 of its size. */
const paragraphGap = 0.9 * type.body;
