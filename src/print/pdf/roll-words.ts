/** Words that stand on every page of a till roll. */
import type { Paper } from '../paper.ts';
import type { Piece } from './lines.ts';
import type { Reel } from './reel.ts';

/** "jwwQ-Processado por programa certificado n.º 9999/AT", whose number stays in one piece. */
export function unbroken(program: string): string {
  const at = program.indexOf('n.º');
  return program.slice(0, at) + program.slice(at).replaceAll(' ', '\u00a0');
}

/** "Página 1 de 2". */
export function pageOf({ pageWords, roll }: Paper, number: number): string {
  return pageWords.map(([before, of]) => `${before} ${number} ${of} ${roll!.pages.length}`).join(' / ');
}

/** Which copy it is, beside the number. */
export function copyPiece({ small }: Reel, copy: Paper['copy']): Piece | undefined {
  return copy === undefined ? undefined : { text: copy, style: small };
}
