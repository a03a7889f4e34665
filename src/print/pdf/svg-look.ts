/** How shapes of SVG look: what each element says of it, and what it takes from those around it (SVG 1.1, 11). */
import { operands } from './matrix.ts';
import { lengthOf, numbersOf, shareOf } from './svg-values.ts';

export interface Look {
  readonly fill: string;
  readonly fillOpacity: number;
  readonly fillRule: string;
  readonly stroke: string;
  readonly strokeOpacity: number;
  readonly strokeWidth: string;
  readonly cap: string;
  readonly join: string;
  readonly miter: number;
  readonly dashes: string;
  readonly dashOffset: string;
  /** What `currentColor` is. */
  readonly colour: string;
  readonly isVisible: boolean;
}

/** Of an element that says nothing, nor one around it. */
export const plainLook: Look = {
  fill: 'black',
  fillOpacity: 1,
  fillRule: 'nonzero',
  stroke: 'none',
  strokeOpacity: 1,
  strokeWidth: '1',
  cap: 'butt',
  join: 'miter',
  miter: 4,
  dashes: 'none',
  dashOffset: '0',
  colour: 'black',
  isVisible: true,
};

/** The look of an element within another one's. */
export function inherited(above: Look, attributes: ReadonlyMap<string, string>): Look {
  const said = (name: string, before: string): string => {
    const value = attributes.get(name)?.trim();
    return value === undefined || value === 'inherit' ? before : value;
  };
  const visibility = said('visibility', above.isVisible ? 'visible' : 'hidden');
  return {
    fill: said('fill', above.fill),
    fillOpacity: shareOf(attributes.get('fill-opacity'), above.fillOpacity),
    fillRule: said('fill-rule', above.fillRule),
    stroke: said('stroke', above.stroke),
    strokeOpacity: shareOf(attributes.get('stroke-opacity'), above.strokeOpacity),
    strokeWidth: said('stroke-width', above.strokeWidth),
    cap: said('stroke-linecap', above.cap),
    join: said('stroke-linejoin', above.join),
    miter: Math.max(1, lengthOf(attributes.get('stroke-miterlimit'), 1) ?? above.miter),
    dashes: said('stroke-dasharray', above.dashes),
    dashOffset: said('stroke-dashoffset', above.dashOffset),
    colour: said('color', above.colour),
    isVisible: visibility === 'visible',
  };
}

const caps: Readonly<Record<string, number>> = { butt: 0, round: 1, square: 2 };
const joins: Readonly<Record<string, number>> = { miter: 0, round: 1, bevel: 2 };

/** A shorter one is nothing once it is written. */
const leastDash = 1e-5;

/** The pen that strokes are drawn with. */
export function strokeOperators({ cap, join, miter, dashes, dashOffset }: Look, width: number): string {
  const lengths = numbersOf(dashes === 'none' ? '' : dashes);
  const areGood = lengths.every((length) => length >= 0) && lengths.some((length) => length > leastDash);
  // An odd number of dashes is taken twice.
  const list = areGood ? (lengths.length % 2 === 0 ? lengths : [...lengths, ...lengths]) : [];
  const dash = list.length === 0 ? '' : ` [${operands(list)}] ${operands([numbersOf(dashOffset)[0] ?? 0])} d`;
  return `${operands([width])} w ${caps[cap] ?? 0} J ${joins[join] ?? 0} j ${operands([miter])} M${dash}`;
}
