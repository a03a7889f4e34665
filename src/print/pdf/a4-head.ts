/** The head of an A4 paper: letterhead and title, buyer and dates, places, description. */
import type { Fact, PaperPlace } from '../paper-facts.ts';
import { type Paragraph, type Piece, paragraphOf } from './lines.ts';
import { fills, styled, styles, type } from './look.ts';
import { colourOf } from './page.ts';
import { drawPicture, type Picture } from './picture.ts';
import { capitals, inside, leading, type Sheets, side } from './sheets.ts';

/** Dates, figures and totals share one vertical axis. */
export const rightColumn = 226;
const gutter = 32;
export const leftColumn = inside - gutter - rightColumn;
export const axis = side + leftColumn + gutter;
const titleColumn = 250;
const issuerColumn = inside - titleColumn - 16;
const logoHeight = 36;

/** What stands in one place, each with the white above it. */
interface Block {
  readonly above: number;
  readonly text: Paragraph;
  readonly isHeading?: boolean;
}

/** All that stands above the table. */
export function drawHead(sheets: Sheets, logo: Picture | undefined): void {
  const { environment, places, description } = sheets.paper;
  if (environment !== undefined) drawEnvironment(sheets, environment);
  drawLetterhead(sheets, logo);
  sheets.y += 26;
  drawParties(sheets);
  sheets.y += 24;
  if (places.length > 0) {
    drawPlaces(sheets, places);
    sheets.y += 24;
  }
  if (description.length > 0) {
    sheets.flow(
      'P',
      textOf(
        sheets,
        description.map((text) => [{ text, style: styles.body }]),
        inside,
        leading(type.body),
      ),
    );
    sheets.skip(14);
  }
}

/** In the upper margin. */
function drawEnvironment({ document, page }: Sheets, mention: string): void {
  const [y, height] = [25, 10 + capitals(type.small)];
  page.artifact(() => page.roundedBox(side, y, inside, height, 3, fills.attentionPaper));
  const line = paragraphOf(document.shaper, [[{ text: mention, style: styled(type.small, 1, fills.attention) }]], {
    width: inside,
    leading: 0,
  });
  document.within('P', (element) => page.paragraph(line, { x: side + 8, y: y + 5, width: inside }, element));
}

function drawLetterhead(sheets: Sheets, logo: Picture | undefined): void {
  const { issuer } = sheets.paper;
  const small = (lines: readonly string[], isLiteral = false) =>
    textOf(
      sheets,
      lines.map((text) => [{ text, style: styles.faint }]),
      issuerColumn,
      leading(type.small),
      isLiteral,
    );
  const { larger } = type;
  const left: Block[] = [
    {
      above: 0,
      text: textOf(sheets, [[{ text: issuer.name, style: styled(larger, 1) }]], issuerColumn, leading(larger)),
    },
    { above: 8, text: small(issuer.lines) },
    ...((issuer.contacts ?? []).length === 0 ? [] : [{ above: 7, text: small(issuer.contacts ?? [], true) }]),
  ];
  const { y, page } = sheets;
  const logoEnd = logo === undefined ? y : y + logoHeight + 10;
  if (logo !== undefined) {
    const width = Math.min(issuerColumn, (logo.width / logo.height) * logoHeight);
    drawPicture(sheets.document, page, logo, { x: side, y, width, height: logoHeight }, sheets.paper.author);
  }
  const leftEnd = drawBlocks(sheets, left, logoEnd, false);
  const rightEnd = drawBlocks(sheets, titleBlocks(sheets), y, true);
  sheets.y = Math.max(leftEnd, rightEnd);
}

