/** Units of measure: the API's words, and the text that paper and SAF-T (UnitOfMeasure, 1 to 20 characters) carry. */

interface UnitText {
  /** Printed beside the quantity, and SAF-T UnitOfMeasure. */
  readonly text: string;
  /** Portuguese name. */
  readonly name: string;
}

export const units = {
  BOX: { text: 'cx', name: 'Caixa' },
  CUBIC_METER: { text: 'm³', name: 'Metro cúbico' },
  DAY: { text: 'dia', name: 'Dia' },
  HOUR: { text: 'h', name: 'Hora' },
  KILOGRAM: { text: 'kg', name: 'Quilograma' },
  LITER: { text: 'l', name: 'Litro' },
  METER: { text: 'm', name: 'Metro' },
  MONTH: { text: 'mês', name: 'Mês' },
  NA: { text: 'N/A', name: 'Não aplicável' },
  PACKAGE: { text: 'emb', name: 'Embalagem' },
  SQUARE_METER: { text: 'm²', name: 'Metro quadrado' },
  UNIT: { text: 'un', name: 'Unidade' },
  WEEK: { text: 'sem', name: 'Semana' },
} as const satisfies Record<string, UnitText>;

export type Unit = keyof typeof units;

/** The text of an API unit; a word that is none of them is already a text and stays (frozen documents). */
export function unitText(unit: string): string {
  return Object.hasOwn(units, unit) ? units[unit as Unit].text : unit;
}
