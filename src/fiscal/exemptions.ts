/**
 * VAT exemption codes: what is printed beside the line, what SAF-T carries, and when each may be used.
 *
 * Source: AT's table of exemption reasons, version 4.0 of 18-06-2026 (M01 to M43 and M99 confirmed in AT's manual of
 * January 2023; M44 to M46 in vendors' documentation; M26, M34 and M35 by secondary sources only). M03 and M08 were
 * removed on 2022-07-01 and are not in the table, so they are refused like any unknown code.
 */
import type { Day } from './document.ts';
import type { Words } from './refusal.ts';

export interface Exemption {
  readonly code: string;
  /** Printed letter for letter beside the line (CIVA article 36, no. 5 e). */
  readonly mention: string;
  /** SAF-T TaxExemptionReason, 6 to 60 characters. */
  readonly saftReason: string;
  /** The legal norm, for people. */
  readonly norm: string;
  /** First and last tax point, inclusive. */
  readonly from: Day;
  readonly to?: Day;
}

/** Most codes share the day on which version 3 of the table replaced the older one. */
const tableStart = '2022-07-01';
const reverseCharge = 'IVA - autoliquidação';

type Row = readonly [code: string, mention: string, norm: string, more?: Partial<Exemption>];

const rows: readonly Row[] = [
  ['M01', 'Artigo 16.º, n.º 6 do CIVA', 'Artigo 16.º, n.º 6, alíneas a) a d) do CIVA'],
  [
    'M02',
    'Artigo 6.º do Decreto-Lei n.º 198/90, de 19 de junho',
    'Artigo 6.º do Decreto-Lei n.º 198/90, de 19 de junho',
  ],
  ['M04', 'Isento artigo 13.º do CIVA', 'Artigo 13.º do CIVA'],
  ['M05', 'Isento artigo 14.º do CIVA', 'Artigo 14.º do CIVA'],
  ['M06', 'Isento artigo 15.º do CIVA', 'Artigo 15.º do CIVA'],
  ['M07', 'Isento artigo 9.º do CIVA', 'Artigo 9.º do CIVA'],
  ['M09', 'IVA - não confere direito a dedução', 'Artigo 62.º alínea b) do CIVA'],
  // The 2022 manual cited article 57.
  ['M10', 'IVA - regime de isenção', 'Artigo 53.º n.º 1 do CIVA'],
  ['M11', 'Regime particular do tabaco', 'Decreto-Lei n.º 346/85, de 23 de agosto'],
  ['M12', 'Regime da margem de lucro - Agências de viagens', 'Decreto-Lei n.º 221/85, de 3 de julho'],
  ['M13', 'Regime da margem de lucro - Bens em segunda mão', 'Decreto-Lei n.º 199/96, de 18 de outubro'],
  ['M14', 'Regime da margem de lucro - Objetos de arte', 'Decreto-Lei n.º 199/96, de 18 de outubro'],
  // The mention has 61 characters; SAF-T's TaxExemptionReason takes 60.
  [
    'M15',
    'Regime da margem de lucro - Objetos de coleção e antiguidades',
    'Decreto-Lei n.º 199/96, de 18 de outubro',
    { saftReason: 'Reg. margem de lucro - Objetos de coleção e antiguidades' },
  ],
  ['M16', 'Isento artigo 14.º do RITI', 'Artigo 14.º do RITI'],
  ['M19', 'Outras isenções', 'Isenções temporárias determinadas em diploma próprio'],
  ['M20', 'IVA - regime forfetário', 'Artigo 59.º-D n.º 2 do CIVA'],
  ['M21', 'IVA - não confere direito à dedução', 'Artigo 72.º n.º 4 do CIVA'],
  ['M25', 'Mercadorias à consignação', 'Artigo 38.º n.º 1 alínea a) do CIVA'],
  // Zero-rated food basket; ended 2024-01-04.
  [
    'M26',
    'Isenção de IVA com direito à dedução no cabaz alimentar',
    'Lei n.º 17/2023, de 14 de abril',
    { from: '2023-04-18', to: '2024-01-04' },
  ],
  ['M30', reverseCharge, 'Artigo 2.º n.º 1 alínea i) do CIVA'],
  // Construction services, except the cases of M35.
  ['M31', reverseCharge, 'Artigo 2.º n.º 1 alínea j) do CIVA'],
  ['M32', reverseCharge, 'Artigo 2.º n.º 1 alínea l) do CIVA'],
  ['M33', reverseCharge, 'Artigo 2.º n.º 1 alínea m) do CIVA'],
  ['M34', reverseCharge, 'Artigo 2.º n.º 1 alínea n) do CIVA', { from: '2023-04-14' }],
  [
    'M35',
    reverseCharge,
    'Artigo 2.º n.º 1 alínea j) do CIVA - Verba 2.42 da Lista I (Decreto-Lei n.º 97/2026)',
    { from: '2026-07-01' },
  ],
  ['M40', reverseCharge, 'Artigo 6.º n.º 6 alínea a) do CIVA, a contrário'],
  ['M41', reverseCharge, 'Artigo 8.º n.º 3 do RITI'],
  ['M42', reverseCharge, 'Decreto-Lei n.º 21/2007, de 29 de janeiro'],
  ['M43', reverseCharge, 'Decreto-Lei n.º 362/99, de 16 de setembro'],
  ['M44', 'IVA - Regras específicas - artigo 6.º', 'Artigo 6.º do CIVA (n.ºs 7 e seguintes)', { from: '2025-08-14' }],
  ['M45', 'IVA - regime transfronteiriço de isenção', 'Artigo 58.º-A do CIVA', { from: '2025-08-14' }],
  ['M46', 'IVA - e-TaxFree', 'Decreto-Lei n.º 19/2017, de 14 de fevereiro', { from: '2025-08-14' }],
  // Examples of norms; the taxpayer knows the right one.
  ['M99', 'Não sujeito ou não tributado', 'Artigo 2.º n.º 2; artigo 3.º n.ºs 4, 6 e 7; artigo 4.º n.º 5 do CIVA'],
];

/** Every code, in order. */
export const exemptions: readonly Exemption[] = rows.map(([code, mention, norm, more]) => ({
  code,
  mention,
  saftReason: mention,
  norm,
  from: tableStart,
  ...more,
}));

/** The codes, for who chooses one. */
export const exemptionCodes: string = exemptions.map(({ code }) => code).join(', ');

/** Those in force on a tax point; before the table, none was. */
export function exemptionCodesOn(day: Day): Words {
  const codes = exemptions.filter(({ code }) => exemptionOn(code, day) !== undefined).map(({ code }) => code);
  const told = codes.join(', ');
  return { en: told || 'none', pt: told || 'nenhum' };
}

const byCode = new Map(exemptions.map((exemption) => [exemption.code, exemption]));

/** The exemption of a code on a tax point, or undefined when there is no such code or it is not in force that day. */
export function exemptionOn(code: string, day: Day): Exemption | undefined {
  const exemption = byCode.get(code);
  if (exemption === undefined || day < exemption.from) return undefined;
  return exemption.to !== undefined && exemption.to < day ? undefined : exemption;
}
