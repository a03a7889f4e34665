/**
 * Till rolls of 80 and 58 mm: one narrow column in black, as long as what is on it, QR code and program at the end. A till
 * printer knows no grey and no colour: weight, size and rules tell things apart. A page ends early only where a PDF may
 * not be longer.
 */
import type { Paper } from '../paper.ts';
import type { PdfDocument } from './document.ts';
import { drawFigure, qrOperators } from './figure.ts';
import type { Piece } from './lines.ts';
import { drawPicture, type Picture } from './picture.ts';
import { Reel } from './reel.ts';
import { drawMoney } from './roll-money.ts';
import { drawRows } from './roll-rows.ts';
import { copyPiece, pageOf, unbroken } from './roll-words.ts';

/** Draws all of it. */
export function drawRoll(document: PdfDocument, paper: Paper, logo: Picture | undefined): void {
  const reel = new Reel(document, paper.roll!);
  drawWho(reel, paper, logo);
  reel.rule();
  drawWhat(reel, paper);
  reel.rule(true);
  drawParties(reel, paper);
  drawRows(reel, paper);
  if (paper.totals !== undefined) drawMoney(reel, paper, paper.totals);
  drawMentions(reel, paper);
  reel.end();
}

function drawWho(reel: Reel, paper: Paper, logo: Picture | undefined): void {
  const { environment, issuer, author } = paper;
  if (environment !== undefined) {
    reel.framed(environment);
    reel.white(10);
  }
  if (logo !== undefined) {
    const width = reel.width * 0.8;
    const frame = { x: reel.left + (reel.width - width) / 2, y: reel.place(), width, height: 36 };
    drawPicture(reel.document, reel.page, logo, frame, author);
    reel.advance(36);
    reel.white(8);
  }
  reel.text([[{ text: issuer.name, style: reel.strong(reel.large) }]], { align: 'center', isLiteral: true });
  reel.white(5);
  reel.text(reel.smallLines([...issuer.lines, ...(issuer.contacts ?? [])]), { align: 'center', isLiteral: true });
}

function drawWhat(reel: Reel, paper: Paper): void {
  const { cancelled, title, titleInEnglish, numberInTitle, copy, mentions, roll } = paper;
  if (cancelled !== undefined) {
    reel.banner(cancelled);
    reel.white(10);
  }
  reel.heading(title);
  reel.white(5);
  if (titleInEnglish !== undefined) {
    reel.text(reel.smallLines([titleInEnglish]), {});
    reel.white(4);
  }
  reel.spread([{ text: numberInTitle, style: reel.strong(reel.large) }], copyPiece(reel, copy));
  // Each for itself: on a narrow roll they take more than a line.
  for (const mention of mentions) {
    reel.white(6);
    reel.text([[{ text: mention, style: reel.strong(reel.body.size) }]], {});
  }
  reel.white(7);
  const strong = reel.strong(reel.small.size);
  for (const [index, { label, value, isLiteral, isStacked }] of roll!.facts.entries()) {
    if (index > 0) reel.white(4.5);
    const name: Piece = { text: label, style: reel.small };
    const said: Piece = { text: value, style: strong };
    if (isStacked) reel.text([[name], [said]], { isLiteral, leading: 0.5 * reel.small.size });
    else reel.pair([[name]], said);
  }
}

function drawParties(reel: Reel, { customer, places, description }: Paper): void {
  reel.text(
    [
      ...reel.smallLines([customer.label ?? '']),
      [{ text: customer.name, style: reel.strong(reel.body.size) }],
      ...reel.smallLines(customer.lines),
    ],
    { leading: 0.5 * reel.body.size },
  );
  for (const { label, lines } of places) {
    reel.white(7);
    reel.text(reel.smallLines([label, ...lines]), { leading: 0.5 * reel.body.size });
  }
  if (description.length === 0) return;
  reel.white(7);
  reel.text(reel.smallLines(description), {});
}

function drawMentions(reel: Reel, paper: Paper): void {
  const { notes, cancelled, atcud, qr, program, title, numberInTitle, footer, labels } = paper;
  reel.rule();
  if (notes.length > 0) {
    reel.text(reel.smallLines([labels['notes']!, ...notes]), {});
    reel.white(cancelled === undefined ? 12 : 8);
  }
  if (cancelled !== undefined) {
    reel.banner(cancelled);
    reel.white(12);
  }
  reel.white(12);
  const width = qr.module * qr.modules;
  reel.text([[{ text: atcud, style: reel.strong(reel.small.size) }]], { align: 'center' });
  reel.white(1);
  const frame = { x: reel.left + (reel.width - width) / 2, y: reel.place(), width, height: width };
  drawFigure(reel.document, reel.page, frame, qr.alt, qrOperators(qr));
  reel.advance(width);
  reel.white(10);
  const pages = paper.roll!.pages.length;
  reel.text(
    [
      ...reel.smallLines([...(program === undefined ? [] : [unbroken(program)]), `${title} ${numberInTitle}`]),
      ...reel.smallLines([pageOf(paper, pages)]),
    ],
    { align: 'center', isLiteral: true },
  );
  if (footer.length === 0) return;
  reel.white(8);
  reel.text(reel.smallLines(footer), { align: 'center' });
}
