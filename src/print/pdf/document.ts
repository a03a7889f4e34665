/** A document while it is drawn: its pages, its structure, its fonts; and the file that becomes of it, PDF/A-3a. */
import type { Face } from './face.ts';
import { type Beginning, PdfFile, textString } from './file.ts';
import { addBeside, addRepertoire } from './fonts.ts';
import { type Described, describe } from './metadata.ts';
import { decimal, Page } from './page.ts';
import { sRgbProfile } from './profile.ts';
import { repertoireOf } from './repertoire.ts';
import { type Cut, Shaper } from './shaper.ts';
import { type Element, type Role, Tags } from './tags.ts';

/** Objects that stand at the same numbers in all files. */
interface Fixed {
  readonly catalog: number;
  readonly information: number;
  readonly metadata: number;
  readonly pages: number;
  readonly structure: number;
  readonly outlines: number;
  readonly fonts: readonly [number, number];
}

/** The two weights with what all files have alike, made once. */
export interface Press {
  readonly cuts: readonly [Cut, Cut];
  readonly beginning: Beginning;
  readonly fixed: Fixed;
}

/** Packs the fonts, which takes some 20 ms. */
export function openPress(faces: readonly [Face, Face]): Press {
  const cuts = faces.map((face): Cut => ({ face, repertoire: repertoireOf(face), kept: new Map() }));
  const [regular, semibold] = cuts as [Cut, Cut];
  const file = new PdfFile();
  const [catalog, information, metadata, pages, structure, outlines] = Array.from({ length: 6 }, () =>
    file.reserve(),
  ) as [...[number, number, number, number, number, number]];
  const profile = file.stream('/N 3', sRgbProfile());
  const identifier = textString('sRGB IEC61966-2.1');
  file.object(
    catalog,
    `<</Type/Catalog/Lang(pt-PT)/MarkInfo<</Marked true>>/ViewerPreferences<</DisplayDocTitle true>>/Metadata ${metadata} 0 R/Pages ${pages} 0 R/StructTreeRoot ${structure} 0 R/Outlines ${outlines} 0 R/OutputIntents[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier${identifier}/Info${identifier}/DestOutputProfile ${profile} 0 R>>]>>`,
  );
  const fonts = [
    addRepertoire(file, regular.face, regular.repertoire),
    addRepertoire(file, semibold.face, semibold.repertoire),
  ] as const;
  const fixed = { catalog, information, metadata, pages, structure, outlines, fonts };
  return { cuts: [regular, semibold], beginning: file.begun(), fixed };
}

/** A page with its measures in points. */
interface Sheet {
  readonly page: Page;
  readonly width: number;
  height: number;
}

/** One document, drawn once: its parts are asked for while it is, and its bytes at the end. */
export class PdfDocument {
  readonly file: PdfFile;
  readonly shaper: Shaper;
  readonly tags: Tags;
  readonly #fixed: Fixed;
  readonly #sheets: Sheet[] = [];
  readonly #headers: [id: string, element: number][] = [];
  readonly #root: Element;
  #tables = 0;
  /** By kind ("XObject") the entries of the pages' resources. */
  readonly #resources = new Map<string, string>();
  #heading: { readonly title: string; readonly page: Page; readonly y: number } | undefined;
  /** Whether something shines through: then its pages say in which colours. */
  isTransparent = false;

  constructor({ cuts, beginning, fixed }: Press, second: Face | undefined) {
    this.#fixed = fixed;
    this.file = new PdfFile(beginning);
    this.shaper = new Shaper(cuts, second);
    this.tags = new Tags(this.file, fixed.structure);
    this.#root = this.tags.open('Document');
  }

  /** A new page. Of a roll the height is known when all is drawn. */
  begin(width: number, height = 0): Sheet {
    const sheet = { page: new Page(this.file.reserve(), this.tags), width, height };
    this.#sheets.push(sheet);
    return sheet;
  }

  /** An element, ended by what `draw` draws. */
  within(role: Role, draw: (element: Element) => void, more = ''): void {
    const element = this.tags.open(role, more);
    draw(element);
    this.tags.close();
  }

  /** The title, which is also where readers jump to. */
  entitle(title: string, page: Page, y: number): void {
    this.#heading = { title, page, y };
  }

