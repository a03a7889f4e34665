/**
 * The structure of a document (ISO 32000-1, 14.7 and 14.8): what is a heading, a paragraph, a table, a picture, in reading
 * order, for those who hear it and for programs that read it.
 */
import type { PdfFile } from './file.ts';

export type Role = 'Document' | 'P' | 'H1' | 'Table' | 'THead' | 'TBody' | 'TR' | 'TH' | 'TD' | 'Figure' | 'Sect';

/** A page's side of the structure: who owns each piece of its content. */
export interface Marked {
  /** The page's object. */
  readonly number: number;
  /** Objects of the elements, by the number of the piece of content. */
  readonly owners: number[];
}

/** An element that is not ended yet. */
export class Element {
  readonly number: number;
  readonly role: Role;
  readonly parent: number;
  readonly more: string;
  /** The page of its first piece of content. */
  page = 0;
  kids = '';

  constructor(number: number, role: Role, parent: number, more: string) {
    this.number = number;
    this.role = role;
    this.parent = parent;
    this.more = more;
  }
}

/** The structure of one document while it is drawn: elements are opened and ended as the text goes. */
export class Tags {
  readonly #file: PdfFile;
  readonly #root: number;
  readonly #open: Element[] = [];

  /** `root`: the object of the structure's root. */
  constructor(file: PdfFile, root: number) {
    this.#file = file;
    this.#root = root;
  }

  /** Begins an element within the one that is open. `more`: what stands in its dictionary beside. */
  open(role: Role, more = ''): Element {
    const parent = this.#open.at(-1);
    const element = new Element(this.#file.reserve(), role, parent?.number ?? this.#root, more);
    if (parent !== undefined) parent.kids += `${element.number} 0 R `;
    this.#open.push(element);
    return element;
  }

  /** Ends the element that was opened last. */
  close(): void {
    const { number, role, parent, more, page, kids } = this.#open.pop()!;
    const on = page === 0 ? '' : `/Pg ${page} 0 R`;
    this.#file.object(number, `<</S/${role}/P ${parent} 0 R${on}${more}/K[${kids}]>>`);
  }

  /** A piece of content of the element on a page. Returns its number there. */
  mark(element: Element, page: Marked): number {
    const id = page.owners.push(element.number) - 1;
    if (element.page === 0) element.page = page.number;
    element.kids += element.page === page.number ? `${id} ` : `<</Type/MCR/Pg ${page.number} 0 R/MCID ${id}>>`;
    return id;
  }
}
