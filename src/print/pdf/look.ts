/** Inks and type of a paper: what A4 and rolls draw with. */
import { sizes } from '../measures.ts';
import type { Style } from './lines.ts';
import { colourOf } from './page.ts';
import type { Weight } from './shaper.ts';

/** A scale of 1.2 around 9 points. */
export const type = { ...sizes, larger: 13, display: 22.5 } as const;

const inks = {
  ink: '#111827',
  quiet: '#5b6472',
  attention: '#8a4b08',
  attentionPaper: '#fdf4e3',
  refused: '#b42318',
  /** The former, a tenth of it on white: what stands behind the text of a cancelled document. */
  stamp: '#f8e9e8',
  hairline: '#e2e5e9',
} as const;

/** The colours that texts and boxes are filled with. */
export const fills = {
  ink: colourOf(inks.ink),
  quiet: colourOf(inks.quiet),
  attention: colourOf(inks.attention),
  attentionPaper: colourOf(inks.attentionPaper),
  refused: colourOf(inks.refused),
  stamp: colourOf(inks.stamp),
  black: '0 g',
  white: '1 g',
} as const;

/** Lines, with their thickness. */
export const strokes = {
  hairline: `0.5 w ${colourOf(inks.hairline, 'RG')}`,
  heads: `0.75 w ${colourOf(inks.ink, 'RG')}`,
} as const;

/** A style of the ink, unless another colour is said. */
export function styled(size: number, weight: Weight = 0, colour: string = fills.ink): Style {
  return { size, weight, colour };
}

/** The styles of an A4 page that are asked for again and again. */
export const styles = {
  body: styled(type.body),
  strong: styled(type.body, 1),
  small: styled(type.small),
  smallStrong: styled(type.small, 1),
  faint: styled(type.small, 0, fills.quiet),
} as const;
