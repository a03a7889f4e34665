/** What a print needs: the frozen document, what issuing stamped on it, and how this copy is to look. */
import type { Content, Issued, Region } from '../fiscal/document.ts';
import type { PaperLanguage } from './words.ts';

/** A4 and the two widths of till rolls (80 mm, 58 mm). */
export type PaperFormat = 'A4' | 'RECEIPT' | 'RECEIPT_58';

/**
 * What a paper says of which copy of its document it is: the first, the second and third of transport documents (DL 147/2003),
 * or any other of what was printed before. Of transport documents that one is a copy without effect.
 */
export type PaperCopy = 'Original' | 'Duplicado' | 'Triplicado' | '2.ª via' | 'Cópia';

export interface PaperStyle {
  /** PNG, JPEG or SVG; anything else, or more than 512 KiB, is left out. */
  readonly logo?: Uint8Array | undefined;
  /** "#rrggbb"; darkened when it would be hard to read on white. */
  readonly colour?: string | undefined;
  /** The company's words at the foot of the last page (bank account, share capital …): 1,000 characters, 12 lines. */
  readonly footer?: string | undefined;
}

/** Who makes this program: at the head of training documents in place of the issuer (Despacho 8632/2014). */
export interface Producer {
  readonly name: string;
  readonly taxpayerNumber?: string | undefined;
}

export interface PrintInput {
  readonly content: Content;
  readonly issued: Issued;
  /** SAF-T status: N normal, A cancelled (prints ANULADO). */
  readonly status: 'N' | 'A';
  readonly format: PaperFormat;
  readonly copy: PaperCopy;
  readonly language: PaperLanguage;
  readonly style?: PaperStyle | undefined;
  /** Which tax authority stands behind: anything but production is said on the paper. */
  readonly environment: 'production' | 'test' | 'simulator';
  /** The instant of issue: the file's creation date, so that the same input gives the same bytes. */
  readonly createdAt: Date;
  /** AT code of a transport document, once obtained. */
  readonly atDocCode?: string | undefined;
  /** Whose civil time transports are told in: the company's. */
  readonly region: Region;
  readonly producer: Producer;
}

/**
 * The company's own looks. A training document has none of them: it shows the data of whoever makes the program, not the
 * company's (Despacho 8632/2014).
 */
export function styleOf({ content, style }: Pick<PrintInput, 'content' | 'style'>): PaperStyle {
  return content.training === true ? {} : (style ?? {});
}
