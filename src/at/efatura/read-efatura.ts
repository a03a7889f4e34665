/** e-Fatura's export of a taxpayer's documents as issuer, read in one pass whatever its size. */
import { type Columns, columnsOf } from './columns.ts';
import { linesOf, type TextLine, Unreadable, valuesOf } from './lines.ts';
import type { EfaturaProblem } from './problems.ts';
import { type EfaturaDocument, recordOf } from './record.ts';

export interface EfaturaPortion {
  readonly documents: readonly EfaturaDocument[];
  readonly problems: readonly EfaturaProblem[];
}

/** Documents and problems in portions, in the file's order. Ends early when nothing more can be read. */
export async function* readEfatura(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<EfaturaPortion> {
  let columns: Columns | undefined;
  try {
    for await (const lines of linesOf(chunks)) {
      const documents: EfaturaDocument[] = [];
      const problems: EfaturaProblem[] = [];
      for (const line of lines) {
        if (line.text.trim() === '') continue;
        if (columns === undefined) {
          const found = headOf(line);
          if (isProblems(found)) return yield { documents, problems: found };
          columns = found;
          continue;
        }
        const found = documentOf(line, columns);
        if (isProblems(found)) problems.push(...found);
        else documents.push(found);
      }
      yield { documents, problems };
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return yield { documents: [], problems: [error.problem] };
  }
  if (columns === undefined) yield { documents: [], problems: [{ line: 1, code: 'FILE_EMPTY' }] };
}

/** Without a line break the first line is perhaps not all of it. */
function headOf({ line, text, ended }: TextLine): Columns | readonly EfaturaProblem[] {
  return ended || !text.includes(';') ? columnsOf(valuesOf(text) ?? [text]) : [{ line, code: 'FILE_CUT' }];
}

function isProblems<T>(found: T | readonly EfaturaProblem[]): found is readonly EfaturaProblem[] {
  return Array.isArray(found);
}

function documentOf({ line, text, ended }: TextLine, columns: Columns): EfaturaDocument | EfaturaProblem[] {
  const values = valuesOf(text);
  // Without a line break only a closing quotation mark shows that the last value is whole.
  const cut = !ended && (values === undefined || values.length < columns.count || !text.endsWith('"'));
  if (cut) return [{ line, code: 'FILE_CUT' }];
  if (values === undefined) return [{ line, code: 'QUOTES' }];
  if (values.length !== columns.count) {
    return [{ line, code: 'FIELDS', facts: { found: values.length, expected: columns.count } }];
  }
  return recordOf(values, line, columns);
}
