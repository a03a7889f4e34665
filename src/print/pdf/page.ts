/**
 * What is drawn on one page, as operators of PDF (ISO 32000-1, annex A). Places are points from the upper left corner of
 * the page, downwards; all that is drawn belongs to an element of the structure or is an artifact.
 */
import type { Line, Paragraph, Style } from './lines.ts';
import type { Shaped } from './shaper.ts';
import type { Element, Marked, Tags } from './tags.ts';

export type Alignment = 'left' | 'right' | 'center';

/** Where a paragraph stands: its left edge, its width and the top of its first capitals. */
export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly align?: Alignment;
}

/** Thousandths of a point, in as few characters as can be. */
export function decimal(value: number): string {
  return `${Math.round(value * 1000) / 1000}`;
}

/** The operators of a colour "#rrggbb", to fill (`rg`) or to draw lines (`RG`). */
export function colourOf(hex: string, operator: 'rg' | 'RG' = 'rg'): string {
  const share = (at: number) => Math.round((Number.parseInt(hex.slice(at, at + 2), 16) / 255) * 1e4) / 1e4;
  return `${share(1)} ${share(3)} ${share(5)} ${operator}`;
}

/** One page while it is drawn. */
export class Page implements Marked {
  readonly number: number;
  readonly owners: number[] = [];
  readonly #tags: Tags;
  readonly #settled: Buffer[] = [];
  #content = '';
  #colour = '';
  #font = '';
  #isArtifact = false;

  constructor(number: number, tags: Tags) {
    this.number = number;
    this.#tags = tags;
  }

  /** The operators, for a page so high: its origin is put to the upper left corner. */
  content(height: number): Buffer {
    this.settle();
    return Buffer.concat([Buffer.from(`1 0 0 1 0 ${decimal(height)} cm\n`, 'latin1'), ...this.#settled]);
  }

  /** Puts what was drawn so far into as little memory as it takes: of many pages most wait for the last one. */
  settle(): void {
    this.#settled.push(Buffer.from(this.#content, 'latin1'));
    this.#content = '';
  }

  /** What `draw` draws is a piece of the element. */
  mark(element: Element, draw: () => void): void {
    if (this.#isArtifact) {
      draw();
      return;
    }
    this.#content += `/${element.role}<</MCID ${this.#tags.mark(element, this)}>>BDC\n`;
    draw();
    this.#content += 'EMC\n';
  }

  /** What `draw` draws is no part of the text: rules, backgrounds, heads and feet of pages, heads of tables repeated. */
  artifact(draw: () => void, kind = ''): void {
    if (this.#isArtifact) {
      draw();
      return;
    }
    this.#isArtifact = true;
    this.#content += kind === '' ? '/Artifact BMC\n' : `/Artifact<<${kind}>>BDC\n`;
    draw();
    this.#content += 'EMC\n';
    this.#isArtifact = false;
  }

  /** A paragraph, a piece of the element; some of its lines where `from` and `to` say so. */
  paragraph({ lines, leading }: Paragraph, spot: Spot, element: Element, from = 0, to = lines.length): void {
    this.mark(element, () => {
      let y = spot.y;
      for (let index = from; index < to; index++) {
        const line = lines[index]!;
        y += line.height;
        this.line(line, { ...spot, y });
        y += leading;
      }
    });
  }

  /** One line; `y`: its baseline. */
  line({ placed, width }: Line, spot: Spot): void {
    const spare = spot.align === undefined || spot.align === 'left' ? 0 : spot.width - width;
    const left = spot.x + (spot.align === 'center' ? spare / 2 : spare);
    for (const { shaped, style, x } of placed) {
      this.text(shaped, style, left + x, spot.y);
    }
  }

  /** A text from where its baseline begins. */
  text({ runs }: Shaped, style: Style, x: number, y: number): void {
    if (runs.length === 0) return;
    this.#content += 'BT ';
    this.#paint(style.colour);
    let at = `${decimal(x)} ${decimal(-y)} Td`;
    for (const { font, glyphs, rise } of runs) {
      const set = `/F${font} ${decimal(style.size)} Tf `;
      if (set !== this.#font) this.#content += set;
      this.#font = set;
      const isRaised = rise !== 0;
      if (isRaised) this.#content += ` ${decimal((rise * style.size) / 1000)} Ts `;
      this.#content += `${at}[${glyphs}]TJ`;
      if (isRaised) this.#content += ' 0 Ts ';
      at = '';
    }
    this.#content += ' ET\n';
  }

  /** A line of a stroke so thick, across; `stroke`: its colour (`RG`) and dashes. */
  rule(x: number, y: number, width: number, stroke: string): void {
    this.artifact(() => {
      this.#content += `${stroke} ${decimal(x)} ${decimal(-y)} m ${decimal(x + width)} ${decimal(-y)} l S\n`;
    });
  }

  /** A thin line of dots, across. */
  dotted(x: number, y: number, width: number): void {
    this.isolated(`0.5 w 0 G [1 2] 0 d ${decimal(x)} ${decimal(-y)} m ${decimal(x + width)} ${decimal(-y)} l S`);
  }

  /** The lines around a box. */
  frame(x: number, y: number, width: number, height: number, stroke: string): void {
    this.#content += `${stroke} ${decimal(x)} ${decimal(-y - height)} ${decimal(width)} ${decimal(height)} re S\n`;
  }

  /** A filled box. */
  box(x: number, y: number, width: number, height: number, colour: string): void {
    this.#paint(colour);
    this.#content += `${decimal(x)} ${decimal(-y - height)} ${decimal(width)} ${decimal(height)} re f\n`;
  }

  /** A filled box with round corners. */
  roundedBox(x: number, y: number, width: number, height: number, radius: number, colour: string): void {
    const [left, right, top, low] = [x, x + width, -y, -y - height];
    // How far the handles of a curve that is a quarter of a circle lie from its ends.
    const near = radius * (1 - 0.5523);
    const curve = (...places: number[]) => `${places.map(decimal).join(' ')} c `;
    this.#paint(colour);
    this.#content += `${decimal(left + radius)} ${decimal(top)} m ${decimal(right - radius)} ${decimal(top)} l `;
    this.#content += curve(right - near, top, right, top - near, right, top - radius);
    this.#content += `${decimal(right)} ${decimal(low + radius)} l `;
    this.#content += curve(right, low + near, right - near, low, right - radius, low);
    this.#content += `${decimal(left + radius)} ${decimal(low)} l `;
    this.#content += curve(left + near, low, left, low + near, left, low + radius);
    this.#content += `${decimal(left)} ${decimal(top - radius)} l `;
    this.#content += `${curve(left, top - near, left + near, top, left + radius, top)}f\n`;
  }

  /** Operators of others, which leave nothing behind. */
  isolated(operators: string): void {
    this.#content += `q ${operators} Q\n`;
  }

  #paint(colour: string): void {
    if (colour === this.#colour) return;
    this.#content += `${colour} `;
    this.#colour = colour;
  }
}
