/** The first page of a backup: what it holds, and what has to be there to restore it. */
import { isDeepStrictEqual } from 'node:util';

/** One table as it was copied. */
export interface CopiedTable {
  readonly name: string;
  /** In the order of the cells; generated ones are not copied. */
  readonly columns: readonly string[];
  readonly rows: number;
}

export interface Manifest {
  /** Version of the Certo that wrote it. */
  readonly certo: string;
  /** Version of the PostgreSQL that it was copied from. */
  readonly postgres: string;
  /** The instant that it shows, of the database's clock. */
  readonly takenAt: string;
  /** What the installation is; null before its first start. */
  readonly installation: { readonly atMode: string; readonly createdAt: string } | null;
  /** Migrations that the tables had been through, in order, each with the SHA-256 of its file. */
  readonly migrations: readonly { readonly name: string; readonly sha256: string }[];
  /** In the order in which they are copied: a table after those that it refers to. */
  readonly tables: readonly CopiedTable[];
  readonly sequences: readonly { readonly name: string; readonly value: string; readonly called: boolean }[];
}

const sample: Manifest = {
  certo: '',
  postgres: '',
  takenAt: '',
  installation: { atMode: '', createdAt: '' },
  migrations: [{ name: '', sha256: '' }],
  tables: [{ name: '', columns: [''], rows: 0 }],
  sequences: [{ name: '', value: '', called: false }],
};

/** The manifest out of its JSON; undefined when it has another shape. */
export function readManifest(text: string): Manifest | undefined {
  const value = parsed(text);
  if (value === null || typeof value !== 'object' || !('installation' in value)) return undefined;
  const full = value.installation === null ? { ...value, installation: sample.installation } : value;
  return hasShape(full, sample) ? (value as Manifest) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Same members, same types all the way down; the one element of a sample's list stands for all. */
function hasShape(value: unknown, like: unknown): boolean {
  if (Array.isArray(like)) return Array.isArray(value) && value.every((element) => hasShape(element, like[0]));
  if (typeof like !== 'object' || like === null) return typeof value === typeof like;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const members = Object.keys(like).sort();
  if (!isDeepStrictEqual(Object.keys(value).sort(), members)) return false;
  return members.every((name) => hasShape((value as never)[name], (like as never)[name]));
}
