/** The company's colour on its documents, made safe to read on white paper. */

/** Deep teal, the house's accent. */
export const houseColour = '#0f766e';

/** WCAG 2.2 asks for 4.5:1 between text and its background. */
export const leastContrast = 4.5;

/**
 * A "#rrggbb" colour that is readable on white: darkened in small steps when it is too light. Absent or malformed text
 * gives the house's colour: a bad setting must not keep an issued document from printing.
 */
export function readableColour(asked: string | undefined): string {
  let colour = asked !== undefined && /^#[0-9a-f]{6}$/i.test(asked) ? asked.toLowerCase() : houseColour;
  while (contrastOnWhite(colour) < leastContrast) colour = darker(colour);
  return colour;
}

/** From 1 (white) to 21 (black). */
export function contrastOnWhite(colour: string): number {
  const [red, green, blue] = channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 1.05 / (0.2126 * red! + 0.7152 * green! + 0.0722 * blue! + 0.05);
}

function darker(colour: string): string {
  return `#${channels(colour)
    .map((value) =>
      Math.floor(value * 0.96)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}