function titleBlocks(sheets: Sheets): Block[] {
  const { title, titleInEnglish, numberInTitle, copy, cancelled, mentions, accent } = sheets.paper;
  const apart = (size: number) => 0.68 * size;
  const block = (above: number, lines: readonly (readonly Piece[])[], white: number): Block => ({
    above,
    text: textOf(sheets, lines, titleColumn, white, true),
  });
  const size = title.length > 24 ? type.largest : type.display;
  return [
    { ...block(0, [[{ text: title, style: styled(size, 1, colourOf(accent)) }]], apart(size)), isHeading: true },
    block(
      10,
      [
        ...(titleInEnglish === undefined
          ? []
          : [[{ text: titleInEnglish, style: styled(type.large, 0, fills.quiet) }]]),
        [{ text: numberInTitle, style: styled(type.larger, 1) }],
        ...(copy === undefined ? [] : [[{ text: copy, style: styles.faint }]]),
      ],
      apart(type.body),
    ),
    ...(cancelled === undefined
      ? []
      : [block(8, [[{ text: cancelled, style: styled(type.large, 1, fills.refused) }]], apart(type.large))]),
    ...(mentions.length === 0
      ? []
      : [
          block(
            8,
            mentions.map((text) => [{ text, style: styles.strong }]),
            apart(type.body),
          ),
        ]),
  ];
}

/** Returns where they end. */
function drawBlocks(
  { document, page, paper }: Sheets,
  blocks: readonly Block[],
  top: number,
  isRight: boolean,
): number {
  let y = top;
  for (const { above, text, isHeading } of blocks) {
    if (text.lines.length === 0) continue;
    y += above;
    if (isHeading === true) document.entitle(paper.title, page, y);
    const spot = isRight
      ? { x: side + inside - titleColumn, y, width: titleColumn, align: 'right' as const }
      : { x: side, y, width: issuerColumn };
    document.within(isHeading === true ? 'H1' : 'P', (element) => page.paragraph(text, spot, element));
    y += text.height;
  }
  return y;
}

function drawParties(sheets: Sheets): void {
  const { customer, facts } = sheets.paper;
  const { document, page, y } = sheets;
  const lines: Piece[][] = [
    [{ text: customer.label ?? '', style: styles.faint }],
    [{ text: customer.name, style: styled(type.large, 1) }],
    ...customer.lines.map((text) => [{ text, style: styles.body }]),
  ];
  const party = textOf(sheets, lines, leftColumn, 0.66 * type.body);
  document.within('P', (element) => page.paragraph(party, { x: side, y, width: leftColumn }, element));
  drawFacts(sheets, facts);
  if (sheets.page === page) sheets.y = Math.max(sheets.y, y + party.height);
}

const factGap = 12;

/** Two in a row; what is longer than a page goes on on the next one. */
function drawFacts(sheets: Sheets, facts: readonly Fact[]): void {
  const { document } = sheets;
  const width = (rightColumn - factGap) / 2;
  for (let first = 0; first < facts.length; first += 2) {
    const row = facts.slice(first, first + 2).map(({ label, value, isLiteral }) => {
      const labels = label.map((text) => [{ text, style: styles.faint }]);
      return textOf(sheets, [...labels, [{ text: value, style: styles.strong }]], width, leading(type.body), isLiteral);
    });
    const height = Math.max(...row.map((text) => text.height));
    if (first > 0) sheets.y += factGap;
    if (height > sheets.room) sheets.next();
    for (const [index, text] of row.entries()) {
      const x = axis + index * (width + factGap);
      document.within('P', (element) => sheets.page.paragraph(text, { x, y: sheets.y, width }, element));
    }
    sheets.y += height;
  }
}

function drawPlaces(sheets: Sheets, places: readonly PaperPlace[]): void {
  const { document, page, y } = sheets;
  let height = 0;
  for (const [index, { label, lines }] of places.entries()) {
    const width = index === 0 ? leftColumn : rightColumn;
    const all = [[{ text: label, style: styles.faint }], ...lines.map((text) => [{ text, style: styles.body }])];
    const text = textOf(sheets, all, width, leading(type.body));
    document.within('P', (element) => page.paragraph(text, { x: index === 0 ? side : axis, y, width }, element));
    height = Math.max(height, text.height);
  }
  sheets.y += height;
}

function textOf(
  { document }: Sheets,
  lines: readonly (readonly Piece[])[],
  width: number,
  white: number,
  isLiteral = false,
): Paragraph {
  return paragraphOf(document.shaper, lines, { width, leading: white, isLiteral });
}
