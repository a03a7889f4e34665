/** PDF templates of a company, and the one that is always there. The operator makes them (`certo template`). */
import type { PaperFormat } from '../../print/input.ts';

export const paperFormats = ['A4', 'RECEIPT', 'RECEIPT_58'] as const satisfies readonly PaperFormat[];

/** Certo's own look; the default until the company has one of its own. The same id in every installation. */
export const builtIn = {
  id: '00000000-0000-7000-8000-000000000001',
  name: 'Certo',
  formats: paperFormats,
} as const;