  /** The attributes of a table's cells: of its heads and of what stands below them, by column. */
  table(columns: number): TableTags {
    const table = ++this.#tables;
    const ids = Array.from({ length: columns }, (_, column) => `T${String(table).padStart(4, '0')}C${column}`);
    const below = ids.map((id) => `/A ${this.file.add(`<</O/Table/Headers[(${id})]>>`)} 0 R`);
    const across = `/A<</O/Table/ColSpan ${columns}/Headers[${ids.map((id) => `(${id})`).join('')}]>>`;
    return {
      head: (column) => `/ID(${ids[column]!})/A<</O/Table/Scope/Column>>`,
      isHeadOf: (element, column) => this.#headers.push([ids[column]!, element.number]),
      below: (column) => below[column]!,
      across,
    };
  }

  /** Names an object for the operators of pages. */
  resource(kind: 'XObject' | 'ExtGState', name: string, value: string): void {
    this.#resources.set(kind, `${this.#resources.get(kind) ?? ''}/${name} ${value}`);
  }

  /** The whole file. */
  finished(described: Described): Uint8Array {
    this.tags.close();
    const { file } = this;
    const resources = this.#writeResources();
    for (const [index, sheet] of this.#sheets.entries()) this.#writePage(sheet, index, resources);
    const kids = this.#sheets.map(({ page }) => `${page.number} 0 R`).join(' ');
    file.object(this.#fixed.pages, `<</Type/Pages/Count ${this.#sheets.length}/Kids[${kids}]>>`);
    this.#writeStructure();
    this.#writeOutlines();
    describe(file, described, this.#fixed);
    return file.finished(this.#fixed);
  }

  #writeResources(): number {
    const { fonts } = this.#fixed;
    const beside = this.shaper.beside().map((one) => `/F${one.font} ${addBeside(this.file, one)} 0 R`);
    const others = [...this.#resources].map(([kind, entries]) => `/${kind}<<${entries}>>`);
    const all = `/Font<</F0 ${fonts[0]} 0 R/F1 ${fonts[1]} 0 R${beside.join('')}>>${others.join('')}`;
    return this.file.add(`<<${all}>>`);
  }

  #writePage({ page, width, height }: Sheet, index: number, resources: number): void {
    const content = this.file.stream('', page.content(height));
    const group = this.isTransparent ? '/Group<</S/Transparency/CS/DeviceRGB>>' : '';
    this.file.object(
      page.number,
      `<</Type/Page/Parent ${this.#fixed.pages} 0 R/MediaBox[0 0 ${decimal(width)} ${decimal(height)}]/Resources ${resources} 0 R/Contents ${content} 0 R/StructParents ${index}/Tabs/S${group}>>`,
    );
  }

  #writeStructure(): void {
    const owners = this.#sheets.map(({ page }, index) => {
      const list = this.file.add(`[${page.owners.map((number) => `${number} 0 R`).join(' ')}]`);
      return `${index} ${list} 0 R`;
    });
    const sorted = this.#headers.toSorted(([a], [b]) => (a < b ? -1 : 1));
    const headers = sorted.map(([id, element]) => `(${id})${element} 0 R`);
    const ids = headers.length === 0 ? '' : `/IDTree<</Names[${headers.join('')}]>>`;
    this.file.object(
      this.#fixed.structure,
      `<</Type/StructTreeRoot/K[${this.#root.number} 0 R]/ParentTree<</Nums[${owners.join(' ')}]>>/ParentTreeNextKey ${owners.length}${ids}>>`,
    );
  }

  #writeOutlines(): void {
    const { outlines } = this.#fixed;
    const { title, page, y } = this.#heading!;
    const sheet = this.#sheets.find((one) => one.page === page)!;
    const target = `[${page.number} 0 R/XYZ 0 ${decimal(sheet.height - y)} 0]`;
    const entry = this.file.add(`<</Title${textString(title)}/Parent ${outlines} 0 R/Dest${target}>>`);
    this.file.object(outlines, `<</Type/Outlines/Count 1/First ${entry} 0 R/Last ${entry} 0 R>>`);
  }
}

/** What the cells of one table have in their dictionaries. */
export interface TableTags {
  readonly head: (column: number) => string;
  /** An element that heads a column. */
  readonly isHeadOf: (element: Element, column: number) => void;
  readonly below: (column: number) => string;
  /** Of a cell over all columns. */
  readonly across: string;
}
